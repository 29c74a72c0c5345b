// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/lifecycle/life.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace rdmad::lifecycle {

namespace {

/// A life that is being changed, and the changes to report.
class Walk {
public:
    Walk(Life life, const Settings& settings) : life_(std::move(life)), settings_(settings) {}

    void pass(Time now)
    {
        for (auto due = next_deadline(life_, settings_); due && *due <= now;
             due = next_deadline(life_, settings_))
            expire(*due);
    }
    void apply(const Event& event, Time now);
    [[nodiscard]] Step finish() &&
    {
        return {std::move(life_), std::move(changes_)};
    }

private:
    void enter(State state, Time now)
    {
        if (state == life_.state)
            return;
        changes_.push_back({Change::Kind::state, life_.state, state});
        life_.state = state;
        life_.since = now;
        life_.is_blocked = life_.is_degraded = false;
    }
    void tell(Change::Kind kind)
    {
        changes_.push_back({kind, life_.state, life_.state});
    }

    void expire(Time now);
    void appear(const Event& event, Time now);
    void count_return(Time now);
    void hold(Time now);
    void release();
    void accept();
    void drain(Time now);
    void resume(Time now);
    void touch(Time now);
    void blink(Time now);
    void set(bool& condition, bool value, Time now);
    void leave(Time now);
    void learn_cause(Cause cause);
    void learn_of_reload(Time now);
    void conclude();
    void become_ready(bool is_degraded, Time now);

    Life life_;
    const Settings& settings_;
    std::vector<Change> changes_;
};

bool is_away(State state)
{
    return state == State::absent || state == State::grace || state == State::lost;
}

Time quiet_at(const Life& life, const Settings& settings)
{
    return std::max(life.active, life.since) + settings.quiet;
}

Time grace_end(const Life& life, const Settings& settings)
{
    const bool is_recovery = life.is_recovering || life.cause == Cause::error_recovery;
    return life.went + (is_recovery ? settings.grace_recovery : settings.grace);
}

/// Returns the deadline of the state alone.
std::optional<Time> state_deadline(const Life& life, const Settings& settings)
{
    switch (life.state) {
    case State::settling: {
        // a recovery may take as long as the device may be away for one
        const auto late =
            life.since + (life.is_recovering ? std::max(settings.deadline, settings.grace_recovery)
                                             : settings.deadline);
        const bool is_usable = life.has_ports && !life.is_recovering;
        return is_usable ? std::min(late, quiet_at(life, settings)) : late;
    }
    case State::removing:
        return life.is_blocked ? std::nullopt : std::optional(life.since + settings.blocked_after);
    case State::grace:
        return grace_end(life, settings);
    default:
        return std::nullopt;
    }
}

void Walk::expire(Time now)
{
    if (life_.held_until && *life_.held_until <= now)
        return release();
    if (!life_.is_judged && life_.went + settings_.evidence <= now)
        return conclude();
    switch (life_.state) {
    case State::settling:
        // one that is never quiet can be used all the same; the end of a recovery was missed, or it
        // failed, and the device has survived that
        life_.is_recovering = false;
        return become_ready(!life_.has_ports, now);
    case State::removing:
        life_.is_blocked = true;
        return tell(Change::Kind::blocked);
    default:
        return enter(State::lost, now);
    }
}

void Walk::become_ready(bool is_degraded, Time now)
{
    enter(State::ready, now);
    life_.is_degraded = is_degraded;
    if (is_degraded)
        tell(Change::Kind::degraded);
}

void Walk::appear(const Event& event, Time now)
{
    const bool is_return = life_.state != State::absent;
    if (!is_away(life_.state))
        leave(now); // its end went unseen
    life_.index = event.index;
    life_.appeared = life_.active = now;
    life_.has_ports = life_.is_recovering = life_.is_prepared = false;
    if (event.cause == Cause::replaced)
        life_.is_accepted = false;
    if (event.cause != Cause::unknown)
        life_.cause = event.cause;
    conclude();
    enter(is_return ? State::returned : State::appeared, now);
    if (is_return)
        count_return(now);
}

void Walk::count_return(Time now)
{
    if (settings_.flap_limit == 0)
        return;
    std::erase_if(life_.returns, [&](Time then) { return then + settings_.flap_window <= now; });
    // more tell nothing new
    if (life_.returns.size() >= settings_.flap_limit)
        life_.returns.erase(life_.returns.begin());
    life_.returns.push_back(now);
    if (life_.returns.size() >= settings_.flap_limit)
        hold(now);
    else
        life_.holds = 0;
}

/// Holds the device: a return during a hold restarts the wait, and only one after it lengthens it.
void Walk::hold(Time now)
{
    const bool was_held = life_.held_until.has_value();
    if (!was_held)
        life_.holds++;
    Time wait = settings_.hold_first;
    for (uint32_t i = 1; i < life_.holds && wait < settings_.hold_last; i++)
        wait *= 2;
    life_.held_until = now + std::min(wait, settings_.hold_last);
    if (!was_held)
        tell(Change::Kind::held);
}

void Walk::release()
{
    if (!std::exchange(life_.held_until, std::nullopt))
        return;
    tell(Change::Kind::released);
}

void Walk::accept()
{
    if (!std::exchange(life_.is_accepted, true))
        tell(Change::Kind::accepted);
}

void Walk::drain(Time now)
{
    if (life_.state == State::removing)
        return;
    life_.is_prepared = true;
    enter(State::draining, now);
}

void Walk::resume(Time now)
{
    if (life_.state != State::draining)
        return;
    life_.is_prepared = false;
    enter(State::settling, now);
}

void Walk::touch(Time now)
{
    life_.active = now;
}

/// Counts an unseen return; the device settles anew, as after any.
void Walk::blink(Time now)
{
    touch(now);
    if (life_.state == State::ready)
        enter(State::settling, now);
    count_return(now);
}

/// Sets what a ready device needs.
void Walk::set(bool& condition, bool value, Time now)
{
    if (std::exchange(condition, value) == value)
        return;
    touch(now);
    if (life_.state == State::ready)
        enter(State::settling, now);
}

void Walk::leave(Time now)
{
    if (is_away(life_.state))
        return;
    life_.went = now;
    life_.cause = life_.is_recovering ? Cause::error_recovery : Cause::unknown;
    if (life_.is_prepared)
        life_.cause = Cause::administrator;
    life_.is_judged = false;
    if (life_.cause != Cause::administrator)
        return enter(State::grace, now);
    enter(State::lost, now);
    conclude();
}

void Walk::learn_cause(Cause cause)
{
    if (!life_.is_judged)
        life_.cause = cause;
}

/// Blames a reload if the device has just gone or come back; one that ended nothing is ignored.
void Walk::learn_of_reload(Time now)
{
    const bool is_open = life_.cause == Cause::reset || life_.cause == Cause::unknown;
    const auto expected = std::max(settings_.grace, settings_.grace_recovery);
    const bool is_late =
        now > (is_away(life_.state) ? life_.went + expected : life_.appeared + settings_.reload);
    if (life_.went == 0 || !is_open || is_late)
        return;
    life_.cause = Cause::driver_reload;
    if (life_.is_judged)
        tell(Change::Kind::explained);
}

void Walk::conclude()
{
    if (std::exchange(life_.is_judged, true))
        return;
    tell(Change::Kind::went);
}

void Walk::apply(const Event& event, Time now)
{
    using Kind = Event::Kind;
    if (event.kind == Kind::appeared)
        return appear(event, now);
    if (event.kind == Kind::cause)
        return learn_cause(event.cause);
    if (event.kind == Kind::reload)
        return learn_of_reload(now);
    if (event.kind == Kind::accept)
        return accept();
    if (event.kind == Kind::release) {
        life_.returns.clear();
        life_.holds = 0;
        return release();
    }
    if (is_away(life_.state))
        return;
    switch (event.kind) {
    case Kind::named:
        if (life_.state == State::appeared || life_.state == State::returned)
            enter(State::settling, now);
        return;
    case Kind::touched:
        return touch(now);
    case Kind::blinked:
        return blink(now);
    case Kind::ports:
        return set(life_.has_ports, event.flag, now);
    case Kind::recovery:
        if (event.flag && !life_.is_recovering && life_.state == State::settling)
            life_.since = now;
        return set(life_.is_recovering, event.flag, now);
    case Kind::removing:
        return enter(State::removing, now);
    case Kind::gone:
        return leave(now);
    case Kind::drain:
        return drain(now);
    case Kind::resume:
        return resume(now);
    default:
        return;
    }
}

} // namespace

Step step(Life life, const Event& event, const Settings& settings, Time now)
{
    Walk walk(std::move(life), settings);
    walk.pass(now);
    walk.apply(event, now);
    return std::move(walk).finish();
}

std::optional<Time> next_deadline(const Life& life, const Settings& settings)
{
    auto next = state_deadline(life, settings);
    const auto consider = [&](Time due) { next = std::min(next.value_or(due), due); };
    if (life.held_until)
        consider(*life.held_until);
    if (!life.is_judged)
        consider(life.went + settings.evidence);
    return next;
}

bool is_present(const Life& life)
{
    return !is_away(life.state);
}

bool may_start(const Life& life)
{
    return is_present(life) && life.state != State::draining && life.state != State::removing &&
           !life.held_until;
}

bool is_ready(const Life& life)
{
    return life.state == State::ready && !life.is_degraded;
}

std::string_view to_string(Change::Kind kind)
{
    constexpr std::array names = {"state", "went",     "explained", "degraded", "blocked",
                                  "held",  "released", "accepted",  "holders"};
    return names.at(static_cast<size_t>(kind));
}

std::string_view to_string(State state)
{
    constexpr std::array names = {"absent",   "appeared", "returned", "settling", "ready",
                                  "draining", "removing", "grace",    "lost"};
    return names.at(static_cast<size_t>(state));
}

std::string_view to_string(Cause cause)
{
    constexpr std::array names = {"unknown",        "reset",      "driver reload",
                                  "error recovery", "hot unplug", "administrator",
                                  "replaced",       "moved",      "netns move"};
    return names.at(static_cast<size_t>(cause));
}

} // namespace rdmad::lifecycle
