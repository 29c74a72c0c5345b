// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/device/snapshot.hpp"
#include "core/naming/device_name.hpp"

namespace rdmad {

struct TopologyOptions {
    /// The way to number a virtual function: rdma-core compares it with all those of its physical
    /// function.
    naming::Scheme scheme = naming::Scheme::v1;
    bool with_slot = true;  ///< costs a look at each hot-plug slot
    bool with_label = true; ///< costs a look at the network device
};

/// Reads where a device sits. root is /sys.
[[nodiscard]] naming::Place read_topology(const sysfs::Directory& root, const Snapshot& snapshot,
                                          const TopologyOptions& options);

/// Returns path_id() of what a device hangs on, empty if that is nothing. root is /sys.
[[nodiscard]] std::string read_path(const sysfs::Directory& root, const sysfs::RdmaDevice& device);

} // namespace rdmad
