// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/identity.hpp"

namespace rdmad::rdma_id {

Result<std::optional<Identity>> identify(nldev::Client& client, const sysfs::Directory& root,
                                         const Target& target, nldev::Device device)
{
    auto found = identity::identify(client, root, target.device, std::move(device), target.port);
    if (!found)
        return tl::unexpected<Error>(std::move(found).error());
    if (!*found)
        return std::optional<Identity>();
    Identity whole;
    static_cast<identity::DeviceIdentity&>(whole) = std::move(**found);
    whole.node = target.node;
    whole.sysname = target.sysname;
    return whole;
}

Result<std::optional<DeviceNow>> look_at(nldev::Client& client, const sysfs::Directory& root,
                                         uint32_t index)
{
    auto found = identity::find_by_index(client, root, index);
    if (!found)
        return tl::unexpected<Error>(std::move(found).error());
    if (!*found)
        return std::optional<DeviceNow>();
    auto& [opened, device] = **found;
    Target target = {Node::device, device.name, std::nullopt, device.name, std::move(opened)};
    auto identity = identify(client, root, target, std::move(device));
    if (!identity)
        return tl::unexpected<Error>(std::move(identity).error());
    if (!*identity)
        return std::optional<DeviceNow>();
    return DeviceNow{std::move(target), std::move(**identity)};
}

} // namespace rdmad::rdma_id
