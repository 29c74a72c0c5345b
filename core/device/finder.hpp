// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/device/index_hints.hpp"
#include "core/device/target.hpp"
#include "core/nldev/client.hpp"

namespace rdmad {

/// Finds the RDMA index of a device whose sysfs directory is open. No kernel interface leads from a
/// name to an index but a dump of all devices. So likely indexes are tried first, one by one: that
/// of an earlier event of the device, the hints, and those next to the highest one known, for the
/// kernel counts upwards (xa_alloc_cyclic()). A dump comes last. An index counts only if the kernel
/// gives it a name that leads to the very same sysfs directory.
class Finder {
public:
    /// Requires that client and root (/sys) outlive the finder.
    Finder(nldev::Client& client, const sysfs::Directory& root, IndexHints hints)
        : client_(client), root_(root), hints_(std::move(hints))
    {
    }

    using Found = Result<std::optional<nldev::Device>>;
    /// Returns the target's device as the kernel reports it, nullopt if that is gone.
    ///
    /// @param earlier the index that an earlier event recorded, if any
    [[nodiscard]] Found find(const Target& target, std::optional<uint32_t> earlier = {});

private:
    [[nodiscard]] bool is_called(uint64_t inode, const std::string& name) const;
    [[nodiscard]] Found probe(uint64_t inode, uint32_t index);
    [[nodiscard]] Found find_new(uint64_t inode, const std::string& name);

    nldev::Client& client_;
    const sysfs::Directory& root_;
    IndexHints hints_;
};

} // namespace rdmad
