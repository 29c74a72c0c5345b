// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/device/target.hpp"
#include "udev-helpers/rdma_id/context.hpp"
#include "udev-helpers/rdma_id/options.hpp"

// What rdma_id does for each kind of udev event.

namespace rdmad::rdma_id {

/// The naming that this event may do: rules ask for it, and naming is switched on.
struct NamingMode {
    bool gives_names = false; ///< in an "add" event
    bool ends_swaps = false;  ///< repairs a device that a swap left with its temporary name
};

/// Handles an event of a uverbs, umad or issm node, except its removal. Returns the node's
/// properties, or an empty string if its device is gone.
[[nodiscard]] Result<std::string> handle_node_event(const Context& context, const Target& node,
                                                    const NamingMode& naming);

/// Handles an event of an RDMA device, except its removal. Returns its properties, ID_RENAMING=1 if
/// this event renamed it, or an empty string if it is gone.
[[nodiscard]] Result<std::string> handle_device_event(const Context& context, const Target& device,
                                                      const NamingMode& naming, Load load);

/// Handles the "remove" event of a device or node, which has only its udev properties left:
/// releases what it had. A device of which udev has no record may have had links and a name all the
/// same: looks for those of all devices that are gone. See sweep().
void handle_removal(const Context& context);

/// Describes a device or node to a user in the format that the options ask for. Returns an empty
/// string if the device is gone.
[[nodiscard]] Result<std::string> describe_target(const Context& context, const Options& options,
                                                  const Target& target);

} // namespace rdmad::rdma_id
