// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/lifecycle/tell.hpp"

#include "core/base/text.hpp"
#include "daemon/log.hpp"

namespace rdmad::lifecycle {

namespace {

log::Fields fields_of(const History& history, const Change& change)
{
    const auto& life = history.life;
    return {{log::field::device, history.name},
            {log::field::index, std::to_string(life.index)},
            {log::field::node_guid, text::format_guid(history.node_guid)},
            {log::field::path, history.path},
            {log::field::cause, std::string(to_string(life.cause))},
            {log::field::state, std::string(to_string(change.now))},
            {log::field::old_state, std::string(to_string(change.before))},
            {log::field::returns, std::to_string(life.returns.size())}};
}

/// Returns "2.3 s".
std::string seconds(Time span)
{
    const auto tenths = span / (second / 10);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

std::string why(const Life& life)
{
    return life.cause == Cause::unknown ? "nobody knows why" : std::string(to_string(life.cause));
}

std::string return_text(const History& history)
{
    const auto& life = history.life;
    const auto after = history.name + " is back after " + seconds(life.appeared - life.went);
    switch (life.cause) {
    case Cause::replaced:
        return after + ": another device in its place";
    case Cause::moved:
        return after + " in another place";
    case Cause::netns_move:
        return after + " in another network namespace";
    default:
        return after;
    }
}

/// Logs the holders; each unit among them shows that in its own journal.
void tell_holders(const History& history, log::Fields fields)
{
    if (!history.holders)
        return;
    const auto& holders = *history.holders;
    if (holders.empty())
        return log::warning(log::id::device_holders,
                            history.name +
                                " is in use by a part of the kernel, or by mapped memory: no "
                                "process has its nodes open",
                            fields);
    fields.push_back({log::field::holders, describe(holders)});
    for (const auto& unit : units_of(holders))
        fields.push_back({log::field::unit, unit});
    log::warning(log::id::device_holders, history.name + " is in use by " + describe(holders),
                 fields);
}

void tell_state(const History& history, const Change& change)
{
    if (change.now == State::returned)
        log::notice(log::id::device_returned, return_text(history), fields_of(history, change));
    else if (change.now == State::lost && change.before == State::grace)
        log::info(log::id::device_lost, history.name + " has not come back",
                  fields_of(history, change));
}

} // namespace

void tell(const History& history, const Change& change)
{
    const auto& life = history.life;
    const auto fields = fields_of(history, change);
    switch (change.kind) {
    case Change::Kind::state:
        return tell_state(history, change);
    case Change::Kind::went:
        return log::notice(log::id::device_went, history.name + " went: " + why(life), fields);
    case Change::Kind::explained:
        return log::notice(log::id::device_went,
                           history.name + " had gone for another reason: " + why(life), fields);
    case Change::Kind::degraded:
        return log::warning(log::id::device_degraded,
                            history.name + " is degraded: none of its ports can be used", fields);
    case Change::Kind::blocked:
        return log::warning(log::id::device_blocked,
                            history.name + " cannot be removed: it is in use", fields);
    case Change::Kind::held:
        return log::warning(log::id::device_held,
                            history.name + " came back " + std::to_string(life.returns.size()) +
                                " times in a short while: what is bound to it is not started "
                                "before it has stayed " +
                                seconds(*life.held_until - life.active),
                            fields);
    case Change::Kind::released:
        return log::notice(log::id::device_released, history.name + " is held no longer", fields);
    case Change::Kind::accepted:
        return log::notice(log::id::device_accepted,
                           history.name + " is accepted in place of another device", fields);
    case Change::Kind::holders:
        return tell_holders(history, fields);
    }
}

} // namespace rdmad::lifecycle
