// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rdmad::naming {

/// The protocol that a port speaks.
enum class LinkType { infiniband, opa, roce, iwarp, usnic, efa, unknown };

/// Returns "infiniband", "roce" and so on.
[[nodiscard]] std::string_view to_string(LinkType type);
[[nodiscard]] std::optional<LinkType> parse_link_type(std::string_view text);

/// Returns true if the port has management datagrams, so that umad and issm nodes serve a purpose.
[[nodiscard]] bool is_managed(LinkType type);

/// The facts from the kernel about a port and its device; views must outlive the call.
struct LinkEvidence {
    std::optional<std::string_view> protocol =
        {};               ///< of the device's port 1: nldev::Device::protocol
    bool has_lid = false; ///< PORT_GET has a LID: only ports that speak InfiniBand or OPA have it
    std::optional<uint8_t> node_type = {}; ///< enum rdma_node_type
    std::string_view driver = {};
    std::string_view link_layer = {}; ///< sysfs: InfiniBand, Ethernet, Unknown
    bool has_roce_gid = false;
};

/// Returns true if the netlink part of the evidence decides the type, so that link_layer and
/// has_roce_gid need not be read.
[[nodiscard]] bool is_settled_by_netlink(const LinkEvidence& evidence);

[[nodiscard]] LinkType link_type(const LinkEvidence& evidence);

} // namespace rdmad::naming
