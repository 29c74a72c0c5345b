// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "udev-helpers/rdma_id/context.hpp"
#include "udev-helpers/rdma_id/link_owners.hpp"
#include "udev-helpers/rdma_id/output.hpp"

namespace rdmad::rdma_id {

/// Returns the links that a node claims, each with a unit alias, by node GUID only if no port has a
/// GUID. A user who may set the MAC address of a RoCE port's network device chooses the port's
/// GUID: such a port claims none if the network device is in another network namespace.
[[nodiscard]] std::vector<Claim> claims_of(const DeviceInfo& info);

/// Returns a warning if a node has more ports than rdma_id makes links for, empty if not.
[[nodiscard]] std::string why_ports_lack_links(const DeviceInfo& info);

/// Takes the links and aliases that a node asks for. Returns them without those that another node
/// has a better claim to.
[[nodiscard]] Result<NodeLinks> claim_links(const DeviceInfo& info, LinkOwners& owners);

/// Returns what a node, or a device with its nodes, may have claimed, by the properties of its last
/// event. Returns nullopt if no event has succeeded.
[[nodiscard]] std::optional<PastLinks> read_past_links(Node node, std::string sysname,
                                                       const EventProperties& last);

/// Returns true if a RoCE port has no GUID, though udev has one on record for it, or for a port
/// beside it, that the address of its network device still makes.
///
/// @param udev_run /run/udev
[[nodiscard]] bool is_guid_missing(const sysfs::Directory& root, const DeviceInfo& info,
                                   const std::string& udev_run);

/// Returns true if udev has a GUID on record for this port of a device.
///
/// @param info of the device itself, or of its uverbs node
/// @param udev_run /run/udev
[[nodiscard]] bool has_recorded_guid(const sysfs::Directory& root, const DeviceInfo& info,
                                     uint32_t port, const std::string& udev_run);

/// Releases what earlier events of a node claimed and this one does not: the GUID of its port has
/// changed. Then triggers the node.
///
/// @param udev_run /run/udev
void release_past_links(const sysfs::Directory& root, const DeviceInfo& info,
                        const LinkOwners& owners, const std::string& udev_run);

/// Puts the aliases that other rules gave the node, with blanks between, before ours.
void keep_foreign_aliases(NodeLinks& links, std::string_view aliases);

} // namespace rdmad::rdma_id
