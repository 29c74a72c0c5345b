// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/binding_file.hpp"
#include "daemon/bindings/member.hpp"
#include "daemon/systemd/unit_state.hpp"

#include <optional>
#include <string>
#include <vector>

// Judges whether a bound unit is to be started, and who stopped it. Pure: takes what is seen and
// recorded, returns what to record and to do.
//
// Who stopped a unit is judged by time alone, since signals of PID 1 and events of udev come in any
// order, and rdmad may have been dead meanwhile: udev notes when a node went before PID 1 hears of
// it, and PID 1 notes when a unit ceased to be active.

namespace rdmad {

/// The times since which a loss may have stopped a unit (CLOCK_MONOTONIC).
struct LossWindow {
    uint64_t used_since = 0;   ///< a port that the unit ran with
    uint64_t tied_since = 0;   ///< one of those that PID 1 stops the unit with
    uint64_t unused_since = 0; ///< one that the unit was not seen to run with

    friend bool operator==(const LossWindow&, const LossWindow&) = default;
};

struct Stop {
    enum class Cause {
        unplug,
        prepare, ///< rdmad had it let go of its device, which was prepared for removal or renamed
        failure, ///< it failed, or PID 1 could not start it
        dependency, ///< PID 1 did not start it, as a unit that it requires could not start
        condition,  ///< PID 1 did not start it, as its condition was not met
        other       ///< somebody requested it, or it ended by itself
    };
    Cause cause = Cause::other;
    uint64_t went_down = 0; ///< CLOCK_MONOTONIC
    uint64_t timestamp = 0; ///< microseconds since 1970
    Member lost = {};       ///< of an unplug; or what is to go
    LossWindow window = {}; ///< holds for a loss that is known later, too

    friend bool operator==(const Stop&, const Stop&) = default;
};

/// A stop that rdmad requested for the sake of a port, and that nobody has seen yet.
struct Eviction {
    Member from;
    /// CLOCK_MONOTONIC: what went down before was not stopped by rdmad. 0: nobody can tell.
    uint64_t since = 0;

    friend bool operator==(const Eviction&, const Eviction&) = default;
};

/// The record of a unit, over restarts of rdmad, too.
struct Memory {
    bool is_known = false; ///< it was seen before
    bool was_up = false;   ///< when it was last seen
    bool is_wanted = true; ///< rdmad starts it when its ports are there
    bool is_asked = false; ///< a start was requested, and nothing was seen of it yet
    std::optional<Eviction> eviction = {};
    uint64_t began = 0;          ///< the unit's last run that was seen, by when it began
    std::string file_state = {}; ///< when it was last seen up
    std::optional<Stop> stop = {};

    friend bool operator==(const Memory&, const Memory&) = default;
};

/// A port that the unit was tied to, and that is gone.
struct Loss {
    Member member;
    bool is_over = false;     ///< the port has returned, or its file does not ask for it any more
    bool may_be_held = false; ///< its device is there, or waits for who has it open
    bool was_tied = false;    ///< in time to keep PID 1 from stopping the unit, see has_tied
};

/// One binding of the unit.
struct Group {
    config::Require require = config::Require::all;
    config::Restart restart = config::Restart::on_return;
    config::BindingNode node = config::BindingNode::uverbs; ///< a port without it is not there
    std::vector<Member> present = {};
    std::vector<Loss> lost = {};
    bool has_kept = false;                  ///< some port that the unit was tied to never went
    bool has_tied = false;                  ///< and keeps PID 1 from stopping the unit
    std::vector<std::string> expected = {}; ///< GUIDs that the file names and that are not there
    bool is_anchored = false;               ///< PID 1 will stop the unit with its ports
};

struct Situation {
    systemd::UnitState unit;
    std::vector<Group> groups;
    uint64_t now = 0;           ///< microseconds since 1970
    uint64_t now_monotonic = 0; ///< CLOCK_MONOTONIC
    /// How the start that rdmad requested ended (JobRemoved); empty: it has not.
    std::string job_result = {};
    /// rdmad has requested a start that PID 1 has not finished: a run that ended was another.
    bool is_start_coming = false;
    /// rdmad has requested a stop that PID 1 has not finished, or not told of what came of it.
    bool is_stop_coming = false;
    /// A port went, and PID 1 may have yet to hear of that, and to stop the unit for it.
    bool is_behind = false;
};

enum class Action { none, start, stop };

struct Verdict {
    Memory memory = {};
    Action action = Action::none;
    std::string reason = {}; ///< in words, for people
    /// It starts as soon as what is there lets it, or may have to stop first: units of a later
    /// stage wait.
    bool is_coming = false;
    /// rdmad does not start it, whatever ports come, until somebody changes something about it.
    bool is_left_alone = false;
    bool waits_for_end = false; ///< see Obstacle
};

/// Returns true if the unit's last run is one that was not seen.
[[nodiscard]] bool ran_unseen(const Memory& memory, const systemd::UnitState& unit);

/// Returns what to remember of a stop that is requested at that time (CLOCK_MONOTONIC). unit: its
/// state as last seen, empty if nobody has reported it.
[[nodiscard]] Eviction eviction_at(const systemd::UnitState& unit, const Member& from,
                                   uint64_t time);

[[nodiscard]] Verdict judge(Memory memory, const Situation& situation);

/// Returns what the unit runs with after a verdict. For a unit that is down: what it ran with when
/// it stopped, and what it would have run with since, if somebody started it and rdmad did not see
/// that. before: what that was; was_up: whether the unit was up then.
[[nodiscard]] std::vector<Member> members_after(const std::vector<Member>& before, bool was_up,
                                                const Verdict& verdict, const Situation& situation);

[[nodiscard]] std::string_view to_string(Stop::Cause cause);

} // namespace rdmad
