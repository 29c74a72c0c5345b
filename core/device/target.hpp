// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/sysfs/rdma_device.hpp"

#include <optional>
#include <string>

namespace rdmad {

/// The kind of a target: an RDMA device itself, or a device node of one.
enum class Node { device, uverbs, umad, issm };

/// Returns "uverbs", "umad" or "issm"; "device" for the RDMA device itself, which has no node.
[[nodiscard]] std::string_view to_string(Node node);
/// Returns the path by which the kernel lists it, relative to /sys: "class/infiniband_mad/umad0".
[[nodiscard]] std::string class_path(Node node, std::string_view sysname);

/// An RDMA device, or a device node of one, that an event or a user is about.
struct Target {
    Node node;
    std::string sysname;          ///< "umad0"; the device's name for the device itself
    std::optional<uint32_t> port; ///< of umad and issm
    std::string device_name;      ///< as it was when device was opened
    sysfs::RdmaDevice device;
};

/// Returns nullopt for anything else: rdma_cm is in no class, but abi_version is in two.
[[nodiscard]] std::optional<Node> node_of(std::string_view subsystem, std::string_view sysname);

/// Finds what DEVICE on the command line means: a sysfs path, a device node or a name. Returns
/// nullopt if it is not an RDMA device or a node of one.
[[nodiscard]] Result<std::optional<Target>> find_target(const sysfs::Directory& root,
                                                        const std::string& argument);

/// Opens an RDMA device by its name. Returns nullopt if no device has that name.
[[nodiscard]] Result<std::optional<Target>> find_device_target(const sysfs::Directory& root,
                                                               std::string_view name);

/// Finds the target of a udev event by its DEVPATH and SUBSYSTEM. Returns nullopt if it is gone.
[[nodiscard]] Result<std::optional<Target>> find_event_target(const sysfs::Directory& root,
                                                              std::string_view devpath,
                                                              std::string_view subsystem);

} // namespace rdmad
