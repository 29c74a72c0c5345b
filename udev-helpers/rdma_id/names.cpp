// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/names.hpp"

#include "core/base/text.hpp"
#include "core/naming/links.hpp"
#include "udev-helpers/rdma_id/log.hpp"

#include <algorithm>

namespace rdmad::rdma_id {

namespace {

bool has_port_guid(const Identity& identity)
{
    return std::any_of(identity.ports.begin(), identity.ports.end(),
                       [](const PortIdentity& port) { return port.guid.has_value(); });
}

/// Returns true if the GUID of the node's port stands for another node by design. A sub-device for
/// subnet management has a port for each plane of its parent's port, all with the GUID of that
/// (smi_to_native_portnum(), drivers/infiniband/hw/mlx5/mlx5_ib.h). Subnet management alone goes by
/// its umad nodes, all other classes of MADs by the one of the parent, which has no issm node: that
/// of the first plane is the port's.
bool is_unnamed_plane(const Identity& identity)
{
    return identity.device.device_type == nldev::Device::smi &&
           (identity.node != Node::issm || identity.ports.empty() || identity.ports[0].port != 1);
}

} // namespace

Result<Names> names_of(const Identity& identity, Claims& claims)
{
    Names names;
    if (identity.node == Node::device || is_unnamed_plane(identity))
        return names;

    const auto node = to_string(identity.node);
    // port 0: the device
    const auto add = [&](uint64_t guid, uint32_t port, std::string link, std::string alias) {
        return claims.settle({guid, {identity.device.index, port, identity.node, identity.sysname}})
            .map([&](bool has_won) {
                if (!has_won)
                    return;
                names.links.push_back(std::move(link));
                names.aliases.push_back(std::move(alias));
            });
    };
    for (const auto& port : identity.ports) {
        if (!port.guid)
            continue;
        if (port.port > most_ports && identity.node == Node::uverbs) {
            warn("RDMA device " + identity.device.name + " has more than " +
                 std::to_string(most_ports) + " ports: " + identity.sysname +
                 " gets no links and units for those after");
            break;
        }
        if (auto added = add(*port.guid, port.port, naming::port_link(*port.guid, node),
                             naming::port_alias(*port.guid, node));
            !added)
            return tl::unexpected<Error>(std::move(added).error());
    }
    const auto node_guid = identity.device.node_guid;
    if (identity.node != Node::uverbs || node_guid == 0 || has_port_guid(identity))
        return names;
    if (auto added = add(node_guid, 0, naming::node_link(node_guid), naming::node_alias(node_guid));
        !added)
        return tl::unexpected<Error>(std::move(added).error());
    return names;
}

void keep_foreign_aliases(Names& names, std::string_view aliases)
{
    std::vector<std::string> kept;
    for (const auto word : text::split(aliases, ' '))
        if (!word.empty() &&
            std::find(names.aliases.begin(), names.aliases.end(), word) == names.aliases.end())
            kept.emplace_back(word);
    names.aliases.insert(names.aliases.begin(), kept.begin(), kept.end());
}

} // namespace rdmad::rdma_id
