// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/device/snapshot.hpp"
#include "core/naming/device_name.hpp"

namespace rdmad {

/// The place of a device, by sysfs.
struct Topology {
    naming::Place place;
    std::string path; ///< see path_id(); empty: it has none
};

struct TopologyOptions {
    /// The way to number a virtual function: rdma-core compares it with all those of its physical
    /// function.
    naming::Scheme scheme = naming::Scheme::v1;
    bool with_slot = true;  ///< costs a look at each hot-plug slot
    bool with_label = true; ///< costs a look at the network device

    friend bool operator==(const TopologyOptions&, const TopologyOptions&) = default;
};

/// Reads where a device sits. root is /sys.
[[nodiscard]] Topology read_topology(const sysfs::Directory& root, const Snapshot& snapshot,
                                     const TopologyOptions& options);

} // namespace rdmad
