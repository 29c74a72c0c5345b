// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rdmad::sysfs {

/// The result of reading a sysfs attribute. Hardware and drivers choose the text: it may be empty
/// or hold any bytes.
struct Attribute {
    enum class State {
        present,
        missing,    ///< no such attribute, or its device is on the way out
        unreadable, ///< the driver refused: EIO, EINVAL and the like
        too_long    ///< more than a page, which sysfs itself never gives
    };
    State state = State::missing;
    std::string text = {}; ///< without white space at the end

    [[nodiscard]] explicit operator bool() const
    {
        return state == State::present;
    }
};

/// A directory held by descriptor, which stays good when the directory is renamed. Paths are
/// relative to it.
class Directory {
public:
    /// Returns nullopt if there is no such directory.
    [[nodiscard]] static Result<std::optional<Directory>> open(const std::string& path);
    [[nodiscard]] Result<std::optional<Directory>> open_below(const std::string& path) const;

    [[nodiscard]] Attribute read(const std::string& path) const;
    /// Opens an attribute to read it several times. Each read() gives the value anew.
    [[nodiscard]] UniqueFd open_attribute(const std::string& path) const;
    [[nodiscard]] static Attribute read(const UniqueFd& attribute);
    /// Returns the last component of what a symbolic link points to; nullopt if there is no such
    /// link.
    [[nodiscard]] std::optional<std::string> link_name(const std::string& path) const;
    /// Returns the present path of the directory, from /proc; nullopt if /proc is not mounted.
    [[nodiscard]] std::optional<std::string> path() const;
    /// Returns the names in a directory below, in the order in which the kernel lists them.
    [[nodiscard]] std::vector<std::string> names(const std::string& path) const;
    [[nodiscard]] bool contains(const std::string& path) const;

    /// Returns the inode number of a directory below. In sysfs it stays over a rename and is not
    /// given to another directory until 2^32 others were made (kernfs_new_node(), fs/kernfs/dir.c).
    [[nodiscard]] std::optional<uint64_t> inode(const std::string& path = ".") const;

    [[nodiscard]] int fd() const
    {
        return fd_.get();
    }

private:
    explicit Directory(UniqueFd fd) : fd_(std::move(fd)) {}
    [[nodiscard]] static Result<std::optional<Directory>> open_at(int parent,
                                                                  const std::string& path);

    UniqueFd fd_;
};

/// Returns the part after the last slash.
[[nodiscard]] std::string_view last_component(std::string_view path);

} // namespace rdmad::sysfs
