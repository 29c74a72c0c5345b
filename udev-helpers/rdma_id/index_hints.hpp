// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/unique_fd.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace rdmad::rdma_id {

/// Remembers which RDMA index a sysfs directory had, in a file of fixed size below /run. Only a hint: processes write it
/// without a lock, slots collide, and directories go; whoever uses an index asks the kernel first.
class IndexHints {
public:
    /// A missing or foreign file is an empty one. writable: make it, if need be.
    [[nodiscard]] static IndexHints open(const std::string& path, bool writable);

    [[nodiscard]] std::optional<uint32_t> find(uint64_t inode) const;
    /// The highest index that was ever remembered: the kernel counts upwards.
    [[nodiscard]] std::optional<uint32_t> last() const;
    void remember(uint64_t inode, uint32_t index);

private:
    UniqueFd file_;
    bool writable_ = false;
};

} // namespace rdmad::rdma_id
