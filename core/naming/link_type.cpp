// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/naming/link_type.hpp"

#include "core/base/text.hpp"

#include <array>

// fill_dev_info() and fill_port_info() in drivers/infiniband/core/nldev.c report a protocol for
// port 1 alone, and a LID for each port that speaks InfiniBand or OPA. Only a two-protocol adapter
// (mlx4) has a port for which the kernel reports neither.

namespace rdmad::naming {

namespace {

constexpr std::array<std::string_view, 7> names = {"infiniband", "opa", "roce",   "iwarp",
                                                   "usnic",      "efa", "unknown"};
static_assert(names.size() == static_cast<size_t>(LinkType::unknown) + 1);

// enum rdma_node_type, include/rdma/ib_verbs.h
constexpr uint8_t node_iwarp = 4;
constexpr uint8_t node_usnic = 5;
constexpr uint8_t node_usnic_udp = 6;

LinkType by_protocol(std::string_view protocol)
{
    if (protocol == "roce")
        return LinkType::roce;
    if (protocol == "iw")
        return LinkType::iwarp;
    if (protocol == "usnic")
        return LinkType::usnic;
    return LinkType::unknown;
}

LinkType by_sysfs(const LinkEvidence& evidence)
{
    if (evidence.link_layer == "InfiniBand")
        return evidence.protocol == "opa" ? LinkType::opa : LinkType::infiniband;
    return evidence.has_roce_gid ? LinkType::roce : LinkType::unknown;
}

} // namespace

std::string_view to_string(LinkType type)
{
    return names[static_cast<size_t>(type)];
}

std::optional<LinkType> parse_link_type(std::string_view text)
{
    return text::find_name<LinkType>(names, text);
}

bool is_managed(LinkType type)
{
    return type == LinkType::infiniband || type == LinkType::opa;
}

bool is_settled_by_netlink(const LinkEvidence& evidence)
{
    return evidence.has_lid ||
           (evidence.protocol && by_protocol(*evidence.protocol) != LinkType::unknown);
}

LinkType link_type(const LinkEvidence& evidence)
{
    if (evidence.has_lid)
        return evidence.protocol == "opa" ? LinkType::opa : LinkType::infiniband;
    if (evidence.protocol) {
        const auto type = by_protocol(*evidence.protocol);
        return type != LinkType::unknown ? type : by_sysfs(evidence);
    }
    // the kernel reports no protocol of EFA, functions with RDMA off, sub-devices for subnet
    // management
    switch (evidence.node_type.value_or(0)) {
    case node_iwarp:
        return LinkType::iwarp;
    case node_usnic:
    case node_usnic_udp:
        return LinkType::usnic;
    default:
        break;
    }
    if (evidence.driver == "efa")
        return LinkType::efa;
    return by_sysfs(evidence);
}

} // namespace rdmad::naming
