// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/names.hpp"

#include "core/base/text.hpp"
#include "core/naming/links.hpp"

#include <algorithm>

namespace rdmad::rdma_id {

Result<Names> names_of(const Identity& identity, Claims& claims)
{
    Names names;
    if (identity.node == Node::device)
        return names;

    const auto node = to_string(identity.node);
    const auto wins = [&](uint64_t guid, uint32_t port) {
        return claims.settle(
            {guid, {identity.device.index, port, identity.node, identity.sysname}});
    };
    if (identity.node == Node::uverbs && identity.device.node_guid != 0) {
        const auto won = wins(identity.device.node_guid, 0);
        if (!won)
            return tl::unexpected<Error>(won.error());
        if (*won)
            names.links.push_back(naming::node_link(identity.device.node_guid));
    }
    for (const auto& port : identity.ports) {
        if (port.guid) {
            const auto won = wins(*port.guid, port.port);
            if (!won)
                return tl::unexpected<Error>(won.error());
            if (*won) {
                names.links.push_back(naming::port_link(*port.guid, node));
                names.aliases.push_back(naming::port_alias(*port.guid, node));
            }
        }
        // A name that cannot be part of a path gets no alias; rdma-core's rules give umad its own.
        if (identity.node != Node::umad && naming::is_safe_name(identity.device.name))
            names.aliases.push_back(naming::device_alias(identity.device.name, port.port, node));
    }
    return names;
}

void keep_foreign_aliases(Names& names, std::string_view aliases)
{
    std::vector<std::string> kept;
    for (const auto word : text::split(aliases, ' '))
        if (!word.empty() &&
            std::find(names.aliases.begin(), names.aliases.end(), word) == names.aliases.end())
            kept.emplace_back(word);
    names.aliases.insert(names.aliases.begin(), kept.begin(), kept.end());
}

} // namespace rdmad::rdma_id
