// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/sysfs/netdev.hpp"

#include "core/base/text.hpp"

namespace rdmad::sysfs {

namespace {

// a VLAN on a bond below a bridge
constexpr int max_stacked = 4;

void add(const Directory& root, const std::string& netdev, int levels, std::set<std::string>& stack)
{
    constexpr std::string_view lower = "lower_";
    stack.insert(netdev);
    for (const auto& name : root.names("class/net/" + netdev))
        if (levels > 0 && name.starts_with(lower))
            add(root, name.substr(lower.size()), levels - 1, stack);
}

} // namespace

std::set<std::string> stack_of(const Directory& root, const std::string& netdev)
{
    std::set<std::string> stack;
    add(root, netdev, max_stacked, stack);
    return stack;
}

std::optional<uint64_t> eui64_of(std::string_view address)
{
    constexpr size_t bytes_of_mac = 6;
    constexpr uint64_t universal_bit = UINT64_C(2) << 56;
    const auto bytes = text::split(address, ':');
    if (bytes.size() != bytes_of_mac)
        return std::nullopt;
    uint64_t eui64 = 0;
    for (size_t i = 0; i < bytes_of_mac; i++) {
        const auto byte = bytes[i].size() == 2 ? text::parse_hex_u64(bytes[i]) : std::nullopt;
        if (!byte)
            return std::nullopt;
        eui64 = eui64 << 8 | *byte;
        if (i == 2)
            eui64 = eui64 << 16 | 0xfffe;
    }
    return eui64 ^ universal_bit;
}

std::optional<uint64_t> eui64_of_netdev(const Directory& root, const std::string& netdev)
{
    return eui64_of(root.read("class/net/" + netdev + "/address").text);
}

} // namespace rdmad::sysfs
