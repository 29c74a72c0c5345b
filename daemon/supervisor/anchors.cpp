// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/supervisor/anchors.hpp"

#include "core/naming/unit_name.hpp"
#include "daemon/supervisor/fields.hpp"

#include <algorithm>
#include <utility>

namespace rdmad {

namespace {

// calls of retry(), one a second
constexpr unsigned longest_pause = 64;

bool is_up(systemd::Orders::AnchorState state)
{
    return state == systemd::Orders::AnchorState::up;
}

} // namespace

void Anchors::ask()
{
    is_known_ = false;
    manager_->list_anchors([this](Result<systemd::Orders::Anchors> anchors) {
        if (anchors)
            return take_known(*anchors);
        if (!std::exchange(is_refusal_told_, true))
            log::warning(log::id::systemd_trouble, anchors.error().message());
        note_refusal();
    });
}

void Anchors::take_known(const systemd::Orders::Anchors& existing)
{
    for (auto& [unit, tied] : units_)
        tied = {};
    ending_.clear();
    is_refusal_told_ = false;
    unclaimed_ = existing;
    std::erase_if(unclaimed_, [](const auto& anchor) {
        return anchor.second == systemd::Orders::AnchorState::stopping;
    });
    is_known_ = true;
    events_.on_known(existing);
}

void Anchors::note_failure()
{
    is_look_due_ = true;
    events_.on_failed();
}

void Anchors::note_refusal()
{
    is_refused_ = true;
    events_.on_failed();
}

/// Has what is refused from now on logged and tried soon.
void Anchors::note_success(const std::string& anchor)
{
    told_.erase(anchor);
    pause_ = 1;
}

/// What PID 1 refused may be there all the same, so PID 1 is asked what it has. What it refuses
/// again and again is asked for ever more seldom.
void Anchors::retry()
{
    if (!manager_ || !manager_->is_connected() || !has_failed())
        return;
    if (!is_look_due_ && ++skipped_ < pause_)
        return;
    if (is_refused_)
        pause_ = std::min(2 * pause_, longest_pause);
    skipped_ = 0;
    is_look_due_ = is_refused_ = false;
    ask();
}

/// Has PID 1 take an anchor away. One that stayed would stop its unit with the device.
void Anchors::drop(const std::string& name)
{
    manager_->drop_anchor(name, [this](const Result<void>& outcome) {
        if (!outcome)
            note_refusal();
    });
}

void Anchors::expect_end(const std::string& unit, const std::string& anchor,
                         const std::string& syspath)
{
    ending_[unit].insert_or_assign(anchor, syspath);
}

/// Returns false if nobody waits for the end of the anchor.
bool Anchors::end(const std::string& anchor)
{
    for (auto& [unit, names] : ending_) {
        if (names.erase(anchor) == 0)
            continue;
        if (!names.empty())
            return true;
        const auto ended = unit;
        ending_.erase(ended);
        events_.on_ended(ended);
        return true;
    }
    return false;
}

/// Handles the end of an anchor that is up, the start or end of one taken over while it started,
/// or, for a failed one, most likely the end of an earlier one of its name. Makes another if its
/// node is there. When a device goes, all its anchors end, and no unit is looked at for them.
void Anchors::on_job(const std::string& anchor)
{
    if (anchor.ends_with(systemd::keeper_suffix))
        for (const auto& [unit, tied] : units_)
            if (tied.is_kept && systemd::keeper_name(unit) == anchor)
                return note_failure();
    (void)end(anchor);
    // PID 1 listed it, and no unit has claimed it yet
    if (unclaimed_.contains(anchor))
        return note_failure();
    const auto parts = systemd::parse_anchor_name(anchor);
    if (!parts || !inventory_.has_node(parts->node))
        return;
    for (auto& [unit, tied] : units_) {
        const auto entry = tied.anchors.find(anchor);
        if (entry == tied.anchors.end())
            continue;
        if (entry->second.state == State::failed) {
            tied.anchors.erase(entry);
            events_.on_changed(unit);
        } else {
            entry->second.has_ended = entry->second.state == State::up;
            note_failure();
        }
        return;
    }
}

systemd::Anchor Anchors::anchor_of(const std::string& unit, const Member& member) const
{
    const auto* file = bindings_.find(member.binding);
    systemd::Anchor anchor = {
        .name = name(unit, member),
        .description = unit + " lives with port " +
                       (member.guid.empty() ? std::to_string(member.port) : member.guid) + " (" +
                       member.node + ")",
        .device_unit = naming::device_unit(member.syspath),
        .unit = unit};
    if (file && file->require == config::Require::any)
        anchor.group = systemd::group_name(unit, member.binding);
    return anchor;
}

std::string Anchors::name(const std::string& unit, const Member& member) const
{
    const auto* file = bindings_.find(member.binding);
    const bool is_any = file && file->require == config::Require::any;
    return systemd::anchor_name(unit, member.node_id(), is_any ? member.binding : std::string());
}

Anchors::State Anchors::state(const std::string& unit, const Member& member) const
{
    const auto found = units_.find(unit);
    if (found == units_.end())
        return State::failed;
    const auto& anchors = found->second.anchors;
    const auto anchor = anchors.find(name(unit, member));
    // one that ended is made anew with the next look
    const bool is_over = anchor == anchors.end() || anchor->second.has_ended;
    return is_over ? State::failed : anchor->second.state;
}

size_t Anchors::tied_count() const
{
    const auto is_there = [](const auto& anchor) { return anchor.second.state != State::failed; };
    size_t count = 0;
    for (const auto& [unit, tied] : units_)
        if (std::any_of(tied.anchors.begin(), tied.anchors.end(), is_there))
            count++;
    return count;
}

void Anchors::tie(const std::string& unit, const std::vector<Member>& members)
{
    auto& tied = units_[unit];
    keep(unit, tied);
    std::set<std::string> wanted;
    for (const auto& member : members) {
        const auto anchor = anchor_of(unit, member);
        wanted.insert(anchor.name);
        if (anchor.group)
            unclaimed_.erase(*anchor.group);
        if (const auto known = unclaimed_.extract(anchor.name))
            tied.anchors[anchor.name] = {is_up(known.mapped()) ? State::up : State::starting,
                                         member.node_id(), member.syspath, anchor.group};
        else if (!tied.anchors.contains(anchor.name))
            make(unit, tied, anchor, member);
    }
    untie(unit, tied, wanted);
}

void Anchors::keep(const std::string& unit, Tied& tied)
{
    const auto name = systemd::keeper_name(unit);
    if (std::exchange(tied.is_kept, true) || unclaimed_.erase(name) > 0)
        return;
    const systemd::Anchor keeper = {
        .name = name, .description = unit + " is bound to RDMA ports", .unit = unit};
    manager_->start_anchor(keeper, [this, unit](const Result<void>& outcome) {
        const auto found = units_.find(unit);
        if (outcome)
            note_success(systemd::keeper_name(unit));
        if (outcome || found == units_.end())
            return;
        found->second.is_kept = false;
        note_refusal();
        if (told_.insert(systemd::keeper_name(unit)).second)
            log::warning(log::id::anchor_failed, outcome.error().message(),
                         {{log::field::unit, unit}});
    });
}

void Anchors::make(const std::string& unit, Tied& tied, const systemd::Anchor& anchor,
                   const Member& member)
{
    const auto expected = departures_.expect(member.index);
    if (!expected && !std::exchange(is_unnoted_, true))
        log::warning(log::id::device_trouble,
                     "udev cannot note when a device goes: " + expected.error().message());
    tied.anchors[anchor.name] = {State::starting, member.node_id(), member.syspath, anchor.group};
    manager_->start_anchor(anchor,
                           [this, unit, name = anchor.name, member](const Result<void>& outcome) {
                               take_outcome(unit, name, member, outcome);
                           });
}

void Anchors::take_outcome(const std::string& unit, const std::string& anchor, const Member& member,
                           const Result<void>& outcome)
{
    const auto found = units_.find(unit);
    if (found == units_.end())
        return;
    const auto entry = found->second.anchors.find(anchor);
    if (entry == found->second.anchors.end()) {
        // PID 1 listed it as starting, and the unit is to be tied anew
        if (const auto known = unclaimed_.find(anchor); known != unclaimed_.end() && outcome)
            known->second = systemd::Orders::AnchorState::up;
        else if (known != unclaimed_.end())
            unclaimed_.erase(known);
        // its node went while it started: it ends as others do, or stands on what came after
        else if (outcome)
            note_failure();
        else
            (void)end(anchor);
        return;
    }
    entry->second.state = outcome ? State::up : State::failed;
    is_refused_ = is_refused_ || !outcome;
    if (outcome) {
        note_success(anchor);
        // one of that name that was to end is over
        (void)end(anchor);
    }
    // if the device went meanwhile, that is not worth a warning
    else if (inventory_.has_node(member.node_id()) && told_.insert(anchor).second)
        log::warning(log::id::anchor_failed,
                     unit + " is not tied to " + describe(member) + ": " +
                         outcome.error().message(),
                     fields_of(unit, member));
    events_.on_changed(unit);
}

void Anchors::forget_gone(const std::string& unit)
{
    std::erase_if(told_, [this](const std::string& name) {
        const auto parts = systemd::parse_anchor_name(name);
        return parts && !inventory_.has_node(parts->node);
    });
    const auto found = units_.find(unit);
    if (found == units_.end())
        return;
    std::set<std::string> there;
    for (const auto& [name, anchor] : found->second.anchors)
        if (inventory_.has_node(anchor.node))
            there.insert(name);
    untie(unit, found->second, there);
}

void Anchors::release(const std::string& unit)
{
    const auto found = units_.find(unit);
    if (found == units_.end())
        return;
    untie(unit, found->second, {});
    ending_.erase(unit);
    drop(systemd::keeper_name(unit));
    units_.erase(found);
}

/// Drops the anchors that are not wanted any more. PID 1 itself stops those whose node is gone,
/// unless they still wait for it.
void Anchors::untie(const std::string& unit, Tied& tied, const std::set<std::string>& wanted)
{
    auto others = std::exchange(tied.anchors, {});
    for (const auto& name : wanted)
        tied.anchors.insert(others.extract(name));
    std::set<std::string> groups;
    for (const auto& [name, anchor] : tied.anchors)
        if (anchor.group)
            groups.insert(*anchor.group);
    for (const auto& [name, anchor] : others) {
        const bool is_there = inventory_.has_node(anchor.node);
        // until one of those that stay is up, this one holds the group
        if (is_there && anchor.state == State::up && anchor.group &&
            waits_for_first(*anchor.group)) {
            unclaimed_.emplace(name, systemd::Orders::AnchorState::up);
            continue;
        }
        // a group goes before its last member, or it would stop the unit as nobody needs it
        if (is_there && anchor.group && !groups.contains(*anchor.group))
            drop(*anchor.group);
        if (is_there)
            drop(name);
        else if (anchor.state == State::starting)
            manager_->cancel_anchor(name);
        if (!is_there && anchor.state != State::failed && !anchor.has_ended)
            expect_end(unit, name, anchor.syspath);
    }
}

/// Returns true if a later node of that name is known to be another one than the anchor's, so that
/// the anchor cannot stand on it.
bool Anchors::is_elsewhere(const std::string& anchor, const std::string& node) const
{
    const auto* later = inventory_.node_named(node);
    return later && std::any_of(ending_.begin(), ending_.end(), [&](const auto& entry) {
               const auto known = entry.second.find(anchor);
               return known != entry.second.end() && known->second != later->syspath;
           });
}

/// Returns true if anchors of a group are to come, and none is up: without those of before, PID 1
/// would stop the unit, as no anchor needs the group.
bool Anchors::waits_for_first(const std::string& group) const
{
    bool waits = false;
    for (const auto& [unit, tied] : units_)
        for (const auto& [name, anchor] : tied.anchors) {
            if (anchor.group != group)
                continue;
            if (anchor.state == State::up)
                return false;
            waits = true;
        }
    return waits;
}

/// Keeps an anchor whose node has gone: PID 1 is about to stop it and the unit, and would forget
/// the unit without it, however far udev is behind. One that PID 1 still has after udev was done
/// with a later node of that name was made too late: it stands on that node, and goes.
void Anchors::drop_foreign()
{
    if (unclaimed_.empty())
        return;
    const auto foreign = std::exchange(unclaimed_, {});
    const auto outlived = std::exchange(outlived_, {});
    std::vector<std::string> members;
    // whose they are will be known when the kernel answers
    for (const auto& [name, state] : foreign) {
        const auto parts = systemd::parse_anchor_name(name);
        if (!parts || !inventory_.unanswered().contains(parts->node.index))
            continue;
        unclaimed_.emplace(name, state);
        if (const auto group = foreign.find(parts->group); group != foreign.end())
            unclaimed_.insert(*group);
    }
    for (const auto& [name, state] : foreign) {
        const auto parts = systemd::parse_anchor_name(name);
        if (!parts && name.ends_with(systemd::keeper_suffix))
            members.push_back(name);
        if (!parts || unclaimed_.contains(name))
            continue;
        const auto& node = parts->node.node;
        const bool is_there = inventory_.has_node(parts->node);
        const bool is_late = is_up(state) && outlived.contains(name) && !is_elsewhere(name, node);
        // a rdmad that is replaced called them otherwise
        if (is_there && waits_for_first(parts->group)) {
            unclaimed_.emplace(name, state);
            continue;
        }
        if (!is_there && !is_late) {
            if (!is_up(state))
                manager_->cancel_anchor(name);
            else if (inventory_.node_named(node))
                outlived_.insert(name);
            // it may come up on a later node before it is cancelled
            note_failure();
            continue;
        }
        members.push_back(name);
        // before its members, or it would stop the unit as nobody needs it
        if (foreign.contains(parts->group) && !unclaimed_.contains(parts->group))
            drop(parts->group);
    }
    for (const auto& name : members)
        drop(name);
}

} // namespace rdmad
