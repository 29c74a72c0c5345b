// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/device/device_info.hpp"

#include <string>
#include <utility>
#include <vector>

namespace rdmad::rdma_id {

/// So many ports of a device have links and units of its uverbs node, and stand in lists: udevd
/// takes 16 KiB from a program and cuts the rest off (udev_event_spawn_start(),
/// src/udev/udev-event.c).
constexpr uint32_t most_ports = 128;

/// Links below /dev and unit aliases of a node. An RDMA device has neither: it has no node for udev
/// to link to.
struct Names {
    std::vector<std::string> links;
    std::vector<std::string> aliases;
};

/// Keys and escaped values, in the order of rdma_id(8). What is not known or does not hold is left
/// out.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> properties(const DeviceInfo& info,
                                                                          const Names& names);

/// Each prints to a string that ends in a line break. Values are escaped for their format.
[[nodiscard]] std::string format_properties(const DeviceInfo& info, const Names& names);
[[nodiscard]] std::string format_json(const DeviceInfo& info, const Names& names);
[[nodiscard]] std::string format_summary(const DeviceInfo& info, const Names& names);

} // namespace rdmad::rdma_id
