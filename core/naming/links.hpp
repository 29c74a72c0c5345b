// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Names of links below /dev and of the unit aliases, rdmad-links(7). They are a promise: a change
// needs a new name beside the old one. Aliases have few dashes in the unit's name: with each, PID 1
// does more to load one.

namespace rdmad::naming {

/// Returns "infiniband/by-port-guid/0002c90300000a01/umad", below /dev.
[[nodiscard]] std::string port_link(uint64_t port_guid, std::string_view node);
/// Returns "infiniband/by-node-guid/0002c90300000a00/uverbs", below /dev.
[[nodiscard]] std::string node_link(uint64_t node_guid);

/// Returns "/rdma/0002c90300000a01/umad": systemd names its unit rdma-0002c90300000a01-umad.device.
[[nodiscard]] std::string port_alias(uint64_t port_guid, std::string_view node);
/// Returns "/rdma/node/0002c90300000a00/uverbs": rdma-node-0002c90300000a00-uverbs.device.
[[nodiscard]] std::string node_alias(uint64_t node_guid);

/// Returns true if a device name may become part of a path: 1 to 63 letters, digits, "_", "." and
/// "-", but not "." or "..". The kernel checks nothing of the kind.
[[nodiscard]] bool is_safe_name(std::string_view name);

} // namespace rdmad::naming
