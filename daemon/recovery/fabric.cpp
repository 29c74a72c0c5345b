// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/recovery/fabric.hpp"

#include "core/base/c_ptr.hpp"
#include "core/base/text.hpp"
#include "core/sysfs/netdev.hpp"

#include <cerrno>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

namespace rdmad::recovery {

namespace {

void read_gids(const sysfs::Directory& root, const std::string& port, Fabric::Device& device)
{
    for (const auto& number : root.names(port + "/gids"))
        if (const auto gid = parse_ip_address(root.read(port + "/gids/" + number).text);
            gid && *gid != IpAddress())
            device.gids.insert(*gid);
    for (const auto& number : root.names(port + "/gid_attrs/ndevs"))
        if (const auto netdev = root.read(port + "/gid_attrs/ndevs/" + number); netdev)
            device.netdevs.insert(netdev.text);
}

/// Returns true for a port of RoCE or iWARP whose network device is in another network namespace,
/// or nobody knows where: whoever has that chooses its addresses and its name, which may be like
/// ours.
bool is_elsewhere(nldev::Client& client, const nldev::Device& device, const std::string& number,
                  const std::string& link_layer)
{
    if (link_layer != "Ethernet")
        return false;
    const auto port = client.port(device.index, text::parse_u32(number).value_or(0));
    return !port || !*port || !(*port)->netdev;
}

void read_device(nldev::Client& client, const sysfs::Directory& root, const nldev::Device& device,
                 Fabric::Device& known)
{
    known.name = device.name;
    const auto folder = "class/infiniband/" + device.name;
    for (const auto& number : root.names(folder + "/ports")) {
        const auto port = folder + "/ports/" + number;
        if (const auto first = parse_ip_address(root.read(port + "/gids/0").text))
            known.first.push_back(*first);
        if (!is_elsewhere(client, device, number, root.read(port + "/link_layer").text))
            read_gids(root, port, known);
    }
    // IPoIB
    for (const auto& netdev : root.names(folder + "/device/net"))
        known.netdevs.insert(netdev);
}

std::optional<IpAddress> address_of(const ifaddrs& interface)
{
    if (!interface.ifa_addr || !(interface.ifa_flags & IFF_UP))
        return std::nullopt;
    const auto family = interface.ifa_addr->sa_family;
    const size_t size = family == AF_INET    ? sizeof(sockaddr_in)
                        : family == AF_INET6 ? sizeof(sockaddr_in6)
                                             : 0;
    const auto address =
        socket_address_of({reinterpret_cast<const std::byte*>(interface.ifa_addr), size});
    return address ? std::optional(address->ip) : std::nullopt;
}

Result<std::multimap<IpAddress, std::string>> local_addresses(const sysfs::Directory& root)
{
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) < 0)
        return fail(errno, "network addresses");
    const CPtr<ifaddrs, freeifaddrs> owner(list);
    std::multimap<IpAddress, std::string> local;
    for (const auto* interface = list; interface; interface = interface->ifa_next)
        if (const auto address = address_of(*interface))
            for (const auto& netdev : sysfs::stack_of(root, interface->ifa_name))
                local.emplace(*address, netdev);
    return local;
}

} // namespace

void take_connections(uint32_t index, const std::vector<nldev::CmId>& ids, Fabric& fabric)
{
    for (const auto& id : ids) {
        if (id.state != nldev::CmId::listening)
            fabric.devices[index].users.insert(id.kernel_user);
        else if (id.source)
            fabric.listening.emplace(*id.source, index);
    }
}

std::optional<uint32_t> Fabric::device_with(const IpAddress& address) const
{
    const auto [begin, end] = local.equal_range(address);
    std::optional<uint32_t> best;
    for (const auto& [index, device] : devices)
        for (auto found = begin; found != end; ++found)
            if ((device.gids.contains(address) || device.netdevs.contains(found->second)) &&
                (!best || (ready.contains(index) && !ready.contains(*best))))
                best = index;
    return best;
}

Result<Fabric> look_at_fabric(nldev::Client& client, const sysfs::Directory& root)
{
    auto local = local_addresses(root);
    if (!local)
        return tl::unexpected<Error>(std::move(local).error());
    Fabric fabric{.local = std::move(*local)};
    const auto devices = client.devices();
    if (!devices)
        return tl::unexpected<Error>(devices.error());
    // sysfs has them by name: reads it before anybody renames one
    for (const auto& [index, device] : *devices)
        read_device(client, root, device, fabric.devices[index]);
    for (const auto& [index, device] : *devices) {
        const auto ids = client.cm_ids(index);
        if (!ids)
            return tl::unexpected<Error>(ids.error());
        take_connections(index, *ids, fabric);
    }
    return fabric;
}

} // namespace rdmad::recovery
