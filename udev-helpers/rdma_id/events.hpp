// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/device/target.hpp"
#include "udev-helpers/rdma_id/context.hpp"
#include "udev-helpers/rdma_id/options.hpp"

// What rdma_id does for each kind of udev event.

namespace rdmad::rdma_id {

/// Whether rdmad gives devices names in this event: rules ask for it, and naming is switched on.
struct NamingMode {
    bool gives_names = false; ///< in an "add" event
    bool ends_swaps = false;  ///< repairs a device that a swap left with its temporary name
};

/// Follows an event of a uverbs, umad or issm node. Returns the node's properties, or an empty
/// string if its device is gone.
[[nodiscard]] Result<std::string> follow_node_event(const Context& context, const Target& node,
                                                    const NamingMode& naming);

/// Follows an event of an RDMA device. Returns its properties, ID_RENAMING=1 if this event renamed
/// it, or an empty string if it is gone.
[[nodiscard]] Result<std::string> follow_device_event(const Context& context, const Target& device,
                                                      const NamingMode& naming, Load load);

/// Follows the "remove" event of a device or node, of which the udev properties alone are left:
/// releases what it had. Returns false if udev recorded nothing of a device, which may have had
/// links and a name all the same: see sweep().
[[nodiscard]] bool follow_removal(const sysfs::Directory& root, const Paths& paths,
                                  const EventProperties& event);

/// Returns what a user who asks for a device or node gets: a description in the format that the
/// options ask for, or the name that the device would get. Empty if the device is gone.
[[nodiscard]] Result<std::string> describe(const Context& context, const Options& options,
                                           const Target& target);

} // namespace rdmad::rdma_id
