// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

// The life of a device, over its appearances: is it there, may it be used, is it expected back.
// Pure: a life, an event and the time in, a life and what changed out. It never delays a stop,
// which is PID 1's and has happened when a device is gone; it says when what was stopped may start.

namespace rdmad::lifecycle {

/// CLOCK_BOOTTIME in microseconds: a device that is away while the machine sleeps ages.
using Time = uint64_t;
constexpr Time second = 1'000'000;

enum class State {
    absent,   ///< never seen
    appeared, ///< the kernel has it, udev is not done
    returned, ///< the same, of one that was here before
    settling, ///< until it is quiet and its ports can be used
    ready,
    draining, ///< an administrator prepares its removal
    removing, ///< its nodes go, the kernel waits for who holds them
    grace,    ///< gone, and expected back: a reset
    lost      ///< gone
};

/// The cause why a device went, or what came back in its place.
enum class Cause {
    unknown,
    reset,          ///< its parent stayed, and stayed with its driver
    driver_reload,  ///< the driver let go of its parent, or began anew with it (devlink)
    error_recovery, ///< of PCI, or of the driver (devlink)
    hot_unplug,
    administrator, ///< who prepared it, or unbound the driver from its parent
    replaced,      ///< another device in the same place
    moved,         ///< the same device in another place
    netns_move
};

struct Settings {
    Time quiet = 2 * second;
    Time deadline = 90 * second; ///< then a device that is not ready is degraded
    Time grace = 30 * second;
    Time grace_recovery = 120 * second; ///< while an error recovery is under way
    Time blocked_after = 5 * second;
    Time inhibit_delay = 30 * second; ///< a removal waits for its inhibitors that long
    Time evidence = 3 * second;       ///< within which udev reports what a device hung on
    Time reload = 10 * second;        ///< within which a driver reload is reported after the return
    uint32_t flap_limit = 3;          ///< returns within the window that hold it; 0: none do
    Time flap_window = 600 * second;
    Time hold_first = 30 * second;
    Time hold_last = 600 * second;
};

struct Life {
    State state = State::absent;
    Time since = 0;                 ///< of the state
    uint32_t index = 0;             ///< of the last appearance
    Time appeared = 0;              ///< when that began
    Time active = 0;                ///< when it was last touched
    Time went = 0;                  ///< when the last appearance ended
    Cause cause = {};               ///< of that end
    bool has_ports = false;         ///< they can be used
    bool is_recovering = false;     ///< PCI reported an error recovery
    bool is_degraded = false;       ///< ready, as the deadline has passed
    bool is_blocked = false;        ///< somebody holds what is being removed
    bool is_prepared = false;       ///< for its removal, by an administrator
    bool is_judged = true;          ///< the cause of its end is final
    bool is_accepted = true;        ///< not: it replaced another, and no administrator has said yes
    std::vector<Time> returns = {}; ///< those within the window
    std::optional<Time> held_until = {}; ///< too many of them
    uint32_t holds = 0;                  ///< in a row

    friend bool operator==(const Life&, const Life&) = default;
};

struct Event {
    enum class Kind {
        appeared, ///< index; cause: replaced or moved, if it is
        named,    ///< udev is done
        touched,  ///< something happened to it
        blinked,  ///< it had gone and come back before anybody looked
        ports,    ///< flag: they can be used
        recovery, ///< flag: an error recovery is under way
        removing, ///< its first node went
        gone,
        cause,  ///< it became known why it went
        reload, ///< it became known, when all was over, that its driver began anew
        drain,
        resume,
        release, ///< from a hold
        accept,  ///< of replaced hardware
        time     ///< nothing but that it passes
    };
    Kind kind = Kind::time;
    uint32_t index = 0;
    bool flag = false;
    Cause cause = Cause::unknown;
};

/// A change to report: another state, or something beside it that began or ended.
struct Change {
    enum class Kind {
        state,
        went,      ///< and why is known, as far as it will be
        explained, ///< what seemed to be a reset had a better reason
        degraded,
        blocked,
        held,
        released,
        accepted,
        holders ///< who blocks it became known, or changed
    };
    Kind kind = Kind::state;
    State before = State::absent;
    State now = State::absent;

    friend bool operator==(const Change&, const Change&) = default;
};

struct Step {
    Life life;
    std::vector<Change> changes;
};

/// Applies what is due by now, in its order and each at its own time, then the event: so it does
/// not matter how often it is called.
[[nodiscard]] Step step(Life life, const Event& event, const Settings& settings, Time now);

/// Returns when time alone changes something next.
[[nodiscard]] std::optional<Time> next_deadline(const Life& life, const Settings& settings);

[[nodiscard]] bool is_present(const Life& life);
/// Returns true if what lives with the device may be started.
[[nodiscard]] bool may_start(const Life& life);
/// Returns true if what wants a device that is ready may be started.
[[nodiscard]] bool is_ready(const Life& life);

[[nodiscard]] std::string_view to_string(Change::Kind kind);
[[nodiscard]] std::string_view to_string(State state);
/// Returns "hot unplug".
[[nodiscard]] std::string_view to_string(Cause cause);

} // namespace rdmad::lifecycle
