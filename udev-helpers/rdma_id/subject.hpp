// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/sysfs/rdma_device.hpp"

#include <optional>
#include <string>

namespace rdmad::rdma_id {

enum class Node { device, uverbs, umad, issm };

/// "uverbs", "umad", "issm"; "device" for the RDMA device itself, which has no node.
[[nodiscard]] std::string_view to_string(Node node);
/// Where the kernel lists it, relative to /sys: "class/infiniband_mad/umad0".
[[nodiscard]] std::string class_path(Node node, std::string_view sysname);

/// What is asked about: an RDMA device, or a device node of one.
struct Subject {
    Node node;
    std::string sysname;          ///< "umad0"; the device's name for the device itself
    std::optional<uint32_t> port; ///< of umad and issm
    std::string device_name;      ///< as it was when device was opened
    sysfs::RdmaDevice device;
};

/// None if it is not one of ours: rdma_cm is in no class, but abi_version is in two.
[[nodiscard]] std::optional<Node> node_of(std::string_view subsystem, std::string_view sysname);

/// What DEVICE on the command line means: a sysfs path, a device node or a name. None if it is no
/// RDMA device.
[[nodiscard]] Result<std::optional<Subject>> find_subject(const sysfs::Directory& root,
                                                          const std::string& argument);

/// An RDMA device by its name. None if there is none of that name.
[[nodiscard]] Result<std::optional<Subject>> subject_of_device(const sysfs::Directory& root,
                                                               std::string_view name);

/// The device of a udev event, by its DEVPATH and SUBSYSTEM.
[[nodiscard]] Result<std::optional<Subject>> subject_of_event(const sysfs::Directory& root,
                                                              std::string_view devpath,
                                                              std::string_view subsystem);

} // namespace rdmad::rdma_id
