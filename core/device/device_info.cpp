// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/device_info.hpp"

#include "core/base/text.hpp"

#include <algorithm>
#include <array>
#include <rdma/ib_user_ioctl_verbs.h>

namespace rdmad {

namespace {

/// Returns the driver of a device without a parent, for which sysfs names none.
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

Result<std::optional<std::string>> driver_of(nldev::Client& client, const sysfs::Directory& root,
                                             const sysfs::RdmaDevice& opened, uint32_t index)
{
    if (auto driver = opened.driver(); driver || !sysfs::is_uverbs_loaded(root))
        return driver;
    const auto uverbs = client.char_device("uverbs", index);
    if (!uverbs)
        return tl::unexpected<Error>(uverbs.error());
    if (!*uverbs || !(*uverbs)->driver_id)
        return std::optional<std::string>();
    return software_driver(*(*uverbs)->driver_id);
}

naming::LinkType link_type_of(const sysfs::RdmaDevice& opened, const nldev::Device& device,
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
    const auto link_layer = opened.link_layer(port.port);
    evidence.link_layer = link_layer.text;
    evidence.has_roce_gid = link_layer.text == "Ethernet" && opened.has_roce_gid(port.port);
    return naming::link_type(evidence);
}

/// Returns false for iWARP, usNIC and EFA: they have GIDs of their own, in which the low half
/// identifies nothing.
bool has_port_guid(naming::LinkType type)
{
    return naming::is_managed(type) || type == naming::LinkType::roce;
}

/// Returns nullopt if the device or port does not exist. Fails if the kernel has the device, and
/// the device such a port: hns, mana and siw pass on EINVAL or ENODEV while a port has no network
/// device, and the kernel refuses a port that is gone in the same words (fill_port_info(),
/// drivers/infiniband/core/nldev.c).
Result<std::optional<DeviceInfo>> explain_absent_port(nldev::Client& client,
                                                      const nldev::Device& device, uint32_t number)
{
    const auto again = client.device(device.index);
    if (!again)
        return tl::unexpected<Error>(again.error());
    if (!*again || number > device.port_count)
        return std::optional<DeviceInfo>();
    return fail(EAGAIN, "port " + std::to_string(number) + " of " + device.name +
                            ": the driver does not report it now");
}

} // namespace

bool DeviceInfo::has_link_type(naming::LinkType type) const
{
    return std::any_of(ports.begin(), ports.end(),
                       [&](const PortInfo& port) { return port.link_type == type; });
}

std::string_view DeviceInfo::protocol() const
{
    if (device.protocol)
        return *device.protocol;
    return driver == "efa" ? "efa" : "unknown";
}

Result<std::optional<DeviceInfo>> read_device_info(nldev::Client& client,
                                                   const sysfs::Directory& root,
                                                   const Target& target, nldev::Device device)
{
    const auto& opened = target.device;
    auto driver = driver_of(client, root, opened, device.index);
    if (!driver)
        return tl::unexpected<Error>(std::move(driver).error());
    DeviceInfo info{.node = target.node,
                    .sysname = target.sysname,
                    .inode = opened.inode().value_or(0),
                    .driver = std::move(*driver)};
    const uint32_t first = target.port.value_or(1);
    const uint32_t last = target.port.value_or(device.port_count);
    for (uint32_t number = first; number <= last; number++) {
        auto known = client.port(device.index, number);
        if (!known)
            return tl::unexpected<Error>(std::move(known).error());
        if (!*known)
            return explain_absent_port(client, device, number);
        const auto type = link_type_of(opened, device, **known, info.driver);
        auto guid =
            has_port_guid(type) ? opened.port_guid(number) : Result<std::optional<uint64_t>>();
        if (!guid)
            return tl::unexpected<Error>(std::move(guid).error());
        info.ports.push_back({.port = number,
                              .link_type = type,
                              .guid = *guid,
                              .netdev = std::move((*known)->netdev),
                              .netdev_index = (*known)->netdev_index,
                              .state = (*known)->state});
    }
    info.device = std::move(device);
    return info;
}

std::string netdev_word(const std::optional<std::string>& netdev)
{
    return netdev && !netdev->empty() ? text::escape_property(*netdev) : "-";
}

std::string_view state_name(std::optional<uint8_t> state)
{
    constexpr std::array<std::string_view, 6> names = {"nop",   "down",   "init",
                                                       "armed", "active", "active-defer"};
    return state && *state < names.size() ? names[*state] : std::string_view();
}

} // namespace rdmad
