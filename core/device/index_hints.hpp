// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/unique_fd.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rdmad {

/// Records which RDMA index a sysfs directory had, in a file of fixed size below /run. That is only
/// a hint: processes write it without a lock, slots collide, and directories go. Whoever uses an
/// index asks the kernel first.
class IndexHints {
public:
    /// Opens nothing before a hint is needed. A missing or foreign file is an empty one. writable:
    /// creates it, if need be, and its directory.
    IndexHints(std::string directory, bool writable)
        : directory_(std::move(directory)), writable_(writable)
    {
    }

    [[nodiscard]] std::optional<uint32_t> find(uint64_t inode);
    /// Returns the highest index that was ever recorded: the kernel counts upwards.
    [[nodiscard]] std::optional<uint32_t> last();
    void remember(uint64_t inode, uint32_t index);

private:
    [[nodiscard]] int file();

    std::string directory_;
    bool writable_;
    std::optional<UniqueFd> file_;
};

/// Reads the slot of an inode. Returns nullopt if it is empty, or holds the hint of another inode.
[[nodiscard]] std::optional<uint32_t> parse_hint(std::string_view bytes, uint64_t inode);

} // namespace rdmad
