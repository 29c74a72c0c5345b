// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "udev-helpers/rdma_id/identity.hpp"

namespace rdmad::rdma_id {

/// What the kernel and udev leave undone after a rename. The device alone gets a uevent: its
/// uverbs, umad and issm nodes are triggered here, so that links and units by name follow. And udev
/// keeps the database entry of the old name for good, which a later device of that name would
/// inherit: it is removed, unless such a device is there.
///
/// @param old_devpath DEVPATH_OLD of the "move" event
/// @param udev_run /run/udev
[[nodiscard]] Result<void> follow_rename(nldev::Client& client, const sysfs::Directory& root,
                                         const Identity& identity, std::string_view old_devpath,
                                         const std::string& udev_run);

} // namespace rdmad::rdma_id
