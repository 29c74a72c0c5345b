// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/files.hpp"

#include "core/base/file.hpp"

#include <cstring>
#include <iterator>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace rdmad::config {

namespace {

/// Name to path, the earlier folder first.
using Found = std::map<std::string, std::string>;

/// Hidden names are found, too: they hide those of later folders.
Found find(const std::string& root, const std::vector<std::string>& folders,
           const std::string& below, const std::string& suffix)
{
    Found found;
    for (const auto& folder : folders) {
        const auto path = root + folder + below;
        for (const auto& name : names_in(path))
            if (name.ends_with(suffix) && name.size() > suffix.size() && name[0] != '.')
                found.emplace(name, path + "/" + name);
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

void add(File& file, const std::string& path)
{
    const auto text = read_file(path);
    if (!text) {
        file.problems.push_back({.file = path, .what = strerror(text.error().code)});
        return;
    }
    auto ini = parse_ini(*text, path);
    std::move(ini.assignments.begin(), ini.assignments.end(), std::back_inserter(file.assignments));
    std::move(ini.problems.begin(), ini.problems.end(), std::back_inserter(file.problems));
}

void read(File& file, const std::string& root, const std::vector<std::string>& folders)
{
    if (!file.path.empty() && !is_hidden(file.path))
        add(file, file.path);
    for (const auto& [name, path] : find(root, folders, "/" + file.name + ".d", ".conf"))
        if (!is_hidden(path))
            add(file, path);
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
        read(file, root, folders);
        files.push_back(std::move(file));
    }
    return files;
}

File read_one_file(const std::string& root, const std::vector<std::string>& folders,
                   const std::string& name)
{
    File file{.name = name};
    for (const auto& folder : folders)
        if (auto path = root + folder + "/" + name;
            file.path.empty() && access(path.c_str(), F_OK) == 0)
            file.path = std::move(path);
    read(file, root, folders);
    return file;
}

} // namespace rdmad::config
