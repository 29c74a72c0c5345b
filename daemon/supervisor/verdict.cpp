// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/supervisor/verdict.hpp"

#include <algorithm>

namespace rdmad {

namespace {

using config::Require;

// A daemon whose device goes may fail of that before udev knows that it went
constexpr uint64_t failure_slack = 5'000'000;
// by then PID 1 has reported a run that is over
constexpr uint64_t telling_time = 300'000'000;

bool was_used(const Loss& loss)
{
    return !loss.member.is_unused;
}

/// Returns CLOCK_MONOTONIC; 0 if nobody knows.
uint64_t removed(const Loss& loss)
{
    return loss.member.removed.value_or(0);
}

/// Returns true if the unit cannot run without the ports that went of those it ran with.
bool is_broken(const Group& group)
{
    const auto& lost = group.lost;
    return std::any_of(lost.begin(), lost.end(), was_used) &&
           (group.require == Require::all || !group.has_kept);
}

/// Returns true if the unit did not do what it was to do, for which a loss may be the reason.
bool is_failure(Stop::Cause cause)
{
    return cause == Stop::Cause::failure || cause == Stop::Cause::dependency ||
           cause == Stop::Cause::condition;
}

/// Returns until when a loss may have been the reason for a stop.
uint64_t last_loss(const Stop& stop)
{
    return stop.went_down + (is_failure(stop.cause) ? failure_slack : 0);
}

bool is_late(const Stop& stop, const Loss& loss)
{
    return removed(loss) > last_loss(stop);
}

/// Returns true if the loss may have been the reason for the stop. What the unit was not seen to
/// run with has to go within a run that was not seen.
bool may_have_caused(const Stop& stop, const Loss& loss)
{
    const auto& window = stop.window;
    const auto used_since = loss.member.anchor.empty() ? window.used_since : window.tied_since;
    const auto first = was_used(loss) ? used_since : window.unused_since;
    return removed(loss) == 0 || (removed(loss) >= first && !is_late(stop, loss));
}

/// Returns the loss that stopped the unit, if one did: where one port would do, all had to go.
const Loss* culprit(const std::vector<Group>& groups, const Stop& stop)
{
    for (const auto& group : groups) {
        const auto& lost = group.lost;
        const auto found = std::find_if(lost.begin(), lost.end(), [&](const Loss& loss) {
            return may_have_caused(stop, loss);
        });
        if (found == lost.end())
            continue;
        const bool has_other =
            group.has_tied || std::any_of(lost.begin(), lost.end(), [&](const Loss& loss) {
                return loss.was_tied && is_late(stop, loss);
            });
        if (group.require == Require::all || !has_other)
            return &*found;
    }
    return nullptr;
}

void blame_loss(Stop& stop, const std::vector<Group>& groups)
{
    if (const auto* loss = culprit(groups, stop)) {
        stop.cause = Stop::Cause::unplug;
        stop.lost = loss->member;
    }
}

bool is_of(const Loss& loss, const Member& member)
{
    return loss.member.index == member.index && loss.member.port == member.port;
}

bool is_lost(const std::vector<Group>& groups, const Member& member)
{
    return std::any_of(groups.begin(), groups.end(), [&](const Group& group) {
        return std::any_of(group.lost.begin(), group.lost.end(),
                           [&](const Loss& loss) { return is_of(loss, member); });
    });
}

/// Returns why a start came to nothing, by the result of its job.
Stop::Cause cause_of(const std::string& job_result)
{
    if (job_result == "canceled")
        return Stop::Cause::other;
    if (job_result == "dependency")
        return Stop::Cause::dependency;
    // PID 1 calls a start done that it skipped as a condition was not met (unit_start() returns
    // ECOMM, systemd 252 to 257); what it calls skipped are other jobs than starts
    return job_result == "done" ? Stop::Cause::condition : Stop::Cause::failure;
}

Stop stop_of(const Memory& memory, const Situation& situation, bool has_run)
{
    // a start that came to nothing left no trace in the unit, and PID 1 may have forgotten it
    const bool is_told = has_run && situation.unit.inactive_exit != 0;
    const auto went_down = is_told ? situation.unit.went_down() : situation.now_monotonic;
    const auto cause_of_run =
        situation.unit.active_state == "failed" ? Stop::Cause::failure : Stop::Cause::other;
    Stop stop = {.cause = has_run ? cause_of_run : cause_of(situation.job_result),
                 .went_down = went_down,
                 .timestamp = situation.now};
    if (memory.eviction && went_down >= memory.eviction->since) {
        stop.lost = memory.eviction->from;
        stop.cause =
            is_lost(situation.groups, stop.lost) ? Stop::Cause::unplug : Stop::Cause::prepare;
        return stop;
    }
    // what went before a run did not end it, unless the run began too late
    const auto run_began = situation.unit.inactive_exit;
    const auto since = memory.is_asked ? 0 : run_began;
    // PID 1 may restart what failed of its port before it hears that the port went
    const auto slack = memory.was_up ? std::min(since, failure_slack) : 0;
    stop.window = {.used_since = since,
                   .tied_since = since - slack,
                   .unused_since = has_run ? run_began : situation.now_monotonic};
    blame_loss(stop, situation.groups);
    return stop;
}

void note_up(Memory& memory, const Situation& situation)
{
    const auto& unit = situation.unit;
    // whether a run began after a stop that is under way, a later report tells: PID 1 may restart
    // a service by itself before it
    const bool is_undecided = memory.eviction && situation.is_stop_coming;
    const bool is_new_run = memory.began != unit.inactive_exit && !is_undecided;
    const bool is_spared = !unit.has_job && !is_undecided;
    if (is_new_run || is_spared)
        memory.eviction.reset();
    // whoever started it again before rdmad saw it stop, it was not rdmad
    if (is_new_run)
        memory.is_asked = memory.is_asked && !memory.was_up;
    memory.was_up = true;
    memory.is_wanted = true;
    if (!is_undecided)
        memory.began = unit.inactive_exit;
    memory.stop.reset();
    if (!unit.file_state.empty())
        memory.file_state = unit.file_state;
}

void note_stop(Memory& memory, const Situation& situation, bool has_run)
{
    memory.stop = stop_of(memory, situation, has_run);
    memory.is_wanted =
        memory.stop->cause == Stop::Cause::unplug || memory.stop->cause == Stop::Cause::prepare;
    memory.is_asked = memory.is_asked && has_run && situation.is_start_coming;
    memory.eviction.reset();
}

/// Judges a stop once, but a failure each time: the loss that caused it may be known later.
void note_down(Memory& memory, const Situation& situation)
{
    // A PID 1 that does not know of the run is a new one, after a soft-reboot: as at first sight.
    // Otherwise the keeper makes it remember.
    if (memory.was_up && situation.unit.inactive_exit == 0 &&
        std::none_of(situation.groups.begin(), situation.groups.end(), is_broken))
        memory = {};
    const auto& unit = situation.unit;
    if (!memory.is_known)
        // one that has run before anybody bound it was stopped by somebody
        memory.is_wanted = unit.inactive_exit == 0;
    else if (memory.was_up || ran_unseen(memory, unit))
        note_stop(memory, situation, true);
    else if (memory.is_asked && !situation.job_result.empty())
        note_stop(memory, situation, false);
    else if (memory.stop && is_failure(memory.stop->cause)) {
        blame_loss(*memory.stop, situation.groups);
        memory.is_wanted = memory.stop->cause == Stop::Cause::unplug;
    }
    memory.was_up = false;
    if (unit.is_down() && !unit.has_job && !situation.is_stop_coming)
        memory.eviction.reset();
    if (unit.inactive_exit != 0)
        memory.began = unit.inactive_exit;
}

/// Returns the reason for a wait: a port that is there may lack the node that the unit opens.
std::string waits_for(const Group& group, const std::string& port)
{
    const auto node = std::string(to_string(group.node));
    const bool has_each_port = group.node == config::BindingNode::uverbs;
    return "waits for " + (has_each_port ? port : "the " + node + " node of " + port);
}

/// Returns true if the unit ran with it, as far as known: an unseen run may have ended with it.
bool ran_with(const Loss& loss, const Memory& memory)
{
    const auto& stop = memory.stop;
    return was_used(loss) ||
           (stop && stop->cause == Stop::Cause::unplug && removed(loss) >= memory.began &&
            removed(loss) <= stop->went_down + failure_slack);
}

std::string missing_of(const Group& group, const Memory& memory)
{
    const auto missing = std::find_if(group.lost.begin(), group.lost.end(), [&](const Loss& loss) {
        return ran_with(loss, memory) && !loss.is_over;
    });
    if (group.require == Require::all && missing != group.lost.end())
        return "waits for the return of " + describe(missing->member);
    if (group.require == Require::all && !group.expected.empty())
        return waits_for(group, "port " + group.expected.front());
    return group.present.empty() ? waits_for(group, "a port that matches") : "";
}

Obstacle unready_of(const Group& group)
{
    const auto is_ready = [](const Member& member) {
        return member.is_ready && member.obstacle.reason.empty();
    };
    const bool suffices = group.require == Require::any
                              ? std::any_of(group.present.begin(), group.present.end(), is_ready)
                              : std::all_of(group.present.begin(), group.present.end(), is_ready);
    if (suffices)
        return {};
    const auto first = std::find_if_not(group.present.begin(), group.present.end(), is_ready);
    const auto& obstacle = first->obstacle;
    const bool waits_for_end =
        std::any_of(group.present.begin(), group.present.end(),
                    [](const Member& member) { return member.obstacle.waits_for_end; });
    if (!obstacle.reason.empty())
        return {"waits: " + obstacle.reason, obstacle.passes, waits_for_end};
    return {"waits until " + describe(*first) + " can be used", true, waits_for_end};
}

std::string why_unwanted(const Memory& memory)
{
    if (!memory.stop)
        return "it was stopped before it was bound";
    switch (memory.stop->cause) {
    case Stop::Cause::failure:
        return "it failed";
    case Stop::Cause::dependency:
        return "a unit that it requires could not start";
    case Stop::Cause::condition:
        return "its condition was not met";
    default:
        return "it was stopped, or ended by itself";
    }
}

/// Returns why rdmad leaves a unit that is down alone until somebody changes that, or nothing.
std::string why_left_alone(const Memory& memory, const Situation& situation)
{
    if (!memory.is_wanted)
        return why_unwanted(memory);
    const auto& unit = situation.unit;
    if (unit.load_state == "masked")
        return "it is masked";
    if (unit.load_state != "loaded")
        return "systemd cannot load it: " + unit.load_state;
    if (unit.file_state == "disabled" && !memory.file_state.empty() &&
        memory.file_state != "disabled")
        return "it was disabled since it ran";
    const bool is_for_others =
        std::any_of(situation.groups.begin(), situation.groups.end(),
                    [](const Group& group) { return group.restart == config::Restart::no; });
    return is_for_others ? "Restart=no" : "";
}

/// Returns what a unit that is down waits for.
Obstacle obstacle_of(const Memory& memory, const Situation& situation)
{
    for (const auto& group : situation.groups) {
        if (auto missing = missing_of(group, memory); !missing.empty())
            return {std::move(missing)};
        if (auto unready = unready_of(group); !unready.reason.empty())
            return unready;
        if (!group.is_anchored)
            return {"is being tied to its ports", true};
    }
    return {situation.groups.empty() ? "is not bound" : ""};
}

/// Returns true if others started a unit that is up: the start that rdmad requested failed.
bool is_by_others(const Situation& situation)
{
    const auto& result = situation.job_result;
    return !situation.unit.has_job &&
           (result == "canceled" || result == "dependency" || result == "refused");
}

/// Returns the port that went during the start that rdmad requested.
std::optional<Member> overtaken_by(const Memory& memory, const Situation& situation)
{
    const auto& groups = situation.groups;
    const auto broken = std::find_if(groups.begin(), groups.end(), is_broken);
    if (!memory.is_asked || broken == groups.end() || is_by_others(situation))
        return std::nullopt;
    return std::find_if(broken->lost.begin(), broken->lost.end(), was_used)->member;
}

/// Returns false if PID 1 keeps the unit when it hears of what went.
bool may_end(const std::vector<Group>& groups)
{
    const auto has_lost = [](const Group& group) { return !group.lost.empty(); };
    // what went before an administrator started the unit is on record no more
    return std::none_of(groups.begin(), groups.end(), has_lost) ||
           std::any_of(groups.begin(), groups.end(), [&](const Group& group) {
               return has_lost(group) && (group.require == Require::all || !group.has_tied);
           });
}

/// Judges a unit that is up. One that is to stop for a port that went before it was tied stays so
/// until it has, though the port is back: PID 1 may be slower.
Verdict judge_up(Memory memory, const Situation& situation)
{
    note_up(memory, situation);
    const auto gone = overtaken_by(memory, situation);
    const bool is_told = memory.eviction.has_value();
    if (gone && !is_told) {
        memory.eviction = eviction_at(situation.unit, *gone, situation.now_monotonic);
        return {std::move(memory), Action::stop, "started as its port went", true};
    }
    // a stop may be in PID 1's queue, for a port that went before another was tied
    const bool may_stop = situation.is_behind && situation.unit.has_job;
    memory.is_asked = memory.is_asked && (is_told || may_stop);
    const bool is_coming = situation.unit.is_starting() || memory.is_asked ||
                           (situation.is_behind && may_end(situation.groups));
    return {std::move(memory), Action::none, "runs", is_coming};
}

Verdict judge_down(Memory memory, const Situation& situation)
{
    if (const auto why = why_left_alone(memory, situation); !why.empty())
        return {
            .memory = std::move(memory), .reason = "is left alone: " + why, .is_left_alone = true};
    if (auto why_not = obstacle_of(memory, situation); !why_not.reason.empty())
        return {.memory = std::move(memory),
                .reason = std::move(why_not.reason),
                .is_coming = why_not.passes,
                .waits_for_end = why_not.waits_for_end};
    const bool is_stopping = situation.unit.active_state == "deactivating";
    // a job of a unit that is down is most likely a start by somebody else
    if (memory.is_asked || (situation.unit.has_job && !is_stopping))
        return {std::move(memory), Action::none, "is being started", true};
    // it would be stopped again, or its start cancelled
    if (situation.is_behind)
        return {.memory = std::move(memory),
                .reason = "waits until systemd has heard that its port went",
                .is_coming = true,
                .waits_for_end = true};
    memory.is_asked = true;
    return {std::move(memory), Action::start,
            is_stopping ? "starts as soon as it has stopped" : "is being started", true};
}

/// Returns true if the unit runs with another port, or is started with one, and nobody has to ask
/// any more what it ran with before.
bool is_made_up_for(const Group& group, const Loss& loss, Action action)
{
    return group.require == Require::any && (group.has_tied || action == Action::start) &&
           !loss.may_be_held;
}

auto find_appearance(std::vector<Member>& members, const Member& wanted)
{
    return std::find_if(members.begin(), members.end(),
                        [&](const Member& member) { return member.is_same_appearance(wanted); });
}

/// Forgets what went so long ago that it ended no run of which nothing is known yet.
std::vector<Member> members_of_down(std::vector<Member> members, const Memory& memory,
                                    const Situation& situation)
{
    for (const auto& group : situation.groups) {
        for (const auto& loss : group.lost) {
            const auto known = find_appearance(members, loss.member);
            if (known == members.end() || !known->is_unused)
                continue;
            known->is_unused = !ran_with(loss, memory);
            if (known->is_unused && removed(loss) + telling_time < situation.now_monotonic)
                members.erase(known);
        }
        for (const auto& present : group.present) {
            const auto known = find_appearance(members, present);
            const bool is_unused = known == members.end() || known->is_unused;
            auto& member = known == members.end() ? members.emplace_back() : *known;
            member = present;
            member.is_unused = is_unused;
        }
    }
    return members;
}

} // namespace

bool ran_unseen(const Memory& memory, const systemd::UnitState& unit)
{
    // 0: PID 1 has forgotten the unit, which tells nothing
    return unit.inactive_exit != 0 && unit.inactive_exit != memory.began;
}

Eviction eviction_at(const systemd::UnitState& unit, const Member& from, uint64_t time)
{
    // restarted without having been inactive (RestartMode=direct): if it is stopped before it is
    // active again, PID 1 notes no other time at which it went down
    const bool is_same_run = unit.active_exit >= unit.inactive_exit;
    return {from, is_same_run ? 0 : time};
}

Verdict judge(Memory memory, const Situation& situation)
{
    if (situation.unit.is_up()) {
        memory.is_known = true;
        return judge_up(std::move(memory), situation);
    }
    note_down(memory, situation);
    memory.is_known = true;
    auto verdict = judge_down(std::move(memory), situation);
    // a start takes back a stop that is under way
    if (verdict.action == Action::start)
        verdict.memory.eviction.reset();
    return verdict;
}

std::vector<Member> members_after(const std::vector<Member>& before, bool was_up,
                                  const Verdict& verdict, const Situation& situation)
{
    const auto& groups = situation.groups;
    const bool is_up = verdict.memory.was_up;
    if (!is_up && verdict.action != Action::start)
        return members_of_down(before, verdict.memory, situation);
    // PID 1 may be about to stop it for a loss, whatever else came: that is judged when it has
    if (is_up && (was_up || verdict.memory.is_asked) && situation.is_behind)
        return before;
    const bool keeps_lost = is_up && was_up;
    std::vector<Member> members;
    for (const auto& group : groups) {
        members.insert(members.end(), group.present.begin(), group.present.end());
        for (const auto& loss : group.lost) {
            const bool is_evicted =
                verdict.memory.eviction && is_of(loss, verdict.memory.eviction->from);
            const bool is_settled = (loss.is_over || is_made_up_for(group, loss, verdict.action)) &&
                                    !is_evicted && (!is_up || group.has_kept);
            // a run that rdmad sees late may have had it
            const bool began_with = removed(loss) != 0 && removed(loss) >= verdict.memory.began;
            if (is_settled || !(keeps_lost || !is_up || began_with ||
                                verdict.action == Action::stop || is_evicted))
                continue;
            members.push_back(loss.member);
            members.back().is_unused = loss.member.is_unused && !(is_up && began_with);
        }
    }
    return members;
}

std::string_view to_string(Stop::Cause cause)
{
    switch (cause) {
    case Stop::Cause::unplug:
        return "unplug";
    case Stop::Cause::prepare:
        return "prepare";
    case Stop::Cause::failure:
        return "failure";
    case Stop::Cause::dependency:
        return "dependency";
    case Stop::Cause::condition:
        return "condition";
    case Stop::Cause::other:
        break;
    }
    return "other";
}

} // namespace rdmad
