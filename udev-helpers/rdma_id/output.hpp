// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/device/device_info.hpp"

#include <string>
#include <utility>
#include <vector>

namespace rdmad::rdma_id {

/// The limit of ports of a device that have links and units of its uverbs node, and stand in lists:
/// udevd takes 16 KiB from a program and cuts the rest off (udev_event_spawn_start(),
/// src/udev/udev-event.c).
constexpr uint32_t most_ports = 128;

/// Links and unit aliases of a node. An RDMA device has neither: it has no node for udev to link
/// to.
struct NodeLinks {
    std::vector<std::string> paths = {}; ///< below /dev
    std::vector<std::string> aliases = {};
};

using Properties = std::vector<std::pair<std::string, std::string>>;

/// Returns keys and escaped values, in the order of rdma_id(8), without those that are unknown or
/// do not hold.
[[nodiscard]] Properties properties(const DeviceInfo& info, const NodeLinks& links);

/// Returns a text that ends in a line break. Values are escaped for their format.
[[nodiscard]] std::string format_properties(const DeviceInfo& info, const NodeLinks& links);
[[nodiscard]] std::string format_json(const DeviceInfo& info, const NodeLinks& links);
[[nodiscard]] std::string format_summary(const DeviceInfo& info, const NodeLinks& links);

} // namespace rdmad::rdma_id
