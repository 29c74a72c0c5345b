// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/device/device_info.hpp"
#include "udev-helpers/rdma_id/context.hpp"

namespace rdmad::rdma_id {

/// Has udev process a node or device again: writes an action to its uevent attribute. Returns false
/// if nothing has the name, or the kernel refuses.
bool trigger(const sysfs::Directory& root, Node node, const std::string& sysname,
             std::string_view action = "change");

/// The treatment of a node that udev has no record of yet: its first event is on the way, or being
/// processed.
enum class Unrecorded {
    refresh,  ///< that event may have read an earlier name
    is_right, ///< that event names the device itself before it reads the name
};

/// Has udev process the uverbs, umad and issm nodes of a device again whose udev records do not
/// have the name, port GUIDs and network devices that the device has now: after a rename the kernel
/// sends an event for the device alone, and after a change of a MAC address none.
///
/// info: of the device, with all its ports; old_name: the earlier name of the device, empty if that
/// is unknown: a record that mentions it is out of date.
[[nodiscard]] Result<void> refresh_nodes(const Context& context, const DeviceInfo& info,
                                         std::string_view old_name, Unrecorded unrecorded);

/// Does the same for the device itself, while udev processes another one.
void refresh_device(const Context& context, const DeviceInfo& info);

/// Removes udev's record of a device's old name, unless a device has that name now. udev keeps it
/// for good after a rename, and a later device of that name would inherit it.
///
/// old_devpath: DEVPATH_OLD of the "move" event; udev_run: /run/udev
void forget_old_name(const sysfs::Directory& root, std::string_view old_devpath,
                     const std::string& udev_run);

} // namespace rdmad::rdma_id
