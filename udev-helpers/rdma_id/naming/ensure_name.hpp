// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "udev-helpers/rdma_id/context.hpp"
#include "udev-helpers/rdma_id/naming/decision.hpp"

namespace rdmad::rdma_id {

/// The name that a device has after ensure_name().
struct NameOutcome {
    std::string name;
    std::optional<DeviceInfo> info = {}; ///< of the device, if it was read to decide
};

enum class Ask {
    once, ///< a name that is recorded stands
    anew  ///< decide again, as the configuration may have changed
};

/// Makes sure that a device has the name that the .link files of this system give it. Returns at
/// once if a name is recorded. Otherwise it takes lock_names(), decides, renames the device, and
/// the holder of its name if that should have another one, and records the name: one event of a
/// device does so, and the others wait for it. If another event keeps the lock, other devices keep
/// their names, and a later "add" tries again for a name that one of them has.
///
/// A device that a swap gave a temporary name gets its own; this waits until the swap is over.
/// Nodes that may have read an earlier name get another event (see refresh_nodes()). Logs each name
/// that another device keeps.
///
/// device: as the kernel reported it a moment ago; inode: of its directory in sysfs. Returns
/// nullopt if the device is gone. If this fails, no given name is recorded, and the next event
/// tries again.
[[nodiscard]] Result<std::optional<NameOutcome>> ensure_name(const Context& context,
                                                             const nldev::Device& device,
                                                             uint64_t inode, Ask ask = Ask::once);

/// Waits until no other event names devices, and returns the lock; see lock_state(). It is not that
/// of link owners: a removal, which systemd waits for, takes that one.
[[nodiscard]] Result<UniqueFd> lock_names(const Paths& paths);

/// Returns the device that has a name, nullopt if there is none. Fails if its index cannot be found
/// now: that a dump lacks a device proves nothing.
[[nodiscard]] Result<std::optional<nldev::Device>> find_holder(const Context& context,
                                                               const std::string& name);

} // namespace rdmad::rdma_id
