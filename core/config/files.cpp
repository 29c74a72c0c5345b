// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/files.hpp"

#include "core/base/c_ptr.hpp"
#include "core/base/text.hpp"
#include "core/base/unique_fd.hpp"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <iterator>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace rdmad::config {

namespace {

constexpr size_t max_size = 65536;

/// Name to path, the earlier folder first.
using Found = std::map<std::string, std::string>;

/// Hidden names are found, too: they hide those of later folders.
Found find(const std::string& root, const std::vector<std::string>& folders,
           const std::string& below, const std::string& suffix)
{
    Found found;
    for (const auto& folder : folders) {
        const auto path = root + folder + below;
        const CPtr<DIR, closedir> directory(opendir(path.c_str()));
        while (const dirent* entry = directory ? readdir(directory.get()) : nullptr) {
            const std::string name = entry->d_name;
            if (name.ends_with(suffix) && name.size() > suffix.size() && name[0] != '.')
                found.emplace(name, path + "/" + name);
        }
    }
    return found;
}

bool is_hidden(const std::string& path)
{
    struct stat status;
    if (stat(path.c_str(), &status) < 0)
        return false;
    return S_ISCHR(status.st_mode) || (S_ISREG(status.st_mode) && status.st_size == 0);
}

/// Empty, and a problem, if it cannot be read.
std::string read(const std::string& path, std::vector<Problem>& problems)
{
    const auto report = [&](std::string what) {
        problems.push_back({.file = path, .what = std::move(what)});
        return std::string();
    };
    // a FIFO must not hold up an event
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file)
        return report(strerror(errno));
    std::string text(max_size + 1, '\0');
    size_t size = 0;
    while (size < text.size()) {
        const ssize_t count = ::read(file.get(), text.data() + size, text.size() - size);
        if (count < 0)
            return report(strerror(errno));
        if (count == 0)
            break;
        size += static_cast<size_t>(count);
    }
    if (size > max_size)
        return report("is longer than " + std::to_string(max_size) + " bytes");
    text.resize(size);
    return text;
}

void add(File& file, const std::string& path)
{
    auto ini = parse_ini(read(path, file.problems), path);
    std::move(ini.assignments.begin(), ini.assignments.end(), std::back_inserter(file.assignments));
    std::move(ini.problems.begin(), ini.problems.end(), std::back_inserter(file.problems));
}

} // namespace

std::vector<File> read_files(const std::string& root, const std::vector<std::string>& folders,
                             const std::string& suffix)
{
    std::vector<File> files;
    for (const auto& [name, path] : find(root, folders, "", suffix)) {
        if (is_hidden(path))
            continue;
        File file{.name = name, .path = path};
        add(file, path);
        for (const auto& [drop_in, drop_in_path] : find(root, folders, "/" + name + ".d", ".conf"))
            if (!is_hidden(drop_in_path))
                add(file, drop_in_path);
        files.push_back(std::move(file));
    }
    return files;
}

} // namespace rdmad::config
