// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/sysfs/directory.hpp"

#include <cstdint>
#include <optional>
#include <set>

namespace rdmad::sysfs {

/// Returns a network device and those that it is stacked on, four deep: a bond, VLAN or bridge is
/// of what is below it. root is /sys.
[[nodiscard]] std::set<std::string> stack_of(const Directory& root, const std::string& netdev);

/// Returns the low half of the default GID that the kernel makes of a network device's MAC address,
/// "02:00:5e:00:53:01" (make_default_gid(), drivers/infiniband/core/roce_gid_mgmt.c): the modified
/// EUI-64 of RFC 4291. Returns nullopt for an address that is not one of Ethernet.
[[nodiscard]] std::optional<uint64_t> eui64_of(std::string_view address);

/// Returns eui64_of() the present address of a network device, nullopt if there is no such device.
/// The kernel refuses names that are no file names (dev_valid_name(), net/core/dev.c).
[[nodiscard]] std::optional<uint64_t> eui64_of_netdev(const Directory& root,
                                                      const std::string& netdev);

} // namespace rdmad::sysfs
