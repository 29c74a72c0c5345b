// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/identity.hpp"

#include <algorithm>
#include <rdma/ib_user_ioctl_verbs.h>

namespace rdmad::rdma_id {

namespace {

/// Drivers of devices that hang on nothing, for which sysfs names no driver.
std::optional<std::string> software_driver(uint32_t driver_id)
{
    switch (driver_id) {
    case RDMA_DRIVER_RXE:
        return "rdma_rxe";
    case RDMA_DRIVER_SIW:
        return "siw";
    default:
        return std::nullopt;
    }
}

Result<std::optional<std::string>> driver_of(nldev::Client& client, const Subject& subject,
                                             uint32_t index)
{
    if (auto driver = subject.device.driver(); driver || subject.node != Node::uverbs)
        return driver;
    // the question would load ib_uverbs: only where that is loaded already
    const auto uverbs = client.char_device("uverbs", index);
    if (!uverbs)
        return tl::unexpected<Error>(uverbs.error());
    if (!*uverbs || !(*uverbs)->driver_id)
        return std::optional<std::string>();
    return software_driver(*(*uverbs)->driver_id);
}

naming::LinkType link_type_of(const Subject& subject, const nldev::Device& device,
                              const nldev::Port& port, const std::optional<std::string>& driver)
{
    naming::LinkEvidence evidence = {.has_lid = port.lid.has_value(),
                                     .node_type = device.node_type};
    if (device.protocol)
        evidence.protocol = *device.protocol;
    if (driver)
        evidence.driver = *driver;
    if (naming::is_settled_by_netlink(evidence))
        return naming::link_type(evidence);
    const auto link_layer = subject.device.link_layer(port.port);
    evidence.link_layer = link_layer.text;
    evidence.has_roce_gid = link_layer.text == "Ethernet" && subject.device.has_roce_gid(port.port);
    return naming::link_type(evidence);
}

/// iWARP, usNIC and EFA have GIDs of their own, in which the low half identifies nothing.
bool has_port_guid(naming::LinkType type)
{
    return naming::is_managed(type) || type == naming::LinkType::roce;
}

} // namespace

bool Identity::has_link_type(naming::LinkType type) const
{
    return std::any_of(ports.begin(), ports.end(),
                       [&](const PortIdentity& port) { return port.link_type == type; });
}

Result<std::optional<Identity>> identify(nldev::Client& client, const Subject& subject,
                                         nldev::Device device)
{
    Identity identity;
    auto driver = driver_of(client, subject, device.index);
    if (!driver)
        return tl::unexpected<Error>(std::move(driver).error());
    identity.node = subject.node;
    identity.sysname = subject.sysname;
    identity.inode = subject.device.inode().value_or(0);
    identity.driver = std::move(*driver);

    const uint32_t first = subject.port.value_or(1);
    const uint32_t last = subject.port.value_or(device.port_count);
    for (uint32_t number = first; number <= last; number++) {
        auto port = client.port(device.index, number);
        if (!port)
            return tl::unexpected<Error>(std::move(port).error());
        if (!*port)
            return std::optional<Identity>();
        const auto type = link_type_of(subject, device, **port, identity.driver);
        auto guid = has_port_guid(type) ? subject.device.port_guid(number)
                                        : Result<std::optional<uint64_t>>();
        if (!guid)
            return tl::unexpected<Error>(std::move(guid).error());
        identity.ports.push_back({.port = number,
                                  .link_type = type,
                                  .guid = *guid,
                                  .netdev = std::move((*port)->netdev),
                                  .state = (*port)->state});
    }
    identity.device = std::move(device);
    return identity;
}

Result<std::optional<DeviceNow>> look_at(nldev::Client& client, const sysfs::Directory& root,
                                         uint32_t index)
{
    auto device = client.device(index);
    for (int i = 0; i < max_renames; i++) {
        if (!device)
            return tl::unexpected<Error>(std::move(device).error());
        if (!*device)
            break;
        auto subject = subject_of_device(root, (*device)->name);
        if (!subject)
            return tl::unexpected<Error>(std::move(subject).error());
        // what was opened by that name is this device only if it is still called so
        auto again = client.device(index);
        const bool is_same = again && *again && (*again)->name == (*device)->name;
        if (!*subject || !is_same) {
            device = std::move(again);
            continue;
        }
        auto identity = identify(client, **subject, std::move(**device));
        if (!identity)
            return tl::unexpected<Error>(std::move(identity).error());
        if (!*identity)
            break;
        return DeviceNow{std::move(**subject), std::move(**identity)};
    }
    return std::optional<DeviceNow>();
}

} // namespace rdmad::rdma_id
