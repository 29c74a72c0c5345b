// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/known_guids.hpp"

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "daemon/readiness/ready_record.hpp"
#include "daemon/supervisor/memory_file.hpp"

namespace rdmad {

KnownGuids read_known_guids(const std::string& units, const std::string& ready)
{
    KnownGuids known;
    const auto add = [&](uint32_t index, const std::string& text) {
        if (const auto guid = text::parse_hex_u64(text))
            known[index].insert(*guid);
    };
    const UnitRecords records(units);
    for (const auto& unit : records.names())
        if (const auto record = records.read(unit))
            for (const auto& member : record->members)
                add(member.index, member.guid);
    for (const auto& guid : names_in(ready))
        if (const auto record = parse_ready_record(read_file(ready + "/" + guid).value_or("")))
            add(record->node.index, guid);
    return known;
}

} // namespace rdmad
