// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/lifecycle/life.hpp"
#include "tests/catch.hpp"

#include <array>
#include <set>
#include <string>

// All that can happen to a device, in any order up to a length. What must hold follows from the
// sequence of events, which the ghost keeps in plain terms, not from what step() keeps.

using namespace rdmad::lifecycle;

namespace {

constexpr size_t length = 7;
constexpr Settings settings = {};

struct Ghost {
    Time now = 100 * second;
    bool is_present = false;
    bool is_named = false;
    bool has_ports = false;
    bool is_recovering = false;
    bool is_removing = false;
    bool is_drained = false;
    Time begun = 0;   ///< to wait until it is ready
    Time left = 0;    ///< its first node
    Time changed = 0; ///< that which readiness waits for
    Time touched = 0; ///< that, or anything else
    std::vector<Time> returns = {};
    bool was_here = false;
    uint32_t index = 0;
    uint32_t waves = 0;     ///< starts of this appearance
    uint32_t may_begin = 0; ///< how often something let them begin
};

struct Letter {
    const char* name;
    Event::Kind kind;
    bool flag = false;
    Time wait = 0; ///< of the letter that is time
};

using Kind = Event::Kind;
constexpr std::array alphabet = {
    Letter{"appeared", Kind::appeared},
    Letter{"named", Kind::named},
    Letter{"touched", Kind::touched},
    Letter{"blinked", Kind::blinked},
    Letter{"ports up", Kind::ports, true},
    Letter{"ports down", Kind::ports, false},
    Letter{"recovery begins", Kind::recovery, true},
    Letter{"recovery ends", Kind::recovery, false},
    Letter{"removing", Kind::removing},
    Letter{"gone", Kind::gone},
    Letter{"drain", Kind::drain},
    Letter{"resume", Kind::resume},
    Letter{"release", Kind::release},
    Letter{"3 seconds", Kind::time, false, 3 * second},
    Letter{"2 minutes", Kind::time, false, 120 * second},
};

void change(Ghost& ghost)
{
    ghost.changed = ghost.touched = ghost.now;
}

void appear(Ghost& ghost)
{
    if (ghost.was_here)
        ghost.returns.push_back(ghost.now);
    ghost = {.now = ghost.now,
             .is_present = true,
             .begun = ghost.now,
             .changed = ghost.now,
             .touched = ghost.now,
             .returns = ghost.returns,
             .was_here = true,
             .index = ghost.index + 1,
             .may_begin = 1};
}

/// What the event means, in the ghost.
void note(Ghost& ghost, const Letter& letter)
{
    if (letter.kind == Kind::appeared)
        return appear(ghost);
    if (letter.kind == Kind::release) {
        ghost.returns.clear();
        ghost.may_begin++;
    }
    if (!ghost.is_present)
        return;
    switch (letter.kind) {
    case Kind::named:
        if (!ghost.is_named)
            change(ghost);
        ghost.is_named = true;
        break;
    case Kind::touched:
        ghost.touched = ghost.now;
        break;
    case Kind::blinked:
        change(ghost);
        ghost.returns.push_back(ghost.now);
        ghost.may_begin++;
        break;
    case Kind::ports:
        if (ghost.has_ports != letter.flag)
            change(ghost);
        ghost.has_ports = letter.flag;
        break;
    case Kind::recovery:
        if (ghost.is_recovering != letter.flag)
            change(ghost);
        ghost.is_recovering = letter.flag;
        break;
    case Kind::removing:
        if (!ghost.is_removing)
            ghost.left = ghost.now;
        ghost.is_removing = true;
        break;
    case Kind::gone:
        ghost.is_present = false;
        break;
    case Kind::drain:
        ghost.is_drained = ghost.is_drained || !ghost.is_removing;
        break;
    case Kind::resume:
        if (!ghost.is_drained || ghost.is_removing)
            break;
        change(ghost);
        ghost.is_named = true;
        ghost.begun = ghost.now;
        ghost.may_begin++;
        ghost.is_drained = false;
        break;
    default:
        break;
    }
}

/// The third return within ten minutes holds; what a return holds ends ten minutes after it at the
/// latest, and half a minute after it at the soonest.
bool may_be_held(const Ghost& ghost)
{
    const auto count = ghost.returns.size();
    return count >= settings.flap_limit &&
           ghost.returns[count - settings.flap_limit] + settings.flap_window >
               ghost.returns[count - 1] &&
           ghost.returns[count - 1] + settings.hold_last > ghost.now;
}

bool must_be_held(const Ghost& ghost)
{
    return may_be_held(ghost) && ghost.returns.back() + settings.hold_first > ghost.now;
}

std::string wrong(const Ghost& ghost, const Life& life)
{
    if (is_present(life) != ghost.is_present)
        return "present or not";
    if (life.held_until && !may_be_held(ghost))
        return "held without reason";
    if (!life.held_until && must_be_held(ghost))
        return "not held";
    const bool is_usable = ghost.is_present && !ghost.is_removing && !ghost.is_drained;
    if (may_start(life) && !is_usable)
        return "a start without the device";
    if (may_start(life) && life.held_until)
        return "a start while it is held";
    if (is_usable && !life.held_until && !may_start(life))
        return "no start";
    if (ghost.waves > ghost.may_begin + 1)
        return "two waves for one appearance";
    const bool is_fit = is_usable && ghost.is_named && ghost.has_ports && !ghost.is_recovering;
    if (is_ready(life) && (!is_fit || ghost.changed + settings.quiet > ghost.now))
        return "ready too early";
    if (!is_ready(life) && is_fit && ghost.touched + settings.quiet <= ghost.now)
        return "not ready";
    const bool is_waiting = is_usable && ghost.is_named && !is_fit;
    if (life.is_degraded && (!is_waiting || ghost.begun + settings.deadline > ghost.now))
        return "degraded too early";
    const auto longest = ghost.is_recovering ? settings.grace_recovery : settings.deadline;
    if (is_waiting && ghost.changed + longest <= ghost.now && !life.is_degraded)
        return "not degraded";
    const bool is_leaving = ghost.is_present && ghost.is_removing;
    if (life.is_blocked != (is_leaving && ghost.left + settings.blocked_after <= ghost.now))
        return "blocked or not";
    if (!ghost.is_present && life.state == State::ready)
        return "a state of one that is there";
    return {};
}

/// A recovery ends after two minutes, be that told or not: by when it began at the latest, and not
/// before that much has passed since the device settles.
void end_recovery(Ghost& ghost, bool is_recovering)
{
    const bool is_usable = ghost.is_present && !ghost.is_removing && !ghost.is_drained;
    const bool may_end = ghost.begun + settings.grace_recovery <= ghost.now;
    const bool must_end = ghost.changed + settings.grace_recovery <= ghost.now;
    if (is_usable && ghost.is_named && (must_end || (may_end && !is_recovering)))
        ghost.is_recovering = false;
}

struct World {
    Ghost ghost = {};
    Life life = {};
    std::string path = {};
};

World after(const World& world, const Letter& letter)
{
    auto next = world;
    next.path += std::string(" ") + letter.name + ",";
    next.ghost.now += letter.wait > 0 ? letter.wait : second / 10;
    note(next.ghost, letter);
    next.life = step(std::move(next.life),
                     {.kind = letter.kind, .index = next.ghost.index, .flag = letter.flag},
                     settings, next.ghost.now)
                    .life;
    if (!may_start(world.life) && may_start(next.life))
        next.ghost.waves++;
    end_recovery(next.ghost, next.life.is_recovering);
    return next;
}

/// The same life, if it is asked again and again in between.
bool is_same_if_asked(const World& world, const World& next, const Letter& letter)
{
    auto life = world.life;
    for (auto then = world.ghost.now; then < next.ghost.now; then += 7 * second)
        life = step(std::move(life), {}, settings, then).life;
    const Event event = {.kind = letter.kind, .index = next.ghost.index, .flag = letter.flag};
    return step(std::move(life), event, settings, next.ghost.now).life == next.life;
}

/// All that tells what can follow: times by how long ago they are.
std::string key_of(const World& world)
{
    const auto& [ghost, life, path] = world;
    std::vector<Time> times = {
        ghost.begun, ghost.left,  ghost.changed, ghost.touched,
        life.since,  life.active, life.went,     life.held_until.value_or(0)};
    times.insert(times.end(), ghost.returns.begin(), ghost.returns.end());
    times.push_back(0);
    times.insert(times.end(), life.returns.begin(), life.returns.end());
    std::string key;
    for (const auto time : times)
        key += std::to_string(time == 0 ? 0 : ghost.now - time) + " ";
    const std::array flags = {ghost.is_present,    ghost.is_named,    ghost.has_ports,
                              ghost.is_recovering, ghost.is_removing, ghost.is_drained,
                              ghost.was_here,      life.has_ports,    life.is_recovering,
                              life.is_degraded,    life.is_blocked,   life.held_until.has_value()};
    for (const bool flag : flags)
        key += flag ? '1' : '0';
    return key + std::to_string(static_cast<int>(life.state)) + " " +
           std::to_string(static_cast<int>(life.cause)) + " " + std::to_string(life.holds) + " " +
           std::to_string(ghost.waves) + " " + std::to_string(ghost.may_begin);
}

} // namespace

TEST_CASE("in any order of events a device is used only while it can be", "[life][model]")
{
    std::vector<World> worlds(1);
    std::set<std::string> seen;
    // the shortest sequence comes first; two that lead to the same go on as one
    for (size_t i = 1; i <= length; i++) {
        std::vector<World> next_worlds;
        for (const auto& world : worlds)
            for (const auto& letter : alphabet) {
                auto next = after(world, letter);
                INFO(next.path);
                if (auto what = wrong(next.ghost, next.life); !what.empty())
                    FAIL(what);
                if (!is_same_if_asked(world, next, letter))
                    FAIL("it matters how often it is asked");
                if (seen.insert(key_of(next)).second)
                    next_worlds.push_back(std::move(next));
            }
        worlds = std::move(next_worlds);
    }
    CHECK(seen.size() > 10'000);
}
