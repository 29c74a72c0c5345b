// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "udev-helpers/rdma_id/identity.hpp"
#include "udev-helpers/rdma_id/known_names.hpp"

namespace rdmad::rdma_id {

/// A node of which udev has no record yet: its first event is on the way, or under way.
enum class Unrecorded {
    refresh,  ///< it may have read the old name already
    is_right, ///< its event names the device itself before it reads the name
};

/// Has udev look again at the uverbs, umad and issm nodes of a device of which its records know
/// another name: after a rename the kernel sends an event for the device alone.
///
/// @param old_name what the device was called before, if that is known: a record that holds it
///     anywhere counts as out of date
/// @param udev_run /run/udev
[[nodiscard]] Result<void> refresh_nodes(nldev::Client& client, const sysfs::Directory& root,
                                         const Identity& identity, std::string_view old_name,
                                         Unrecorded unrecorded, const std::string& udev_run);

/// After a rename udev keeps the database entry of the old name for good, which a later device of
/// that name would inherit: it is removed, unless such a device is there.
///
/// @param old_devpath DEVPATH_OLD of the "move" event
/// @param udev_run /run/udev
void forget_old_name(const sysfs::Directory& root, std::string_view old_devpath,
                     const std::string& udev_run);

/// What the kernel leaves undone after a rename: refresh_nodes(), so that links and units by name
/// follow.
///
/// @param old_devpath DEVPATH_OLD of the "move" event
/// @param known what we called it
/// @param udev_run /run/udev
[[nodiscard]] Result<void> follow_rename(nldev::Client& client, const sysfs::Directory& root,
                                         const Identity& identity, std::string_view old_devpath,
                                         const std::optional<KnownName>& known,
                                         const std::string& udev_run);

} // namespace rdmad::rdma_id
