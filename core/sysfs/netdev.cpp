// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/sysfs/netdev.hpp"

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

} // namespace rdmad::sysfs
