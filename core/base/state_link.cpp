// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/state_link.hpp"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rdmad {

std::optional<std::string> read_link(const std::string& path)
{
    char target[NAME_MAX];
    const ssize_t size = readlink(path.c_str(), target, sizeof target);
    if (size < 0 || static_cast<size_t>(size) == sizeof target)
        return std::nullopt;
    return std::string(target, static_cast<size_t>(size));
}

int make_link(const std::string& target, const std::string& path)
{
    if (symlink(target.c_str(), path.c_str()) == 0)
        return 0;
    if (errno != ENOENT)
        return errno;
    const auto directory = path.substr(0, path.rfind('/'));
    mkdir(directory.substr(0, directory.rfind('/')).c_str(), 0755);
    if (mkdir(directory.c_str(), 0755) < 0 && errno != EEXIST)
        return errno;
    return symlink(target.c_str(), path.c_str()) == 0 ? 0 : errno;
}

int replace_link(const std::string& target, const std::string& path)
{
    const auto fresh = path + ".new";
    unlink(fresh.c_str());
    if (const int error = make_link(target, fresh); error != 0)
        return error;
    return rename(fresh.c_str(), path.c_str()) < 0 ? errno : 0;
}

Result<UniqueFd> lock_state(const std::string& directory, const std::string& name)
{
    const auto path = directory + "/" + name;
    UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file || flock(file.get(), LOCK_EX) < 0)
        return fail(errno, path);
    return file;
}

} // namespace rdmad
