// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/ipoib.hpp"

#include "core/base/text.hpp"
#include "core/sysfs/rdma_device.hpp"

#include <linux/if_arp.h>

namespace rdmad::rdma_id {

namespace {

using sysfs::Directory;

static_assert(ARPHRD_INFINIBAND == 32);
constexpr std::string_view arphrd_infiniband = "32";

/// Returns the last 8 of the 20 bytes of an IPoIB address: the low half of the port's GID (RFC
/// 4391, 9.1.1).
std::optional<uint64_t> port_guid_of(std::string_view address)
{
    const auto bytes = text::split(address, ':');
    if (bytes.size() != 20)
        return std::nullopt;
    std::string guid;
    for (size_t i = 12; i < bytes.size(); i++)
        guid += bytes[i];
    return guid.size() == 16 ? text::parse_hex_u64(guid) : std::nullopt;
}

/// Returns the RDMA device on the network device's parent (ipoib_intf_init(),
/// drivers/infiniband/ulp/ipoib/ipoib_main.c). The address decides between several. Returns an
/// empty name if one of them is being renamed.
std::optional<std::string> device_of(const Directory& root, const Directory& netdev, uint32_t port)
{
    const auto names = netdev.names("device/infiniband");
    if (names.size() == 1)
        return names[0];
    const auto wanted = port_guid_of(netdev.read("address").text);
    bool is_renaming = false;
    for (const auto& name : names) {
        const auto device = sysfs::RdmaDevice::open(root, name);
        is_renaming = is_renaming || (device && !*device);
        if (!device || !*device)
            continue;
        if (const auto guid = (*device)->port_guid(port); wanted && guid && *guid == wanted)
            return name;
    }
    return is_renaming ? std::optional("") : std::nullopt;
}

} // namespace

std::optional<Ipoib> find_ipoib(const Directory& root, std::string_view devpath)
{
    const auto netdev = root.open_below("." + std::string(devpath));
    if (!netdev || !*netdev || (*netdev)->read("type").text != arphrd_infiniband)
        return std::nullopt;
    // only a child interface has it (ipoib_vlan.c)
    if ((*netdev)->contains("parent"))
        return std::nullopt;
    // counts from 0 (ipoib_add_port())
    const auto number = text::parse_u32((*netdev)->read("dev_port").text);
    if (!number)
        return std::nullopt;
    const uint32_t port = *number + 1;
    auto device = device_of(root, **netdev, port);
    return device ? std::optional(Ipoib{std::move(*device), port}) : std::nullopt;
}

} // namespace rdmad::rdma_id
