// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/lifecycle/life.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <utility>

using namespace rdmad::lifecycle;
using Kind = Event::Kind;

namespace {

/// A device, by the clock of a story.
struct Story {
    Settings settings = {};
    Life life = {};
    Time now = 1000 * second;
    uint32_t index = 0;
    std::vector<Change> changes = {};

    void happen(Event event)
    {
        event.index = event.kind == Kind::appeared ? ++index : index;
        auto outcome = step(std::move(life), event, settings, now);
        life = std::move(outcome.life);
        changes.insert(changes.end(), outcome.changes.begin(), outcome.changes.end());
    }
    void happen(Kind kind)
    {
        happen(Event{.kind = kind});
    }
    void wait(Time seconds)
    {
        now += seconds * second;
        happen(Kind::time);
    }
    void plug(Cause cause = Cause::unknown)
    {
        happen(Event{.kind = Kind::appeared, .cause = cause});
        happen(Kind::named);
        happen(Event{.kind = Kind::ports, .flag = true});
    }
    void unplug()
    {
        happen(Kind::removing);
        happen(Kind::gone);
    }
    /// A return, a second after.
    void cycle()
    {
        unplug();
        wait(1);
        plug();
    }
    [[nodiscard]] bool was_told(Change::Kind kind)
    {
        const auto told = std::exchange(changes, {});
        return std::any_of(told.begin(), told.end(),
                           [&](const Change& change) { return change.kind == kind; });
    }
};

} // namespace

TEST_CASE("a device settles before it is ready", "[life]")
{
    Story story;
    CHECK(story.life.state == State::absent);
    story.happen(Kind::appeared);
    CHECK(story.life.state == State::appeared);
    CHECK(may_start(story.life));
    story.happen(Kind::named);
    story.wait(10);
    CHECK(story.life.state == State::settling);
    story.happen(Event{.kind = Kind::ports, .flag = true});
    story.wait(1);
    story.happen(Kind::touched);
    story.wait(1);
    CHECK_FALSE(is_ready(story.life));
    story.wait(1);
    CHECK(story.life.state == State::ready);
    CHECK(story.changes ==
          std::vector<Change>{{Change::Kind::state, State::absent, State::appeared},
                              {Change::Kind::state, State::appeared, State::settling},
                              {Change::Kind::state, State::settling, State::ready}});
    story.happen(Event{.kind = Kind::ports, .flag = false});
    CHECK(story.life.state == State::settling);
}

TEST_CASE("a device that does not get ready is degraded, until it does", "[life]")
{
    Story story;
    story.happen(Kind::appeared);
    story.happen(Kind::named);
    story.wait(89);
    CHECK_FALSE(story.was_told(Change::Kind::degraded));
    story.wait(1);
    CHECK(story.was_told(Change::Kind::degraded));
    CHECK(may_start(story.life));
    CHECK_FALSE(is_ready(story.life));
    story.happen(Event{.kind = Kind::ports, .flag = true});
    story.wait(2);
    CHECK(is_ready(story.life));
}

TEST_CASE("a device that blinked settles anew", "[life]")
{
    Story story;
    story.plug();
    story.wait(1);
    story.happen(Kind::blinked);
    story.wait(1);
    CHECK_FALSE(is_ready(story.life));
    story.wait(1);
    CHECK(is_ready(story.life));
    story.happen(Kind::blinked);
    CHECK_FALSE(is_ready(story.life));
    story.wait(2);
    CHECK(is_ready(story.life));
    CHECK(story.life.returns.size() == 2);
}

TEST_CASE("a device that is never quiet is ready all the same", "[life]")
{
    Story story;
    story.plug();
    for (int i = 0; i < 90; i++) {
        story.wait(1);
        story.happen(Kind::touched);
    }
    CHECK(is_ready(story.life));
}

TEST_CASE("one that is back within its grace was reset, one that is not is lost", "[life]")
{
    Story story;
    story.plug();
    story.unplug();
    CHECK(story.life.state == State::grace);
    CHECK_FALSE(may_start(story.life));
    story.wait(29);
    CHECK(story.life.state == State::grace);
    story.plug();
    CHECK(story.life.state == State::settling);
    CHECK(story.life.returns.size() == 1);
    story.unplug();
    story.wait(30);
    CHECK(story.life.state == State::lost);
}

TEST_CASE("an error recovery has a longer grace", "[life]")
{
    Story story;
    story.plug();
    const bool is_told_before = GENERATE(true, false);
    if (is_told_before)
        story.happen(Event{.kind = Kind::recovery, .flag = true});
    story.unplug();
    if (!is_told_before)
        story.happen(Event{.kind = Kind::cause, .cause = Cause::error_recovery});
    CHECK(story.life.cause == Cause::error_recovery);
    story.wait(119);
    CHECK(story.life.state == State::grace);
    story.wait(1);
    CHECK(story.life.state == State::lost);
}

TEST_CASE("a recovery whose end is not told does not go on for ever", "[life]")
{
    Story story;
    story.plug();
    story.wait(10);
    story.happen(Event{.kind = Kind::recovery, .flag = true});
    story.wait(119);
    CHECK_FALSE(is_ready(story.life));
    story.wait(1);
    CHECK(is_ready(story.life));
    CHECK_FALSE(story.life.is_degraded);
    story.unplug();
    CHECK(story.life.cause == Cause::unknown);
}

TEST_CASE("a recovery has its time, though the device settled for long before it", "[life]")
{
    Story story;
    story.happen(Kind::appeared);
    story.happen(Kind::named);
    story.wait(85);
    story.happen(Event{.kind = Kind::recovery, .flag = true});
    story.wait(119);
    CHECK(story.life.is_recovering);
    // it is told once more
    story.happen(Event{.kind = Kind::recovery, .flag = true});
    story.wait(1);
    CHECK_FALSE(story.life.is_recovering);
    CHECK(story.life.is_degraded);
}

TEST_CASE("what an administrator has prepared is not expected back", "[life]")
{
    Story story;
    story.plug();
    story.happen(Kind::drain);
    CHECK_FALSE(may_start(story.life));
    // whatever follows
    story.happen(Event{.kind = Kind::recovery, .flag = GENERATE(false, true)});
    story.happen(Kind::removing);
    story.happen(Kind::gone);
    CHECK(story.life.state == State::lost);
    CHECK(story.life.cause == Cause::administrator);
    CHECK(story.was_told(Change::Kind::went));
    story.happen(Event{.kind = Kind::cause, .cause = Cause::hot_unplug});
    CHECK(story.life.cause == Cause::administrator);
    // the work is done: the next device in its place is none of it
    story.plug();
    CHECK(may_start(story.life));
}

TEST_CASE("the last that is learnt in time of why a device went is what counts", "[life]")
{
    Story story;
    story.plug();
    story.unplug();
    // a driver that is unloaded unbinds first
    story.happen(Event{.kind = Kind::cause, .cause = Cause::administrator});
    story.happen(Event{.kind = Kind::cause, .cause = Cause::driver_reload});
    CHECK(story.life.cause == Cause::driver_reload);
    CHECK_FALSE(story.was_told(Change::Kind::went));
    story.wait(3);
    CHECK(story.was_told(Change::Kind::went));
    story.happen(Event{.kind = Kind::cause, .cause = Cause::hot_unplug});
    CHECK(story.life.cause == Cause::driver_reload);
}

TEST_CASE("that a reset was a reload is told, also when the device is back", "[life]")
{
    Story story;
    story.plug();
    story.unplug();
    story.happen(Event{.kind = Kind::cause, .cause = Cause::reset});
    SECTION("in time")
    {
        story.happen(Kind::reload);
        story.wait(3);
        CHECK(story.was_told(Change::Kind::went));
        CHECK_FALSE(story.was_told(Change::Kind::explained));
        CHECK(story.life.cause == Cause::driver_reload);
    }
    SECTION("after its return")
    {
        story.plug();
        CHECK(story.was_told(Change::Kind::went));
        const auto before = story.life;
        story.happen(Kind::reload);
        CHECK(story.was_told(Change::Kind::explained));
        CHECK(story.life.cause == Cause::driver_reload);
        // and that is all
        CHECK(story.life.state == before.state);
        CHECK(story.life.active == before.active);
    }
    SECTION("much later it is about something else")
    {
        story.plug();
        story.wait(11);
        story.happen(Kind::reload);
        CHECK_FALSE(story.was_told(Change::Kind::explained));
        CHECK(story.life.cause == Cause::reset);
    }
}

TEST_CASE("a reload explains no end whose reason is known", "[life]")
{
    Story story;
    story.plug();
    story.unplug();
    const auto cause = GENERATE(Cause::hot_unplug, Cause::administrator, Cause::error_recovery);
    story.happen(Event{.kind = Kind::cause, .cause = cause});
    story.happen(Kind::reload);
    story.plug();
    story.happen(Kind::reload);
    CHECK(story.life.cause == cause);
    CHECK_FALSE(story.was_told(Change::Kind::explained));
}

TEST_CASE("a drain is undone", "[life]")
{
    Story story;
    story.plug();
    story.happen(Kind::drain);
    story.wait(1000);
    CHECK(story.life.state == State::draining);
    story.happen(Kind::resume);
    CHECK(may_start(story.life));
    story.wait(2);
    CHECK(is_ready(story.life));
}

TEST_CASE("one that somebody holds is blocked", "[life]")
{
    const bool is_prepared = GENERATE(false, true);
    Story story;
    story.plug();
    if (is_prepared)
        story.happen(Kind::drain);
    story.happen(Kind::removing);
    // too late
    story.happen(Kind::resume);
    CHECK(story.life.state == State::removing);
    story.wait(4);
    CHECK_FALSE(story.was_told(Change::Kind::blocked));
    story.wait(1);
    CHECK(story.was_told(Change::Kind::blocked));
    CHECK(story.life.is_blocked);
    story.wait(100);
    CHECK_FALSE(story.was_told(Change::Kind::blocked));
    story.happen(Kind::gone);
    CHECK_FALSE(story.life.is_blocked);
}

TEST_CASE("the third return within ten minutes holds", "[life]")
{
    Story story;
    story.plug();
    story.cycle();
    story.cycle();
    CHECK(may_start(story.life));
    story.cycle();
    CHECK_FALSE(may_start(story.life));
    CHECK(story.was_told(Change::Kind::held));
    // each return while it is held begins the wait anew
    story.wait(20);
    story.cycle();
    story.wait(29);
    CHECK_FALSE(may_start(story.life));
    CHECK_FALSE(story.was_told(Change::Kind::held));
    story.wait(1);
    CHECK(may_start(story.life));
    CHECK(story.was_told(Change::Kind::released));
}

TEST_CASE("returns that are long past do not count", "[life]")
{
    Story story;
    story.plug();
    story.cycle();
    story.cycle();
    const Time wait = GENERATE(Time(597), Time(598));
    story.wait(wait);
    story.cycle();
    // the first was wait + 2 seconds before
    CHECK(story.life.held_until.has_value() == (wait == 597));
}

TEST_CASE("holds grow to ten minutes", "[life]")
{
    Story story;
    story.plug();
    story.cycle();
    story.cycle();
    for (const auto wait : std::initializer_list<Time>{30, 60, 120, 240, 480}) {
        story.cycle();
        CHECK(*story.life.held_until == story.now + wait * second);
        story.wait(wait);
        CHECK(may_start(story.life));
    }
    story.settings.flap_window = 6000 * second;
    story.cycle();
    CHECK(*story.life.held_until == story.now + 600 * second);
}

TEST_CASE("a release forgets the returns", "[life]")
{
    Story story;
    story.plug();
    for (int i = 0; i < 3; i++)
        story.cycle();
    CHECK_FALSE(may_start(story.life));
    story.happen(Kind::release);
    CHECK(may_start(story.life));
    story.cycle();
    story.cycle();
    CHECK(may_start(story.life));
    story.cycle();
    CHECK(*story.life.held_until == story.now + 30 * second);
}

TEST_CASE("another device in the same place waits to be accepted", "[life]")
{
    Story story;
    story.plug();
    story.unplug();
    story.plug(Cause::replaced);
    CHECK(story.life.cause == Cause::replaced);
    CHECK_FALSE(story.life.is_accepted);
    CHECK(may_start(story.life));
    // that it comes and goes makes it no less another one
    story.unplug();
    story.plug();
    CHECK_FALSE(story.life.is_accepted);
    story.happen(Kind::accept);
    CHECK(story.life.is_accepted);
    CHECK(story.was_told(Change::Kind::accepted));
    story.happen(Kind::accept);
    CHECK_FALSE(story.was_told(Change::Kind::accepted));
    story.unplug();
    story.plug();
    CHECK(story.life.is_accepted);
}

TEST_CASE("an appearance of which nobody saw the end had one", "[life]")
{
    Story story;
    story.plug();
    story.wait(5);
    story.plug();
    CHECK(story.life.went == story.now);
    CHECK(story.life.returns.size() == 1);
    CHECK(story.life.index == 2);
}

TEST_CASE("states and causes have names", "[life]")
{
    CHECK(to_string(State::absent) == "absent");
    CHECK(to_string(State::lost) == "lost");
    CHECK(to_string(Cause::unknown) == "unknown");
    CHECK(to_string(Cause::netns_move) == "netns move");
}
