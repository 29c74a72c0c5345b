// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/lifecycle/history_file.hpp"

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "daemon/record.hpp"

#include <cerrno>
#include <unistd.h>

namespace rdmad::lifecycle {

namespace {

using Json = nlohmann::json;

constexpr int version = 1;
// more than any window can hold
constexpr size_t max_returns = 1024;

/// Reads an enumeration by the names of its values.
template <typename Enum>
void read_name(const Json& object, const char* key, Enum last, Enum& target)
{
    std::string name;
    read(object, key, name);
    for (int i = 0; i <= static_cast<int>(last); i++)
        if (to_string(static_cast<Enum>(i)) == name)
            target = static_cast<Enum>(i);
}

void read_returns(const Json& object, std::vector<Time>& returns)
{
    const auto found = object.find("returns");
    if (found == object.end() || !found->is_array() || found->size() > max_returns)
        return;
    for (const auto& time : *found)
        if (time.is_number_unsigned())
            returns.push_back(time.get<Time>());
}

/// Visits each key that is stored as it is; one list for both ways.
template <typename History, typename Visit>
void each_key(History& history, Visit visit)
{
    visit("id", history.id);
    visit("path", history.path);
    visit("name", history.name);
    visit("syspath", history.place.syspath);
    visit("driver", history.place.driver);
    visit("hardware", history.place.hardware);
    auto& life = history.life;
    visit("since", life.since);
    visit("index", life.index);
    visit("appeared", life.appeared);
    visit("active", life.active);
    visit("went", life.went);
    visit("hasPorts", life.has_ports);
    visit("isRecovering", life.is_recovering);
    visit("isDegraded", life.is_degraded);
    visit("isBlocked", life.is_blocked);
    visit("isAccepted", life.is_accepted);
    visit("isPrepared", life.is_prepared);
    visit("isJudged", life.is_judged);
    visit("holds", life.holds);
}

} // namespace

std::string format_history(const History& history)
{
    const auto& life = history.life;
    Json json = {{"nodeGuid", text::format_guid(history.node_guid)},
                 {"state", std::string(to_string(life.state))},
                 {"cause", std::string(to_string(life.cause))},
                 {"nodes", history.nodes},
                 {"returns", life.returns}};
    each_key(history, [&](const char* key, const auto& value) { json[key] = value; });
    if (life.held_until)
        json["heldUntil"] = *life.held_until;
    return format_versioned(std::move(json), version);
}

Result<History> parse_history(std::string_view text)
{
    const auto json = parse_versioned(text, version);
    if (!json)
        return tl::unexpected<Error>(json.error());
    History history;
    each_key(history, [&](const char* key, auto& value) { rdmad::read(*json, key, value); });
    std::string guid;
    read(*json, "nodeGuid", guid);
    history.node_guid = text::parse_hex_u64(guid).value_or(0);
    auto& life = history.life;
    read_name(*json, "state", State::lost, life.state);
    read_name(*json, "cause", Cause::netns_move, life.cause);
    Time held_until = 0;
    read(*json, "heldUntil", held_until);
    if (held_until != 0)
        life.held_until = held_until;
    read_returns(*json, life.returns);
    read_list(*json, "nodes", history.nodes);
    return history;
}

Histories::Read Histories::read() const
{
    Read all;
    for (const auto& name : names_in(directory_)) {
        const auto id = text::parse_u32(name);
        if (!id)
            continue;
        const auto path = directory_ + "/" + name;
        const auto text = read_file(path);
        auto history = text ? parse_history(*text) : tl::unexpected<Error>(text.error());
        if (history && history->id == *id)
            all.histories.push_back(std::move(*history));
        else
            all.problems.push_back(
                {history ? EBADMSG : history.error().code,
                 path + ": " + (history ? "of another device" : history.error().context)});
    }
    return all;
}

Result<void> Histories::write(const History& history) const
{
    return write_record(directory_, std::to_string(history.id), format_history(history));
}

void Histories::remove(uint32_t id) const
{
    (void)unlink((directory_ + "/" + std::to_string(id)).c_str());
}

} // namespace rdmad::lifecycle
