// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/bindings/member.hpp"

namespace rdmad {

bool Member::is_same_port(const Member& other) const
{
    if (!guid.empty() || !other.guid.empty())
        return guid == other.guid;
    return node_guid == other.node_guid && path == other.path && port == other.port;
}

bool Member::is_same_place(const Member& other) const
{
    return path == other.path && port == other.port && (!path.empty() || device == other.device);
}

bool Member::is_same_appearance(const Member& other) const
{
    return node_id().may_be(other.node_id()) && port == other.port && binding == other.binding &&
           removed == other.removed;
}

std::string describe(const Member& member)
{
    return "port " + (member.guid.empty() ? std::to_string(member.port) : member.guid) + " of " +
           member.device;
}

} // namespace rdmad
