// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/files.hpp"

#include "core/base/file.hpp"

#include <cerrno>
#include <cstring>
#include <iterator>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace rdmad::config {

namespace {

// one file may be about any number of devices: more than that are a mistake, and their content
// takes memory
constexpr size_t max_files = 1024;
constexpr size_t max_file_bytes = 65536;

/// Name to path, the earlier folder first.
using Found = std::map<std::string, std::string>;

/// Finds hidden names, too: they hide those of later folders.
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
    const auto text = read_file(path, max_file_bytes);
    if (!text) {
        file.problems.push_back({.file = path,
                                 .what = text.error().code == EFBIG
                                             ? "is longer than 64 KiB, and not read"
                                             : strerror(text.error().code)});
        return;
    }
    auto ini = parse_ini(*text, path);
    std::move(ini.assignments.begin(), ini.assignments.end(), std::back_inserter(file.assignments));
    std::move(ini.problems.begin(), ini.problems.end(), std::back_inserter(file.problems));
}

void add_excess(File& file, const std::string& path)
{
    file.problems.push_back({.file = path,
                             .what = "is not read, nor is any file after it: the limit is " +
                                     std::to_string(max_files) + " files"});
}

void read(File& file, const std::string& root, const std::vector<std::string>& folders)
{
    if (!file.path.empty() && !is_hidden(file.path))
        add(file, file.path);
    size_t drop_ins = 0;
    for (const auto& [name, path] : find(root, folders, "/" + file.name + ".d", ".conf")) {
        if (is_hidden(path))
            continue;
        if (drop_ins++ == max_files)
            return add_excess(file, path);
        add(file, path);
    }
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
        if (files.size() == max_files) {
            add_excess(file, path);
            files.push_back(std::move(file));
            break;
        }
        read(file, root, folders);
        files.push_back(std::move(file));
    }
    return files;
}

File read_alone(const std::string& path)
{
    File file{.name = path.substr(path.rfind('/') + 1), .path = path};
    add(file, path);
    return file;
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
