// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/inventory/model.hpp"

#include "core/base/text.hpp"

#include <algorithm>

namespace rdmad {

std::set<std::string> nodes_of(const Device& device)
{
    std::set<std::string> nodes;
    const auto add = [&](const std::optional<NodeRef>& node) {
        if (node)
            nodes.insert(node->sysname);
    };
    add(device.uverbs);
    for (const auto& port : device.ports) {
        add(port.umad);
        add(port.issm);
    }
    return nodes;
}

bool is_called(const Device& device, const std::string& name)
{
    constexpr size_t guid_digits = 16;
    if (device.name == name)
        return true;
    const auto guid =
        name.size() == guid_digits ? text::parse_hex_u64(name) : std::optional<uint64_t>();
    return guid && (device.node_guid == *guid ||
                    std::any_of(device.ports.begin(), device.ports.end(),
                                [&](const Port& port) { return port.guid == *guid; }));
}

std::set<uint32_t> with_silent_port(const std::map<uint32_t, Device>& devices)
{
    const auto is_silent = [](const Port& port) { return port.is_silent(); };
    std::set<uint32_t> indexes;
    for (const auto& [index, device] : devices)
        if (std::any_of(device.ports.begin(), device.ports.end(), is_silent))
            indexes.insert(index);
    return indexes;
}

} // namespace rdmad
