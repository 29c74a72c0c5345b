// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/removal_note.hpp"

#include "core/base/text.hpp"

namespace rdmad {

std::string note_name(const RemovalNote& note)
{
    return note.born == 0 ? note.node : note.node + "." + std::to_string(note.born);
}

RemovalNote parse_note_name(std::string_view name)
{
    const auto dot = name.find('.');
    if (dot == std::string_view::npos)
        return {std::string(name)};
    return {std::string(name.substr(0, dot)), text::parse_u64(name.substr(dot + 1)).value_or(0)};
}

} // namespace rdmad
