// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/node_links.hpp"

#include "core/base/text.hpp"
#include "core/device/udev_record.hpp"
#include "core/naming/links.hpp"
#include "core/sysfs/netdev.hpp"
#include "udev-helpers/rdma_id/node_refresh.hpp"

#include <algorithm>

namespace rdmad::rdma_id {

namespace {

bool has_port_guid(const DeviceInfo& info)
{
    return std::any_of(info.ports.begin(), info.ports.end(),
                       [](const PortInfo& port) { return port.guid.has_value(); });
}

/// Returns true if the GUID of the node's port stands for another node by design. A sub-device for
/// subnet management has a port for each plane of its parent's port, all with the GUID of that
/// (smi_to_native_portnum(), drivers/infiniband/hw/mlx5/mlx5_ib.h). Subnet management alone goes by
/// its umad nodes, all other classes of MADs by the one of the parent, which has no issm node: that
/// of the first plane is the port's.
bool is_unnamed_plane(const DeviceInfo& info)
{
    return info.device.device_type == nldev::Device::smi &&
           (info.node != Node::issm || info.ports.empty() || info.ports[0].port != 1);
}

/// Returns udev's record of the last event of the node or device.
std::optional<UdevRecord> read_record(const sysfs::Directory& root, const DeviceInfo& info,
                                      const std::string& udev_run)
{
    return info.node == Node::device
               ? UdevRecord::read(udev_run, UdevRecord::id_of_device(info.sysname))
               : UdevRecord::read_node(udev_run, root, info.node, info.sysname);
}

/// Returns what the node or device claimed, by udev's record of its last event.
std::optional<PastLinks> read_recorded_links(const sysfs::Directory& root, const DeviceInfo& info,
                                             const std::string& udev_run)
{
    const auto record = read_record(root, info, udev_run);
    if (!record)
        return std::nullopt;
    return read_past_links(info.node, info.sysname,
                           [&](const std::string& key) { return record->property(key); });
}

} // namespace

std::vector<Claim> claims_of(const DeviceInfo& info)
{
    if (info.node == Node::device || is_unnamed_plane(info))
        return {};
    const auto index = info.device.index;
    const bool is_uverbs = info.node == Node::uverbs;
    std::vector<Claim> claims;
    for (const auto& port : info.ports) {
        const bool is_roce = port.link_type == naming::LinkType::roce;
        if (!port.guid || (is_roce && !port.netdev) || (is_uverbs && port.port > most_ports))
            continue;
        claims.push_back({*port.guid,
                          {index, port.port, info.node, info.sysname},
                          is_roce ? Precedence::owner : Precedence::lowest_index});
    }
    const auto node_guid = info.device.node_guid;
    if (is_uverbs && node_guid != 0 && !has_port_guid(info))
        claims.push_back({node_guid, {index, 0, info.node, info.sysname}});
    return claims;
}

std::string why_ports_lack_links(const DeviceInfo& info)
{
    if (info.node != Node::uverbs || info.ports.size() <= most_ports)
        return {};
    return "RDMA device " + info.device.name + " has " + std::to_string(info.ports.size()) +
           " ports: " + info.sysname + " gets links and units for the first " +
           std::to_string(most_ports) + " of them; see LIMITS in rdmad-links(7)";
}

Result<NodeLinks> claim_links(const DeviceInfo& info, LinkOwners& owners)
{
    NodeLinks links;
    const auto node = to_string(info.node);
    for (const auto& claim : claims_of(info)) {
        const auto has_won = owners.take(claim);
        if (!has_won)
            return tl::unexpected<Error>(has_won.error());
        if (!*has_won)
            continue;
        const bool is_of_port = claim.claimant.port > 0;
        links.paths.push_back(is_of_port ? naming::port_link(claim.guid, node)
                                         : naming::node_link(claim.guid));
        links.aliases.push_back(is_of_port ? naming::port_alias(claim.guid, node)
                                           : naming::node_alias(claim.guid));
    }
    return links;
}

std::optional<PastLinks> read_past_links(Node node, std::string sysname,
                                         const EventProperties& last)
{
    const auto property = [&](const char* key) { return last(key).value_or(""); };
    const auto index = text::parse_u32(property("ID_RDMA_INDEX"));
    if (!index)
        return std::nullopt;
    PastLinks past = {*index, node, std::move(sysname), {}, {}};
    // a port without a GUID has zeroes in the list
    for (const auto* key : {"ID_RDMA_PORT_GUID", "ID_RDMA_PORT_GUIDS"}) {
        const auto value = property(key);
        for (const auto word : text::split(value, ' '))
            if (const auto guid = text::parse_hex_u64(word); guid && *guid != 0)
                past.port_guids.push_back(*guid);
    }
    if (node == Node::device || node == Node::uverbs)
        past.node_guid = text::parse_hex_u64(property("ID_RDMA_NODE_GUID"));
    return past;
}

bool is_guid_missing(const sysfs::Directory& root, const DeviceInfo& info,
                     const std::string& udev_run)
{
    std::vector<uint64_t> expected;
    for (const auto& port : info.ports)
        if (!port.guid && port.netdev)
            if (const auto guid = sysfs::eui64_of_netdev(root, *port.netdev))
                expected.push_back(*guid);
    if (expected.empty())
        return false;
    const auto past = read_recorded_links(root, info, udev_run);
    return past && past->index == info.device.index &&
           std::find_first_of(expected.begin(), expected.end(), past->port_guids.begin(),
                              past->port_guids.end()) != expected.end();
}

bool has_recorded_guid(const sysfs::Directory& root, const DeviceInfo& info, uint32_t port,
                       const std::string& udev_run)
{
    const auto record = read_record(root, info, udev_run);
    if (!record ||
        text::parse_u32(record->property("ID_RDMA_INDEX").value_or("")) != info.device.index)
        return false;
    const auto list = record->property("ID_RDMA_PORT_GUIDS").value_or("");
    const auto guids = text::split(list, ' ');
    return port > 0 && port <= guids.size() &&
           text::parse_hex_u64(guids[port - 1]).value_or(0) != 0;
}

void release_past_links(const sysfs::Directory& root, const DeviceInfo& info,
                        const LinkOwners& owners, const std::string& udev_run)
{
    if (info.node == Node::device)
        return;
    auto past = read_recorded_links(root, info, udev_run);
    if (!past)
        return;
    // where a port had a GUID there was no claim by that of the device
    if (!past->port_guids.empty())
        past->node_guid.reset();
    if (past->index == info.device.index)
        for (const auto& claim : claims_of(info)) {
            if (claim.claimant.port > 0)
                std::erase(past->port_guids, claim.guid);
            else if (past->node_guid == claim.guid)
                past->node_guid.reset();
        }
    if (past->port_guids.empty() && !past->node_guid)
        return;
    // where two nodes swap their GUIDs, systemd ignores this event if it hears of it before it
    // hears that the other node has given its GUID up
    if (owners.release(*past))
        trigger(root, info.node, info.sysname);
}

void keep_foreign_aliases(NodeLinks& links, std::string_view aliases)
{
    std::vector<std::string> kept;
    for (const auto word : text::split(aliases, ' '))
        if (!word.empty() &&
            std::find(links.aliases.begin(), links.aliases.end(), word) == links.aliases.end())
            kept.emplace_back(word);
    links.aliases.insert(links.aliases.begin(), kept.begin(), kept.end());
}

} // namespace rdmad::rdma_id
