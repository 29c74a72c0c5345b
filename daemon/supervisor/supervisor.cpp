// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/supervisor/supervisor.hpp"

#include "core/config/specifiers.hpp"
#include "daemon/supervisor/fields.hpp"

#include <algorithm>
#include <utility>

namespace rdmad {

namespace {

// requested of one unit for one preparation
constexpr int max_stops = 3;

bool is_grouped(const std::string& anchor)
{
    const auto parts = systemd::parse_anchor_name(anchor);
    return parts && !parts->group.empty();
}

bool has_specifier(const std::string& unit)
{
    return unit.find('%') != std::string::npos;
}

} // namespace

Supervisor::Supervisor(const Inventory& inventory, const Bindings& bindings, config::Facts host,
                       Paths paths, Events events, Clock clock)
    : inventory_(inventory),
      bindings_(bindings),
      host_(std::move(host)),
      records_(std::move(paths.units)),
      departures_(Removals(std::move(paths.removals))),
      anchors_(inventory, bindings, departures_,
               {.on_changed =
                    [this](const std::string& unit) {
                        mark(unit);
                        events_.on_work();
                    },
                .on_known = [this](const auto& existing) { on_anchors(existing); },
                .on_failed = [this] { events_.on_work(); },
                .on_ended = [this](const std::string& unit) { manager_->refresh(unit); }}),
      events_(std::move(events)),
      clock_(std::move(clock)),
      sweep_due_(departures_.expected())
{
}

// -- what is bound to what ------------------------------------------------------------------------

void Supervisor::use(systemd::Orders* manager)
{
    manager_ = manager;
    anchors_.use(manager);
    for (const auto& [name, unit] : units_)
        manager_->watch(name);
}

void Supervisor::on_device(const DeviceChange& change)
{
    const auto& device = change.device;
    const bool is_gone = change.kind == DeviceChange::Kind::removed;
    // udev notes when any of its nodes goes, whether a unit is tied to that or not
    sweep_due_.insert(device.index);
    claim(device.index,
          is_gone ? std::vector<Claim>() : claims_of(bindings_.files(), device, host_),
          change.kind == DeviceChange::Kind::renamed);
}

void Supervisor::on_obstacle(uint32_t index)
{
    const auto claims = claims_.find(index);
    if (claims == claims_.end())
        return;
    for (const auto& claim : claims->second)
        mark(claim.unit);
    events_.on_work();
}

void Supervisor::claim(uint32_t index, std::vector<Claim> claims, bool is_renamed)
{
    const auto known = claims_.find(index);
    const auto before = known == claims_.end() ? std::vector<Claim>() : known->second;
    if (claims == before)
        return;
    for (const auto& [unit, member] : before) {
        const auto found = units_.find(unit);
        if (found == units_.end())
            continue;
        found->second.present.erase({member.binding, member.index, member.port});
        if (inventory_.has_node(member.node_id()))
            continue;
        departures_.see(member.node_id(), clock_(CLOCK_MONOTONIC));
        // an earlier rdmad may have tied the unit to it, and ended before it recorded that
        if (!anchors_.is_known())
            add_unused(unit, found->second, member);
        // before what came after it is tied
        note_departures(unit, found->second);
        anchors_.forget_gone(unit);
        expect_end(unit, found->second);
    }
    for (const auto& [unit, member] : claims)
        bind(unit, member.binding)
            .present.insert_or_assign({member.binding, member.index, member.port}, member);
    for (const auto& list : {before, claims})
        for (const auto& [unit, member] : list)
            mark(unit);
    const auto is_claimed = [&](const std::string& unit, const std::string& binding) {
        return std::any_of(claims.begin(), claims.end(), [&](const Claim& claim) {
            return claim.unit == unit && claim.member.binding == binding;
        });
    };
    for (const auto& [unit, member] : before)
        if (!is_claimed(unit, member.binding) && inventory_.has_node(member.node_id()))
            release(unit, member.binding, is_renamed);
    if (claims.empty())
        claims_.erase(index);
    else
        claims_[index] = std::move(claims);
    events_.on_work();
}

/// Unbinds a unit that is named by its port, as the port does not match any more. A unit called
/// after the old name of the device would serve the port beside the new one: it is marked.
void Supervisor::release(const std::string& unit, const std::string& binding, bool is_renamed)
{
    const auto found = units_.find(unit);
    const auto* file = bindings_.find(binding);
    const bool is_fixed =
        file && std::find(file->units.begin(), file->units.end(), unit) != file->units.end();
    if (found == units_.end() || is_fixed)
        return;
    // another port may call for the same instance
    const auto& present = found->second.present;
    if (std::any_of(present.begin(), present.end(),
                    [&](const auto& entry) { return entry.second.binding == binding; }))
        return;
    found->second.bindings.erase(binding);
    found->second.is_misnamed = is_renamed;
    mark(unit);
}

BoundUnit& Supervisor::bind(const std::string& unit, const std::string& binding)
{
    const auto [found, is_new] = units_.try_emplace(unit);
    found->second.bindings.insert(binding);
    if (!is_new)
        return found->second;
    found->second.record = read_record(unit);
    if (manager_)
        manager_->watch(unit);
    return found->second;
}

UnitRecord Supervisor::read_record(const std::string& unit) const
{
    auto record = records_.read(unit);
    if (!record)
        log::warning(log::id::device_trouble, record.error().message() + ": taken as none",
                     {{log::field::unit, unit}});
    return record.value_or(UnitRecord());
}

/// Binds the units that the files name outright, before a port is there.
void Supervisor::bind_fixed_units()
{
    for (const auto& file : bindings_.files())
        for (const auto& unit : file.units)
            if (file.problems.empty() && !has_specifier(unit))
                bind(unit, file.name);
}

/// Binds an instance whose port is away by its record, as long as the file still names it. Releases
/// one whose device was renamed while rdmad did not run.
void Supervisor::bind_remembered_instances()
{
    for (const auto& name : records_.names()) {
        const auto known = units_.find(name);
        const auto record = known == units_.end() ? read_record(name) : known->second.record;
        for (const auto& member : record.members) {
            const auto* file = bindings_.find(member.binding);
            if (!file || !file->problems.empty() ||
                std::none_of(file->units.begin(), file->units.end(),
                             [&](const auto& unit) { return config::could_become(unit, name); }))
                continue;
            const bool is_there = inventory_.has_node({member.index, member.node});
            if (is_there && units_.contains(name))
                continue;
            bind(name, member.binding);
            if (is_there)
                release(name, member.binding,
                        inventory_.devices().at(member.index).name != member.device);
        }
    }
}

void Supervisor::on_bindings()
{
    for (auto& [name, unit] : units_) {
        unit.bindings.clear();
        unit.present.clear();
        mark(name);
    }
    claims_.clear();
    bind_fixed_units();
    for (const auto& [index, device] : inventory_.devices())
        claim(index, claims_of(bindings_.files(), device, host_), false);
    bind_remembered_instances();
    events_.on_work();
}

void Supervisor::mark(const std::string& unit)
{
    dirty_.insert(unit);
}

/// Expects PID 1 to stop the units whose nodes went, if it has not: it may hear of that later.
void Supervisor::on_anchors(const systemd::Orders::Anchors& existing)
{
    const auto stands = [&](const std::string& anchor) {
        const auto listed = existing.find(anchor);
        return listed != existing.end() && listed->second != systemd::Orders::AnchorState::stopping;
    };
    for (auto& [name, unit] : units_) {
        // an anchor that came up as an earlier rdmad ended is in no record
        const auto anchor_of = [&, &name = name](const Member& member) {
            return member.anchor.empty() ? anchors_.name(name, member) : member.anchor;
        };
        note_departures(name, unit);
        for (const auto& member : unit.record.members) {
            const auto anchor = anchor_of(member);
            if (is_unknown(member) || !member.removed)
                continue;
            // PID 1 has yet to hear, or the unit gets its job only after the anchor's has run
            const bool is_ahead =
                stands(anchor) || (existing.contains(anchor) && is_grouped(anchor));
            if (is_ahead)
                anchors_.expect_end(name, anchor, member.syspath);
            else if (!stands(anchor) && (!unit.state || unit.state->is_up()))
                // PID 1 may have heard, and have the unit's stop in its queue: it is asked
                unit.is_behind = true;
        }
        if (unit.is_behind || anchors_.is_ending(name))
            expect_end(name, unit);
        mark(name);
    }
    events_.on_work();
}

/// Expects PID 1 to stop the unit, as one of its nodes went: it may hear of that later than rdmad.
/// Until then the unit's state does not show what it runs with, and a start would be in vain.
void Supervisor::expect_end(const std::string& name, BoundUnit& unit)
{
    unit.is_behind = manager_ != nullptr;
    if (manager_ && !anchors_.is_ending(name))
        manager_->refresh(name);
}

/// Releases a unit that no file binds; it keeps running, and its record for a later binding.
void Supervisor::prune(const std::string& unit)
{
    const auto found = units_.find(unit);
    if (found == units_.end() || !found->second.bindings.empty())
        return;
    anchors_.release(unit);
    auto record = found->second.record;
    record.members.clear();
    remember(unit, found->second, std::move(record));
    // an outdated one would tell a later binding of a run that has ended, and nobody knows why
    if (found->second.is_unwritten)
        records_.remove(unit);
    manager_->unwatch(unit);
    units_.erase(found);
}

// -- what PID 1 says ------------------------------------------------------------------------------

void Supervisor::on_connected()
{
    for (auto& [name, unit] : units_) {
        // what was reported over an earlier connection may be over
        unit.state.reset();
        manager_->refresh(name);
    }
    anchors_.ask();
}

/// Forgets the jobs that an earlier rdmad or connection requested: nobody knows whether they are on
/// their way, so they are requested once more.
void Supervisor::forget_asked(BoundUnit& unit)
{
    unit.start = unit.stop = {};
    unit.coming_result.clear();
    unit.job_result.clear();
    const auto before = unit.record;
    // a stop that did not get there: whatever is reported next, it was not that
    if (unit.state && unit.state->is_up() && !unit.state->has_job)
        unit.record.memory.eviction.reset();
    // a run that nobody saw was the one: its port may have gone before PID 1 came to start it
    auto& memory = unit.record.memory;
    if (unit.state && !unit.state->is_up() && !ran_unseen(memory, *unit.state))
        memory.is_asked = false;
    unit.is_unwritten = unit.is_unwritten || unit.record != before;
}

void Supervisor::on_unit(const std::string& unit, const systemd::UnitState& state)
{
    const auto found = units_.find(unit);
    if (found == units_.end())
        return;
    const bool is_first = !found->second.state;
    found->second.state = state;
    if (auto result = std::exchange(found->second.coming_result, {}); !result.empty())
        found->second.job_result = std::move(result);
    if (is_first)
        forget_asked(found->second);
    // a unit that any port will do for stops after its anchor has, for its group
    const bool may_stop = anchors_.is_ending(unit) || (state.is_up() && state.has_job);
    found->second.is_behind = found->second.is_behind && may_stop;
    mark(unit);
    events_.on_work();
}

void Supervisor::on_job(const std::string& unit, uint32_t job, const std::string& result)
{
    const auto found = units_.find(unit);
    if (found != units_.end() && found->second.stop.number == job) {
        found->second.stop = {};
        if (result != "done" && found->second.record.memory.eviction)
            spare(unit, found->second, "its stop was " + result);
        manager_->refresh(unit);
    }
    if (found == units_.end() || found->second.start.number != job)
        return;
    found->second.start = {};
    found->second.coming_result = result;
    if (result != "done")
        log::warning(
            log::id::start_failed,
            unit + " was not started: " +
                (result == "dependency" ? "a unit that it requires could not start" : result),
            {{log::field::unit, unit}});
    // a start that was cancelled may have begun: without the state that belongs to it nobody knows
    manager_->refresh(unit);
}

// -- what follows ---------------------------------------------------------------------------------

void Supervisor::settle()
{
    if (!is_connected() || !anchors_.is_known())
        return;
    const auto dirty = std::exchange(dirty_, {});
    stop_misnamed(dirty);
    for (const auto& name : in_order(dirty)) {
        if (const auto found = units_.find(name); found != units_.end()) {
            tie(name, found->second);
            judge_unit(name, found->second);
        }
        prune(name);
    }
    anchors_.drop_foreign();
    sweep_departures();
}

void Supervisor::tie(const std::string& name, BoundUnit& unit)
{
    if (unit.bindings.empty())
        return;
    std::vector<Member> members;
    for (const auto& [key, member] : unit.present)
        members.push_back(member);
    anchors_.tie(name, members);
    for (auto& [key, member] : unit.present)
        member.anchor = anchors_.state(name, member) == Anchors::State::up
                            ? anchors_.name(name, member)
                            : std::string();
}

/// Stops the instances of old names before those of the new names start. The records say that rdmad
/// did so: a device that gets its old name back has its unit started again.
void Supervisor::stop_misnamed(const std::set<std::string>& names)
{
    const auto time = clock_(CLOCK_MONOTONIC);
    for (const auto& name : names) {
        const auto found = units_.find(name);
        if (found == units_.end() || !std::exchange(found->second.is_misnamed, false))
            continue;
        auto record = found->second.record;
        auto& memory = record.memory;
        // or its start was requested, and may have begun
        if ((memory.was_up || memory.is_asked) && !memory.eviction)
            memory.eviction =
                eviction_at(found->second.state.value_or(systemd::UnitState()),
                            record.members.empty() ? Member() : record.members.front(), time);
        remember(name, found->second, std::move(record));
        request_stop(name, found->second);
    }
}

void Supervisor::judge_unit(const std::string& name, BoundUnit& unit)
{
    if (!unit.state || unit.bindings.empty())
        return;
    note_departures(name, unit);
    const auto before = unit.record.memory;
    const Situation situation = {.unit = *unit.state,
                                 .groups = groups_of(name, unit),
                                 .now = clock_(CLOCK_REALTIME),
                                 .now_monotonic = clock_(CLOCK_MONOTONIC),
                                 .job_result = unit.job_result,
                                 .is_start_coming = unit.start.is_coming(),
                                 .is_stop_coming = unit.stop.is_coming() || !is_current(name, unit),
                                 .is_behind = unit.is_behind};
    auto verdict = judge(before, situation);
    if (!verdict.memory.is_asked)
        unit.job_result.clear();
    auto members = members_after(unit.record.members, before.was_up, verdict, situation);
    unit.reason = std::move(verdict.reason);
    unit.is_left_alone = verdict.is_left_alone;
    const bool was_coming = std::exchange(unit.is_coming, verdict.is_coming);
    remember(name, unit, {std::move(verdict.memory), std::move(members)});
    tell(name, unit, before);
    act(name, unit, verdict.action);
    // of its own end a report is on its way when its anchors have ended
    if (verdict.waits_for_end && (!unit.is_behind || anchors_.is_ending(name)))
        anchors_.doubt();
    if (was_coming && !unit.is_coming)
        wake_later_stages(unit);
    events_.on_unit(name, unit);
}

// -- one stage after the other --------------------------------------------------------------------

/// Returns the units in the order of starts: the first are judged first, so that the rest knows
/// whether they come.
std::vector<std::string> Supervisor::in_order(const std::set<std::string>& units) const
{
    std::vector<std::string> ordered(units.begin(), units.end());
    const auto rank = [this](const std::string& name) {
        const auto found = units_.find(name);
        return found == units_.end() ? config::Stage() : stage_of(found->second);
    };
    std::stable_sort(ordered.begin(), ordered.end(),
                     [&](const std::string& a, const std::string& b) { return rank(a) > rank(b); });
    return ordered;
}

/// Returns the first stage that one of its files says.
config::Stage Supervisor::stage_of(const BoundUnit& unit) const
{
    auto stage = config::Stage();
    for (const auto& binding : unit.bindings)
        if (const auto* file = bindings_.find(binding); file)
            stage = std::max(stage, file->stage);
    return stage;
}

/// Returns as obstacle a unit of the same device that is of an earlier stage and comes.
Obstacle Supervisor::earlier_stage(uint32_t index, config::Stage stage) const
{
    const auto claims = claims_.find(index);
    if (claims == claims_.end() || stage >= bindings_.earliest_stage())
        return {};
    for (const auto& claim : claims->second) {
        const auto found = units_.find(claim.unit);
        if (found == units_.end() || stage_of(found->second) <= stage)
            continue;
        if (found->second.is_coming)
            return {.reason =
                        claim.unit + ", of an earlier stage, " +
                        (found->second.is_behind ? "may still have to stop" : "is not up yet"),
                    .passes = true,
                    .waits_for_end = anchors_.is_ending(claim.unit)};
    }
    return {};
}

void Supervisor::wake_later_stages(const BoundUnit& unit)
{
    if (stage_of(unit) == config::Stage::applications)
        return;
    for (const auto& [key, member] : unit.present)
        on_obstacle(member.index);
}

/// Stops a unit. PID 1 may stop others with it, as they require it: of units that are stopped
/// together, the time is that of the first one.
void Supervisor::evict(const std::string& name, BoundUnit& unit, const Member& from, uint64_t time)
{
    auto record = unit.record;
    record.memory.eviction = eviction_at(*unit.state, from, time);
    remember(name, unit, std::move(record));
    request_stop(name, unit);
}

/// Requests a stop, which has to be on record by then.
void Supervisor::request_stop(const std::string& name, BoundUnit& unit)
{
    unit.stop_problem.clear();
    // an earlier one has nothing to say of this
    unit.stop = {.is_sent = true};
    manager_->stop(name, [this, name](const Result<uint32_t>& job) {
        const auto found = units_.find(name);
        if (found != units_.end())
            found->second.stop = {.number = job ? std::optional(*job) : std::nullopt};
        if (!job)
            on_no_stop(name, job.error());
    });
}

/// Handles a stop that PID 1 did not confirm.
void Supervisor::on_no_stop(const std::string& name, const Error& error)
{
    const auto found = units_.find(name);
    if (found == units_.end()) {
        log::warning(log::id::systemd_trouble, name + " was not stopped: " + error.context,
                     {{log::field::unit, name}});
    } else if (systemd::is_lost_on_its_way(error)) {
        found->second.state.reset();
        manager_->refresh(name);
    } else {
        spare(name, found->second, error.context);
    }
}

/// Logs and records that its stop came to nothing.
void Supervisor::spare(const std::string& name, BoundUnit& unit, const std::string& why)
{
    log::warning(log::id::systemd_trouble, name + " was not stopped: " + why,
                 {{log::field::unit, name}});
    unit.stop = {};
    unit.stop_problem = why;
    auto record = unit.record;
    record.memory.eviction = {};
    record.memory.is_asked = false;
    remember(name, unit, std::move(record));
    mark(name);
    events_.on_work();
}

void Supervisor::on_blocked(uint32_t index, const std::set<std::string>& holders)
{
    if (!is_connected())
        return;
    const auto time = clock_(CLOCK_MONOTONIC);
    for (auto& [name, unit] : units_) {
        if (!unit.state || !unit.state->is_up() || unit.record.memory.eviction ||
            !(holders.contains(name) || holders.contains(unit.state->id)))
            continue;
        for (const auto& member : unit.record.members)
            if (const auto* file = bindings_.find(member.binding);
                member.index == index && file && file->on_blocked == config::OnBlocked::stop) {
                log::notice(log::id::stopped_by_unplug,
                            name + " is stopped, as it keeps " + member.device +
                                " from being removed",
                            fields_of(name, member));
                evict(name, unit, Member(member), time);
                break;
            }
    }
}

/// Returns true if PID 1 has reported the unit, and no change since. Without PID 1 the last report
/// is all there is.
bool Supervisor::is_current(const std::string& name, const BoundUnit& unit) const
{
    return unit.state && (!is_connected() || manager_->is_current(name));
}

/// Returns true if it is down, or runs again after its stop with another port, where one will do.
bool Supervisor::is_drained(const std::string& name, const BoundUnit& unit, uint32_t index,
                            bool was_asked) const
{
    if (!is_current(name, unit))
        return false;
    if (unit.state->is_down())
        return !unit.state->has_job && !unit.start.is_coming() && !unit.record.memory.is_asked;
    if (!was_asked || unit.record.memory.eviction || !unit.state->is_up())
        return false;
    return std::all_of(unit.present.begin(), unit.present.end(), [&](const auto& entry) {
        const auto* file = bindings_.find(entry.second.binding);
        const auto has_other = [&](const auto& other) {
            return other.second.index != index && other.second.binding == entry.second.binding;
        };
        return entry.second.index != index ||
               (file && file->require == config::Require::any &&
                std::any_of(unit.present.begin(), unit.present.end(), has_other));
    });
}

/// Stops a unit of the stage that is to stop now. Returns false if it will not stop.
bool Supervisor::stop_for(const std::string& name, BoundUnit& unit, uint32_t index, uint64_t time,
                          int& asked)
{
    // what an earlier stop came to says nothing of this one
    if (asked > 0 && (!unit.stop_problem.empty() || asked == max_stops))
        return false;
    // one that was up is stopped, whatever report is on its way: its times tell who did it
    const bool may_wait = !unit.state || unit.state->active_state == "deactivating" ||
                          (unit.state->is_down() && !is_current(name, unit));
    const auto from = std::find_if(unit.present.begin(), unit.present.end(),
                                   [&](const auto& entry) { return entry.second.index == index; });
    if (unit.record.memory.eviction || may_wait || from == unit.present.end())
        return true;
    asked++;
    evict(name, unit, from->second, time);
    return true;
}

Drained Supervisor::drain(uint32_t index, std::map<std::string, int>& asked)
{
    std::set<std::string> left;
    for (const auto& [port, names] : units_of(index))
        for (const auto& name : names)
            if (!is_drained(name, units_.at(name), index, asked[name] > 0))
                left.insert(name);
    Drained drained = {{left.begin(), left.end()}};
    if (!is_connected() || left.empty())
        return drained;
    const auto ordered = in_order(left);
    const auto last = stage_of(units_.at(ordered.back()));
    const auto time = clock_(CLOCK_MONOTONIC);
    for (const auto& name : ordered) {
        auto& unit = units_.at(name);
        if (stage_of(unit) != last || stop_for(name, unit, index, time, asked[name]))
            continue;
        drained.left = {name};
        drained.problem =
            unit.stop_problem.empty() ? "it is started again and again" : unit.stop_problem;
        break;
    }
    return drained;
}

// -- what is remembered and done ------------------------------------------------------------------

std::vector<Group> Supervisor::groups_of(const std::string& name, const BoundUnit& unit) const
{
    std::vector<Group> groups;
    for (const auto& binding : unit.bindings)
        if (const auto* file = bindings_.find(binding); file)
            groups.push_back(group_of(name, unit, *file));
    return groups;
}

/// Returns true if the device was never seen and the kernel does not describe it.
bool Supervisor::is_unknown(const Member& member) const
{
    return !inventory_.devices().contains(member.index) &&
           inventory_.unanswered().contains(member.index);
}

/// Records a port that the unit may be tied to, unless it is on record.
void Supervisor::add_unused(const std::string& name, BoundUnit& unit, Member member)
{
    auto record = unit.record;
    if (std::any_of(record.members.begin(), record.members.end(),
                    [&](const Member& known) { return known.is_same_appearance(member); }))
        return;
    member.is_unused = true;
    record.members.push_back(std::move(member));
    remember(name, unit, std::move(record));
}

/// Returns true if the node of a member is there. Of one that an earlier rdmad recorded, the note
/// of a removal alone tells whether it was made anew.
bool Supervisor::is_there(const Member& member) const
{
    const auto node = member.node_id();
    return inventory_.has_node(node) && (node.born != 0 || departures_.when(node) == 0);
}

/// Records which members went. One that is there and does not match any more has not gone.
void Supervisor::note_departures(const std::string& name, BoundUnit& unit)
{
    auto record = unit.record;
    for (auto& member : record.members) {
        if (member.removed || is_there(member) || is_unknown(member))
            continue;
        departures_.miss(member.node_id(), clock_(CLOCK_MONOTONIC));
        member.removed = departures_.when(member.node_id());
    }
    remember(name, unit, std::move(record));
}

Group Supervisor::group_of(const std::string& name, const BoundUnit& unit,
                           const config::BindingFile& file) const
{
    Group group = {
        .require = file.require, .restart = file.restart, .node = file.node, .is_anchored = true};
    const auto& binding = file.name;
    for (const auto& [key, member] : unit.present) {
        if (member.binding != binding)
            continue;
        group.present.push_back(member);
        auto& obstacle = group.present.back().obstacle;
        obstacle = events_.obstacle(member.index, file);
        if (obstacle.reason.empty())
            obstacle = earlier_stage(member.index, stage_of(unit));
        // a requested anchor suffices: PID 1 starts the unit after it
        if (anchors_.state(name, member) == Anchors::State::failed)
            group.is_anchored = false;
    }
    // where no GUID is named, an adapter that was put in place of another is as good
    const bool names_ports = !file.match.port_guids().empty();
    const bool is_down = unit.state && !unit.state->is_up();
    const auto is_present = [&](auto same) {
        return std::any_of(group.present.begin(), group.present.end(), same);
    };
    for (const auto& member : unit.record.members) {
        if (member.binding != binding)
            continue;
        // one that came after the start was requested may have been tied when the unit had stopped
        const bool came_late = member.is_unused && unit.record.memory.is_asked;
        const bool is_tied = !member.anchor.empty() && !came_late;
        if (is_present([&](const Member& other) { return member.is_same_appearance(other); })) {
            group.has_kept = true;
            group.has_tied = group.has_tied || is_tied;
        }
        if (!member.removed)
            continue;
        const bool is_back = is_present([&](const Member& other) {
            return member.is_same_port(other) || (!names_ports && member.is_same_place(other));
        });
        const bool may_be_held =
            inventory_.devices().contains(member.index) || events_.is_removing(member.index);
        // while the unit is up, PID 1 may be about to stop it for a port of the file as it was
        const bool is_over = is_back || (is_down && !may_match(file, member));
        group.lost.push_back({member, is_over, may_be_held, is_tied});
    }
    // of a unit that is named by its port, each port has its own
    const bool is_fixed = std::find(file.units.begin(), file.units.end(), name) != file.units.end();
    for (const auto& guid : is_fixed ? file.match.port_guids() : std::vector<std::string>())
        if (!is_present([&](const Member& member) { return member.guid == guid; }))
            group.expected.push_back(guid);
    return group;
}

void Supervisor::remember(const std::string& name, BoundUnit& unit, UnitRecord record)
{
    if (record == unit.record && !unit.is_unwritten)
        return;
    std::set<NodeId> nodes;
    for (const auto& member : record.members)
        nodes.insert(member.node_id());
    for (const auto& member : unit.record.members)
        if (!nodes.contains(member.node_id()))
            sweep_due_.insert(member.index);
    unit.record = std::move(record);
    auto outcome = records_.write(name, unit.record);
    if (!outcome && !unit.is_unwritten)
        log::warning(log::id::device_trouble, outcome.error().message(),
                     {{log::field::unit, name}});
    unit.is_unwritten = !outcome;
}

bool Supervisor::has_unwritten() const
{
    return std::any_of(units_.begin(), units_.end(),
                       [](const auto& entry) { return entry.second.is_unwritten; });
}

void Supervisor::write_again()
{
    for (auto& [name, unit] : units_)
        if (unit.is_unwritten)
            remember(name, unit, UnitRecord(unit.record));
}

void Supervisor::tell(const std::string& name, const BoundUnit& unit, const Memory& before) const
{
    const auto& stop = unit.record.memory.stop;
    if (!stop || stop == before.stop)
        return;
    // systemd's job for that ends as "done"
    if (stop->cause == Stop::Cause::condition)
        log::notice(log::id::start_failed, name + " was not started: its condition was not met",
                    {{log::field::unit, name}});
    const bool is_unplug = stop->cause == Stop::Cause::unplug;
    if (!is_unplug && stop->cause != Stop::Cause::prepare)
        return;
    auto fields = fields_of(name, stop->lost);
    fields.push_back({log::field::cause, std::string(to_string(stop->cause))});
    log::notice(log::id::stopped_by_unplug,
                name + " stopped: " +
                    (is_unplug ? describe(stop->lost) + " went"
                               : "rdmad stopped it to free " + describe(stop->lost)),
                fields);
}

void Supervisor::act(const std::string& name, BoundUnit& unit, Action action)
{
    if (action == Action::stop) {
        evict(name, unit, Member(unit.record.memory.eviction->from), clock_(CLOCK_MONOTONIC));
        return;
    }
    if (action != Action::start)
        return;
    // an earlier one has nothing to say of this
    unit.start = {.is_sent = true};
    unit.coming_result.clear();
    unit.job_result.clear();
    const auto& member = unit.record.members.front();
    log::info(log::id::started_on_return, name + " is started: " + describe(member) + " is there",
              fields_of(name, member));
    manager_->start(name, [this, name](Result<uint32_t> job) {
        const auto found = units_.find(name);
        if (found == units_.end())
            return;
        found->second.start.is_sent = false;
        if (job) {
            found->second.start.number = *job;
            return;
        }
        log::warning(log::id::start_failed, name + " was not started: " + job.error().context,
                     {{log::field::unit, name}});
        if (systemd::is_lost_on_its_way(job.error()))
            found->second.state.reset();
        else
            found->second.coming_result = "refused";
        manager_->refresh(name);
    });
}

Supervisor::UnitsByPort Supervisor::units_of(uint32_t index) const
{
    UnitsByPort units;
    if (const auto found = claims_.find(index); found != claims_.end())
        for (const auto& claim : found->second)
            units[claim.member.port].insert(claim.unit);
    return units;
}

std::set<uint32_t> Supervisor::awaited() const
{
    std::set<uint32_t> indexes;
    for (const auto& [name, unit] : units_) {
        if (unit.is_left_alone || !unit.state || unit.state->is_up())
            continue;
        for (const auto& [key, member] : unit.present)
            if (!member.is_ready)
                indexes.insert(member.index);
    }
    return indexes;
}

/// Deletes the notes of removals that nobody needs any more, of those devices alone that changed or
/// that a record had: there may be hundreds.
void Supervisor::sweep_departures()
{
    // the file of an unwritten record may have ports that the record has no more
    if (sweep_due_.empty() || has_unwritten())
        return;
    const auto due = std::exchange(sweep_due_, {});
    std::map<uint32_t, std::set<NodeId>> kept;
    for (const auto index : due)
        if (inventory_.devices().contains(index))
            kept[index] = {};
    for (const auto& [name, unit] : units_)
        for (const auto& member : unit.record.members) {
            if (!due.contains(member.index))
                continue;
            auto& nodes = kept[member.index];
            // a record that is written has the time
            if (!member.removed)
                nodes.insert(member.node_id());
        }
    for (const auto index : due) {
        if (const auto nodes = kept.find(index); nodes != kept.end())
            departures_.keep_only(index, nodes->second);
        else
            departures_.forget(index);
    }
}

} // namespace rdmad
