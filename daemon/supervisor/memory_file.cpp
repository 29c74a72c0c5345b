// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/supervisor/memory_file.hpp"

#include "core/base/file.hpp"
#include "daemon/record.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <unistd.h>

namespace rdmad {

namespace {

using Json = nlohmann::json;

constexpr int version = 1;
// more than the record of a unit bound to all possible devices (256)
constexpr size_t max_size = 4 << 20;
constexpr std::array causes = {Stop::Cause::unplug,    Stop::Cause::prepare,
                               Stop::Cause::failure,   Stop::Cause::dependency,
                               Stop::Cause::condition, Stop::Cause::other};

// Visits each key that is stored as it is; one list for both ways.

template <typename Member, typename Visit>
void each_key_of_member(Member& member, Visit visit)
{
    visit("binding", member.binding);
    visit("device", member.device);
    visit("index", member.index);
    visit("port", member.port);
    visit("portGuid", member.guid);
    visit("nodeGuid", member.node_guid);
    visit("path", member.path);
    visit("node", member.node);
    visit("born", member.born);
    visit("syspath", member.syspath);
    visit("anchor", member.anchor);
    visit("isUnused", member.is_unused);
}

template <typename Memory, typename Visit>
void each_key_of_memory(Memory& memory, Visit visit)
{
    visit("isKnown", memory.is_known);
    visit("wasUp", memory.was_up);
    visit("isWanted", memory.is_wanted);
    visit("isAsked", memory.is_asked);
    visit("began", memory.began);
    visit("fileState", memory.file_state);
}

template <typename Window, typename Visit>
void each_key_of_window(Window& window, Visit visit)
{
    visit("usedSince", window.used_since);
    visit("tiedSince", window.tied_since);
    visit("unusedSince", window.unused_since);
}

Json to_json(const Member& member)
{
    Json json;
    each_key_of_member(member, [&](const char* key, const auto& value) { json[key] = value; });
    if (member.removed)
        json["removed"] = *member.removed;
    return json;
}

Member member_of(const Json& object)
{
    Member member;
    if (!object.is_object())
        return member;
    each_key_of_member(member, [&](const char* key, auto& value) { read(object, key, value); });
    if (object.contains("removed"))
        read(object, "removed", member.removed.emplace());
    return member;
}

Json to_json(const Stop& stop)
{
    Json json = {{"cause", std::string(to_string(stop.cause))},
                 {"wentDown", stop.went_down},
                 {"timestamp", stop.timestamp}};
    each_key_of_window(stop.window, [&](const char* key, const auto& value) { json[key] = value; });
    if (stop.cause == Stop::Cause::unplug || stop.cause == Stop::Cause::prepare)
        json["lost"] = to_json(stop.lost);
    return json;
}

Json to_json(const Eviction& eviction)
{
    auto json = to_json(eviction.from);
    json["since"] = eviction.since;
    return json;
}

Eviction eviction_of(const Json& object)
{
    Eviction eviction = {member_of(object)};
    read(object, "since", eviction.since);
    return eviction;
}

Stop stop_of(const Json& object)
{
    Stop stop;
    std::string cause;
    read(object, "cause", cause);
    for (const auto known : causes)
        if (to_string(known) == cause)
            stop.cause = known;
    read(object, "wentDown", stop.went_down);
    read(object, "timestamp", stop.timestamp);
    each_key_of_window(stop.window,
                       [&](const char* key, auto& value) { read(object, key, value); });
    if (const auto lost = object.find("lost"); lost != object.end())
        stop.lost = member_of(*lost);
    return stop;
}

} // namespace

std::string format_record(const std::string& unit, const UnitRecord& record)
{
    const auto& memory = record.memory;
    Json json = {{"unit", unit}, {"members", Json::array()}};
    each_key_of_memory(memory, [&](const char* key, const auto& value) { json[key] = value; });
    if (memory.stop)
        json["stop"] = to_json(*memory.stop);
    if (memory.eviction)
        json["evictedFrom"] = to_json(*memory.eviction);
    for (const auto& member : record.members)
        json["members"].push_back(to_json(member));
    return format_versioned(std::move(json), version);
}

Result<UnitRecord> parse_record(std::string_view text)
{
    const auto json = parse_versioned(text, version);
    if (!json)
        return tl::unexpected<Error>(json.error());
    UnitRecord record;
    auto& memory = record.memory;
    each_key_of_memory(memory, [&](const char* key, auto& value) { read(*json, key, value); });
    if (const auto stop = json->find("stop"); stop != json->end() && stop->is_object())
        memory.stop = stop_of(*stop);
    if (const auto from = json->find("evictedFrom"); from != json->end() && from->is_object())
        memory.eviction = eviction_of(*from);
    if (const auto members = json->find("members"); members != json->end() && members->is_array())
        std::transform(members->begin(), members->end(), std::back_inserter(record.members),
                       member_of);
    return record;
}

std::string UnitRecords::path(const std::string& unit) const
{
    return directory_ + "/" + unit;
}

Result<UnitRecord> UnitRecords::read(const std::string& unit) const
{
    const auto text = read_file(path(unit), max_size);
    if (!text && text.error().code == ENOENT)
        return UnitRecord();
    if (!text)
        return tl::unexpected<Error>(text.error());
    auto record = parse_record(*text);
    if (!record)
        return std::move(record).error().while_doing(path(unit));
    return record;
}

std::vector<std::string> UnitRecords::names() const
{
    auto names = names_in(directory_);
    std::erase_if(names, [](const std::string& name) { return name.starts_with('.'); });
    return names;
}

Result<void> UnitRecords::write(const std::string& unit, const UnitRecord& record) const
{
    return write_record(directory_, unit, format_record(unit, record));
}

void UnitRecords::remove(const std::string& unit) const
{
    unlink(path(unit).c_str());
}

} // namespace rdmad
