// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/bindings/member.hpp"
#include "daemon/log.hpp"

namespace rdmad {

/// Returns the journal fields of a message about a unit and its port.
[[nodiscard]] inline log::Fields fields_of(const std::string& unit, const Member& member)
{
    return {{log::field::unit, unit},
            {log::field::device, member.device},
            {log::field::index, std::to_string(member.index)},
            {log::field::port, std::to_string(member.port)},
            {log::field::port_guid, member.guid},
            {log::field::node_guid, member.node_guid},
            {log::field::binding, member.binding}};
}

} // namespace rdmad
