// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/sysfs/directory.hpp"

#include "core/base/file.hpp"
#include "core/base/text.hpp"

#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <sys/stat.h>

namespace rdmad::sysfs {

namespace {

// an attribute is one page at most; one byte more shows that something else was read
constexpr size_t page_size = 4096;

bool is_missing(int error)
{
    // ENODEV: the file is there, but its device has gone
    return error == ENOENT || error == ENOTDIR || error == ENODEV || error == ENAMETOOLONG;
}

std::optional<std::string> link_target(int parent, const std::string& path)
{
    char target[PATH_MAX];
    const ssize_t size = readlinkat(parent, path.c_str(), target, sizeof target);
    if (size < 0 || static_cast<size_t>(size) == sizeof target)
        return std::nullopt;
    return std::string(target, static_cast<size_t>(size));
}

} // namespace

std::string_view last_component(std::string_view path)
{
    const size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

Result<std::optional<Directory>> Directory::open_at(int parent, const std::string& path)
{
    UniqueFd fd(openat(parent, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd)
        return Directory(std::move(fd));
    if (is_missing(errno))
        return std::optional<Directory>();
    return fail(errno, path);
}

Result<std::optional<Directory>> Directory::open(const std::string& path)
{
    return open_at(AT_FDCWD, path);
}

Result<std::optional<Directory>> Directory::open_below(const std::string& path) const
{
    return open_at(fd(), path);
}

UniqueFd Directory::open_attribute(const std::string& path) const
{
    return UniqueFd(openat(fd(), path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

Attribute Directory::read(const std::string& path) const
{
    const auto attribute = open_attribute(path);
    if (!attribute)
        return {is_missing(errno) ? Attribute::State::missing : Attribute::State::unreadable};
    return read(attribute);
}

Attribute Directory::read(const UniqueFd& attribute)
{
    char text[page_size + 1];
    const ssize_t size = pread(attribute.get(), text, sizeof text, 0);
    if (size < 0)
        return {is_missing(errno) ? Attribute::State::missing : Attribute::State::unreadable};
    if (static_cast<size_t>(size) > page_size)
        return {Attribute::State::too_long};
    const std::string_view content(text, static_cast<size_t>(size));
    return {Attribute::State::present, std::string(text::trim(content))};
}

std::optional<std::string> Directory::link_name(const std::string& path) const
{
    const auto target = link_target(fd(), path);
    return target ? std::optional(std::string(last_component(*target))) : std::nullopt;
}

std::optional<std::string> Directory::path() const
{
    return link_target(AT_FDCWD, "/proc/self/fd/" + std::to_string(fd()));
}

std::vector<std::string> Directory::names(const std::string& path) const
{
    return names_in(path, fd());
}

bool Directory::contains(const std::string& path) const
{
    return faccessat(fd(), path.c_str(), F_OK, 0) == 0;
}

std::optional<uint64_t> Directory::inode(const std::string& path) const
{
    struct stat status;
    if (fstatat(fd(), path.c_str(), &status, 0) < 0)
        return std::nullopt;
    return status.st_ino;
}

} // namespace rdmad::sysfs
