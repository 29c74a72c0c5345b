// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/supervisor/verdict.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <string>

using namespace rdmad;
using config::Require;
using config::Restart;
using systemd::UnitState;

namespace {

constexpr uint64_t second = 1'000'000;
/// When the unit of most tests began to run, and when it ceased to.
constexpr uint64_t began = 100 * second;
constexpr uint64_t ended = 200 * second;
constexpr uint64_t now = 1000 * second;

Member port(const std::string& guid, uint32_t index = 1)
{
    return {.binding = "50-a.binding", .device = "mlx5_0", .index = index, .port = 1, .guid = guid};
}

UnitState never_ran()
{
    return {.load_state = "loaded", .active_state = "inactive", .file_state = "static"};
}

UnitState running(uint64_t since = began)
{
    auto unit = never_ran();
    unit.active_state = "active";
    unit.inactive_exit = since;
    return unit;
}

UnitState down(const std::string& active_state = "inactive", uint64_t since = ended)
{
    auto unit = running();
    unit.active_state = active_state;
    unit.active_exit = unit.state_change = since;
    return unit;
}

Loss lost(Member member, uint64_t removed, bool is_back = false)
{
    member.removed = removed;
    return {std::move(member), is_back};
}

/// A binding that needs one port, which is there and tied.
Group satisfied()
{
    return {.present = {port("a")}, .is_anchored = true};
}

/// A binding whose one port went.
Group bereft(uint64_t removed)
{
    return {.lost = {lost(port("a"), removed)}, .is_anchored = true};
}

/// A binding whose one port went, and is there again.
Group restored(uint64_t removed)
{
    return {
        .present = {port("a", 2)}, .lost = {lost(port("a"), removed, true)}, .is_anchored = true};
}

/// Tied to a unit that was not seen to run with it.
Member unused(Member member)
{
    member.is_unused = true;
    return member;
}

/// As the Supervisor leaves it after a look at the running unit.
Memory of_running()
{
    return {.is_known = true, .was_up = true, .began = began, .file_state = "static"};
}

/// What counts of a run that was seen.
constexpr LossWindow of_seen_run = {
    .used_since = began, .tied_since = began - 5 * second, .unused_since = began};

/// Of a unit that is down and that an unplug stopped.
Memory of_unplugged()
{
    auto memory = of_running();
    memory.was_up = false;
    memory.stop = {Stop::Cause::unplug, ended, 1, port("a")};
    return memory;
}

/// rdmad has asked for a start of that.
Memory of_asked()
{
    auto memory = of_unplugged();
    memory.is_asked = true;
    return memory;
}

Verdict look(const Memory& memory, const UnitState& unit, std::vector<Group> groups,
             const std::string& job_result = "")
{
    return judge(memory, {.unit = unit,
                          .groups = std::move(groups),
                          .now = 7,
                          .now_monotonic = now,
                          .job_result = job_result});
}

Stop::Cause cause_of(const Verdict& verdict)
{
    REQUIRE(verdict.memory.stop.has_value());
    return verdict.memory.stop->cause;
}

} // namespace

// -- at first sight -------------------------------------------------------------------------------

TEST_CASE("a unit that never ran is started when its port is there", "[verdict]")
{
    const auto verdict = look({}, never_ran(), {satisfied()});
    CHECK(verdict.action == Action::start);
    CHECK(verdict.memory.is_known);
    CHECK(verdict.memory.is_wanted);
    CHECK(verdict.memory.is_asked);
    CHECK_FALSE(verdict.memory.stop.has_value());
}

TEST_CASE("a unit that somebody stopped before it was bound is left alone", "[verdict]")
{
    const auto* state = GENERATE("inactive", "failed", "deactivating");
    const auto verdict = look({}, down(state), {satisfied()});
    CHECK(verdict.action == Action::none);
    CHECK(verdict.memory.is_known);
    CHECK_FALSE(verdict.memory.is_wanted);
    CHECK_FALSE(verdict.memory.stop.has_value());
    CHECK(verdict.reason == "is left alone: it was stopped before it was bound");
    CHECK(verdict.is_left_alone);
    // and stays so
    CHECK(look(verdict.memory, down(state), {satisfied()}).action == Action::none);
}

TEST_CASE("a unit that runs when it is bound is just watched", "[verdict]")
{
    const auto verdict = look({}, running(), {satisfied()});
    CHECK(verdict.action == Action::none);
    CHECK(verdict.memory == of_running());
    CHECK(verdict.reason == "runs");
}

TEST_CASE("a unit that is up clears all that was held against it", "[verdict]")
{
    const auto* state = GENERATE("active", "activating", "reloading", "refreshing");
    auto before = of_asked();
    before.is_wanted = GENERATE(true, false);
    before.stop->cause = Stop::Cause::other;
    auto unit = running(300 * second);
    unit.active_state = state;
    unit.file_state = "enabled";
    const auto verdict = look(before, unit, {satisfied()}, "done");
    CAPTURE(state);
    CHECK(verdict.action == Action::none);
    CHECK(verdict.memory == Memory{.is_known = true,
                                   .was_up = true,
                                   .is_wanted = true,
                                   .is_asked = false,
                                   .began = 300 * second,
                                   .file_state = "enabled"});
}

TEST_CASE("what PID 1 does not say of a unit's file stays as it was", "[verdict]")
{
    auto unit = running();
    unit.file_state.clear();
    CHECK(look(of_running(), unit, {satisfied()}).memory.file_state == "static");
}

// -- who stopped it -------------------------------------------------------------------------------

TEST_CASE("time tells who stopped a unit", "[verdict]")
{
    struct Row {
        const char* state;
        uint64_t removed;
        Stop::Cause cause;
    };
    // a failure may come up to 5 s before the device goes
    const auto row = GENERATE(Row{"inactive", ended - 50 * second, Stop::Cause::unplug},
                              Row{"inactive", ended - 1, Stop::Cause::unplug},
                              Row{"inactive", ended, Stop::Cause::unplug},
                              Row{"inactive", ended + 1, Stop::Cause::other},
                              Row{"inactive", ended + 5 * second, Stop::Cause::other},
                              Row{"deactivating", ended, Stop::Cause::unplug},
                              Row{"deactivating", ended + 1, Stop::Cause::other},
                              Row{"failed", ended - 1, Stop::Cause::unplug},
                              Row{"failed", ended + 5 * second, Stop::Cause::unplug},
                              Row{"failed", ended + 5 * second + 1, Stop::Cause::failure});
    CAPTURE(row.state, row.removed);
    const bool is_unplug = row.cause == Stop::Cause::unplug;
    const auto verdict = look(of_running(), down(row.state), {bereft(row.removed)});
    CHECK(verdict.action == Action::none);
    CHECK(verdict.memory.is_wanted == is_unplug);
    CHECK_FALSE(verdict.memory.was_up);
    CHECK(verdict.memory.stop == Stop{row.cause, ended, 7,
                                      is_unplug ? lost(port("a"), row.removed).member : Member(),
                                      of_seen_run});
}

TEST_CASE("a port of which nobody knows when it went may have stopped the unit", "[verdict]")
{
    const auto* state = GENERATE("inactive", "failed");
    CHECK(cause_of(look(of_running(), down(state), {bereft(0)})) == Stop::Cause::unplug);
}

TEST_CASE("a stop without any loss is none of an unplug", "[verdict]")
{
    CHECK(cause_of(look(of_running(), down(), {satisfied()})) == Stop::Cause::other);
    CHECK(cause_of(look(of_running(), down("failed"), {satisfied()})) == Stop::Cause::failure);
    CHECK(cause_of(look(of_running(), down(), {})) == Stop::Cause::other);
}

TEST_CASE("a unit that was stopped while it started went down with its last change", "[verdict]")
{
    auto unit = down();
    unit.inactive_exit = ended - 2; // the time it was active is that of an earlier run
    unit.active_exit = began - second;
    auto memory = of_running();
    memory.began = unit.inactive_exit;
    CHECK(cause_of(look(memory, unit, {bereft(ended - 1)})) == Stop::Cause::unplug);
    CHECK(cause_of(look(memory, unit, {bereft(ended + 1)})) == Stop::Cause::other);
}

TEST_CASE(
    "a service that fails of its port, and that PID 1 restarts once, was stopped by the unplug",
    "[verdict]")
{
    // udev noted the removal, and PID 1 has restarted the service before it stops it
    auto state = down();
    state.active_exit = ended - 2 * second;
    state.inactive_exit = ended - second;
    auto group = bereft(ended - 2 * second);
    auto& member = group.lost[0].member;
    member.anchor = "rdmad-a.service:1:uverbs0.slice";
    CHECK(cause_of(look(of_running(), state, {group})) == Stop::Cause::unplug);
    // what it is not tied to does not have PID 1 stop it
    member.anchor.clear();
    CHECK(cause_of(look(of_running(), state, {group})) == Stop::Cause::other);
    // nor what went long before
    member.anchor = "rdmad-a.service:1:uverbs0.slice";
    member.removed = state.inactive_exit - 5 * second - 1;
    CHECK(cause_of(look(of_running(), state, {group})) == Stop::Cause::other);
    member.removed = state.inactive_exit - 5 * second;
    CHECK(cause_of(look(of_running(), state, {group})) == Stop::Cause::unplug);
}

TEST_CASE("what an administrator stopped before the unplug stays stopped", "[verdict]")
{
    const auto stopped = look(of_running(), down(), {satisfied()});
    const auto unplugged = look(stopped.memory, down(), {bereft(ended + 1)});
    const auto returned = look(unplugged.memory, down(), {restored(ended + 1)});
    for (const auto* verdict : {&stopped, &unplugged, &returned}) {
        CHECK(verdict->action == Action::none);
        CHECK_FALSE(verdict->memory.is_wanted);
        CHECK(verdict->reason == "is left alone: it was stopped, or ended by itself");
    }
}

TEST_CASE("what an unplug stopped is started once when the port returns", "[verdict]")
{
    const auto stopped = look(of_running(), down(), {bereft(ended)});
    CHECK(stopped.reason == "waits for the return of port a of mlx5_0");
    const auto still = look(stopped.memory, down(), {bereft(ended)});
    CHECK(still.memory == stopped.memory);
    const auto returned = look(still.memory, down(), {restored(ended)});
    CHECK(returned.action == Action::start);
    CHECK(look(returned.memory, down(), {satisfied()}).action == Action::none);
}

TEST_CASE("a stop is judged once", "[verdict]")
{
    const auto stopped = look(of_running(), down(), {satisfied()});
    // a note of a removal that comes late, or a clock that jumps, does not change what was said
    CHECK(look(stopped.memory, down(), {bereft(ended - 1)}).memory.stop == stopped.memory.stop);
    const auto unplugged = look(of_running(), down(), {bereft(ended)});
    CHECK(look(unplugged.memory, down(), {bereft(ended + 1)}).memory == unplugged.memory);
}

TEST_CASE("the loss that a unit failed of may be known later", "[verdict]")
{
    const auto failed = look(of_running(), down("failed"), {satisfied()});
    CHECK(cause_of(failed) == Stop::Cause::failure);
    CHECK_FALSE(failed.memory.is_wanted);
    CHECK(failed.reason == "is left alone: it failed");
    const auto known = look(failed.memory, down("failed"), {bereft(ended + 5 * second)});
    CHECK(cause_of(known) == Stop::Cause::unplug);
    CHECK(known.memory.stop->lost.guid == "a");
    CHECK(known.memory.is_wanted);
    const auto returned = look(known.memory, down("failed"), {restored(ended + 5 * second)});
    CHECK(returned.action == Action::start);

    const auto unrelated = look(failed.memory, down("failed"), {bereft(ended + 5 * second + 1)});
    CHECK(cause_of(unrelated) == Stop::Cause::failure);
    CHECK_FALSE(unrelated.memory.is_wanted);
}

TEST_CASE("a loss that is known later counts as if it had been known at once", "[verdict]")
{
    struct Row {
        Memory memory;
        const char* job_result;
        bool is_tied;
        bool is_used;
        uint64_t removed;
        bool is_reason;
    };
    // the unit began to run at `began`, for PID 1 or rdmad, and failed at `ended`
    auto restarted = of_running();
    restarted.began = began - 10 * second;
    auto unseen = restarted;
    unseen.was_up = false;
    auto asked = unseen;
    asked.is_asked = true;
    const auto row = GENERATE_COPY(
        Row{restarted, "", true, true, began, true},
        Row{restarted, "", true, true, began - 5 * second, true},
        Row{restarted, "", true, true, began - 5 * second - 1, false},
        Row{restarted, "", false, true, began, true},
        Row{restarted, "", false, true, began - 1, false}, Row{unseen, "", true, true, began, true},
        Row{unseen, "", true, true, began - 1, false}, Row{unseen, "", true, false, began, true},
        Row{unseen, "", true, false, began - 1, false}, Row{asked, "", true, true, began - 1, true},
        Row{asked, "", true, false, began - 1, false});
    auto loss = lost(port("a"), row.removed);
    loss.member.anchor = row.is_tied ? "rdmad-a.service:1:uverbs1.slice" : "";
    loss.member.is_unused = !row.is_used;
    const Group gone = {.lost = {loss}, .is_anchored = true};
    CAPTURE(row.memory.was_up, row.memory.is_asked, row.is_tied, row.is_used, row.removed);
    const auto at_once = look(row.memory, down("failed"), {gone});
    const auto failed = look(row.memory, down("failed"), {satisfied()});
    CHECK(cause_of(failed) == Stop::Cause::failure);
    const auto later = look(failed.memory, down("failed"), {gone});
    const auto cause = row.is_reason ? Stop::Cause::unplug : Stop::Cause::failure;
    CHECK(cause_of(at_once) == cause);
    CHECK(cause_of(later) == cause);
    CHECK(later.memory == at_once.memory);
}

TEST_CASE("a failure stays what it was, and when, though it is looked at again", "[verdict]")
{
    const auto* result = GENERATE("", "failed", "dependency", "done");
    const auto failed = *result ? look(of_asked(), down(), {satisfied()}, result)
                                : look(of_running(), down("failed"), {satisfied()});
    REQUIRE(cause_of(failed) != Stop::Cause::other);
    const auto again = judge(
        failed.memory,
        {.unit = down("failed"), .groups = {satisfied()}, .now = 8, .now_monotonic = now + second});
    CHECK(again.memory == failed.memory);
    // "systemctl reset-failed"
    CHECK(look(failed.memory, down("inactive"), {satisfied()}).memory == failed.memory);
}

TEST_CASE("a start that failed long before the port goes failed of something else", "[verdict]")
{
    const auto* result = GENERATE("failed", "dependency", "done");
    const auto failed = look(of_asked(), down(), {satisfied()}, result);
    REQUIRE(cause_of(failed) != Stop::Cause::other);
    const auto later = [&](uint64_t removed) {
        return judge(failed.memory, {.unit = down(),
                                     .groups = {bereft(removed)},
                                     .now = 8,
                                     .now_monotonic = now + 3600 * second});
    };
    CHECK(cause_of(later(now + 5 * second)) == Stop::Cause::unplug);
    CHECK(cause_of(later(now + 5 * second + 1)) == cause_of(failed));
    CHECK_FALSE(later(now + 3000 * second).memory.is_wanted);
}

TEST_CASE("a run that nobody saw is judged, too", "[verdict]")
{
    // rdmad was away, or the unit is quick
    auto before = of_running();
    before.was_up = false;
    before.began = began - 10 * second;
    CHECK(cause_of(look(before, down(), {bereft(ended)})) == Stop::Cause::unplug);
    CHECK(cause_of(look(before, down(), {satisfied()})) == Stop::Cause::other);
    CHECK(look(before, down(), {satisfied()}).memory.began == began);
}

TEST_CASE("a loss before a run that nobody saw did not end that run", "[verdict]")
{
    auto before = of_unplugged();
    before.began = began - 50 * second;
    const auto verdict = look(before, down(), {restored(began - 1)});
    CHECK(cause_of(verdict) == Stop::Cause::other);
    CHECK(verdict.action == Action::none);
    CHECK(cause_of(look(before, down(), {bereft(began)})) == Stop::Cause::unplug);
}

TEST_CASE("a run that nobody saw ended with a port that the unit had no run with before",
          "[verdict]")
{
    auto before = of_running();
    before.was_up = false;
    before.began = began - 10 * second;
    const auto look_at = [&](std::vector<Loss> losses, Require require = Require::all) {
        const Group group = {.require = require, .lost = std::move(losses), .is_anchored = true};
        return look(before, down(), {group});
    };
    const Loss early = lost(unused(port("b")), began - 1);
    const Loss in_time = lost(unused(port("a")), ended);
    auto late = lost(unused(port("c")), ended + 1);
    late.was_tied = true;
    CHECK(cause_of(look_at({in_time})) == Stop::Cause::unplug);
    CHECK(cause_of(look_at({early})) == Stop::Cause::other);
    CHECK(cause_of(look_at({late})) == Stop::Cause::other);
    // where one will do, what had gone before is no matter, and what was left is
    CHECK(cause_of(look_at({early, in_time}, Require::any)) == Stop::Cause::unplug);
    CHECK(cause_of(look_at({in_time, late}, Require::any)) == Stop::Cause::other);
    // but for one that was tied too late
    auto too_late = late;
    too_late.was_tied = false;
    CHECK(cause_of(look_at({in_time, too_late}, Require::any)) == Stop::Cause::unplug);
    // of a start that rdmad asked for, too, though its port may go before it begins
    before.is_asked = true;
    CHECK(cause_of(look_at({lost(port("a"), began - 1)})) == Stop::Cause::unplug);
    CHECK(cause_of(look_at({early})) == Stop::Cause::other);
}

TEST_CASE("a start that came to nothing ended with no port that it was not to have", "[verdict]")
{
    const Group group = {
        .present = {port("b")}, .lost = {lost(unused(port("a")), now - 1)}, .is_anchored = true};
    CHECK(cause_of(look(of_asked(), down(), {group}, "canceled")) == Stop::Cause::other);
}

TEST_CASE("a port that a unit did not run with is not waited for", "[verdict]")
{
    // so long after the stop that the unit cannot have failed of it
    const Group group = {.present = {port("b")},
                         .lost = {lost(unused(port("a")), ended + 5 * second + 1)},
                         .is_anchored = true};
    CHECK(look({.is_known = true}, never_ran(), {group}).action == Action::start);
    CHECK(look(of_unplugged(), down(), {group}).action == Action::start);
    // nor is the unit stopped for it
    CHECK(look(of_asked(), running(300 * second), {group}).action == Action::none);
}

TEST_CASE("a port that went within the run that an unplug ended, or just after, is waited for",
          "[verdict]")
{
    const auto action_for = [](uint64_t removed) {
        const Group group = {.present = {port("b")},
                             .lost = {lost(unused(port("a")), removed)},
                             .is_anchored = true};
        return look(of_unplugged(), down(), {group}).action;
    };
    CHECK(action_for(began - 1) == Action::start);
    CHECK(action_for(began) == Action::none);
    CHECK(action_for(ended + 5 * second) == Action::none);
    CHECK(action_for(ended + 5 * second + 1) == Action::start);
}

TEST_CASE("a port that ended a run that nobody saw is waited for at once", "[verdict]")
{
    auto before = of_running();
    before.was_up = false;
    before.began = began - 10 * second;
    const auto look_at = [&](uint64_t removed, bool is_back) {
        const Group group = {.present = {port("b")},
                             .lost = {lost(unused(port("a")), removed, is_back)},
                             .is_anchored = true};
        return look(before, down(), {group});
    };
    const auto verdict = look_at(ended, false);
    CHECK(cause_of(verdict) == Stop::Cause::unplug);
    CHECK(verdict.action == Action::none);
    CHECK(verdict.reason.find("waits for the return of") == 0);
    CHECK(look_at(ended, true).action == Action::start);
}

TEST_CASE("where one port would do, all that it ran with had to go", "[verdict]")
{
    const auto any = [](std::vector<Loss> losses, bool has_tied) {
        return Group{.require = Require::any,
                     .lost = std::move(losses),
                     .has_kept = true,
                     .has_tied = has_tied,
                     .is_anchored = true};
    };
    const Loss before = lost(port("a"), ended - 1);
    const Loss untied = lost(port("b"), ended + 1);
    auto after = untied;
    after.was_tied = true;
    CHECK(cause_of(look(of_running(), down(), {any({before}, false)})) == Stop::Cause::unplug);
    CHECK(cause_of(look(of_running(), down(), {any({before}, true)})) == Stop::Cause::other);
    CHECK(cause_of(look(of_running(), down(), {any({before, after}, false)})) ==
          Stop::Cause::other);
    CHECK(cause_of(look(of_running(), down(), {any({before, untied}, false)})) ==
          Stop::Cause::unplug);
    CHECK(cause_of(look(of_running(), down(), {any({before, before}, false)})) ==
          Stop::Cause::unplug);
    CHECK(cause_of(look(of_running(), down("failed"), {any({before, after}, false)})) ==
          Stop::Cause::unplug);
    // where all are needed one is enough
    CHECK(
        cause_of(look(of_running(), down(), {Group{.lost = {after, before}, .has_kept = true}})) ==
        Stop::Cause::unplug);
}

TEST_CASE("of several bindings the one that broke counts", "[verdict]")
{
    const auto verdict = look(of_running(), down(), {satisfied(), bereft(ended)});
    CHECK(cause_of(verdict) == Stop::Cause::unplug);
    CHECK(cause_of(look(of_running(), down(), {bereft(ended + 1), satisfied()})) ==
          Stop::Cause::other);
}

// -- when it is started ---------------------------------------------------------------------------

TEST_CASE("a unit that still stops is started behind that when its port is there", "[verdict]")
{
    auto unit = down("deactivating");
    unit.has_job = true;
    const auto verdict = look(of_running(), unit, {restored(ended)});
    CHECK(verdict.action == Action::start);
    CHECK(verdict.reason == "starts as soon as it has stopped");
    CHECK(look(verdict.memory, unit, {satisfied()}).action == Action::none);
    CHECK(look(verdict.memory, down(), {satisfied()}).action == Action::none);
}

TEST_CASE("what stands in the way of a start is told, and the unit is not forgotten", "[verdict]")
{
    struct Row {
        const char* reason;
        UnitState unit;
        Group group;
        bool is_coming = false;
    };
    const auto with = [](auto change) {
        auto unit = down();
        change(unit);
        return unit;
    };
    const auto masked = with([](UnitState& unit) { unit.load_state = "masked"; });
    const auto gone = with([](UnitState& unit) { unit.load_state = "not-found"; });
    const auto disabled = with([](UnitState& unit) { unit.file_state = "disabled"; });
    const auto starting = with([](UnitState& unit) { unit.has_job = true; });
    const auto group = [](auto change) {
        auto some = satisfied();
        change(some);
        return some;
    };
    const auto left = group([](Group& some) { some.restart = Restart::no; });
    auto left_and_gone = bereft(ended);
    left_and_gone.restart = Restart::no;
    const auto unready = group([](Group& some) {
        some.present.push_back(port("b"));
        some.present[1].is_ready = false;
    });
    const auto all_unready = group([](Group& some) {
        some.require = Require::any;
        some.present[0].is_ready = false;
    });
    const auto incomplete = group([](Group& some) { some.expected = {"b", "c"}; });
    const auto without_umad = group([](Group& some) {
        some.node = config::BindingNode::umad;
        some.expected = {"b"};
    });
    const auto untied = group([](Group& some) { some.is_anchored = false; });
    const auto halved = group([](Group& some) { some.lost = {lost(port("b"), ended)}; });
    const auto row =
        GENERATE_COPY(Row{"is left alone: it is masked", masked, satisfied()},
                      Row{"is left alone: systemd cannot load it: not-found", gone, satisfied()},
                      Row{"is left alone: it was disabled since it ran", disabled, satisfied()},
                      Row{"is being started", starting, satisfied(), true},
                      Row{"waits for a port that matches", down(), Group{.is_anchored = true}},
                      Row{"waits for a port that matches", down(),
                          Group{.require = Require::any, .is_anchored = true}},
                      Row{"waits for the return of port a of mlx5_0", down(), bereft(ended)},
                      Row{"waits for the return of port b of mlx5_0", down(), halved},
                      Row{"waits for port b", down(), incomplete},
                      Row{"waits for the umad node of port b", down(), without_umad},
                      Row{"waits for the issm node of a port that matches", down(),
                          Group{.node = config::BindingNode::issm, .is_anchored = true}},
                      Row{"is left alone: Restart=no", down(), left},
                      Row{"is left alone: Restart=no", down(), left_and_gone},
                      Row{"waits until port b of mlx5_0 can be used", down(), unready, true},
                      Row{"waits until port a of mlx5_0 can be used", down(), all_unready, true},
                      Row{"is being tied to its ports", down(), untied, true});
    for (const auto& groups : {std::vector{row.group}, std::vector{satisfied(), row.group}}) {
        const auto verdict = look(of_unplugged(), row.unit, groups);
        CHECK(verdict.reason == row.reason);
        CHECK(verdict.is_left_alone == verdict.reason.starts_with("is left alone: "));
        CHECK(verdict.is_coming == row.is_coming);
        CHECK(verdict.action == Action::none);
        CHECK(verdict.memory == of_unplugged());
    }
}

TEST_CASE("a unit without a binding is not started", "[verdict]")
{
    CHECK(look(of_unplugged(), down(), {}).reason == "is not bound");
}

TEST_CASE("where one port would do, one that is ready does", "[verdict]")
{
    auto group = satisfied();
    group.require = Require::any;
    group.present.push_back(port("b"));
    group.present[0].is_ready = GENERATE(true, false);
    group.present[1].is_ready = !group.present[0].is_ready;
    group.lost = {lost(port("c"), ended)};
    group.expected = {"c"};
    CHECK(look(of_unplugged(), down(), {group}).action == Action::start);
}

TEST_CASE("a unit that is disabled as ever is started", "[verdict]")
{
    auto unit = down();
    unit.file_state = "disabled";
    auto memory = of_unplugged();
    memory.file_state = GENERATE("disabled", "");
    CHECK(look(memory, unit, {satisfied()}).action == Action::start);
}

// -- a start that was asked for -------------------------------------------------------------------

TEST_CASE("a start is asked for once", "[verdict]")
{
    auto unit = down();
    unit.has_job = GENERATE(true, false);
    const auto verdict = look(of_asked(), unit, {satisfied()});
    CHECK(verdict.action == Action::none);
    CHECK(verdict.memory == of_asked());
    CHECK(verdict.reason == "is being started");
}

TEST_CASE("a start that came to nothing is judged by why", "[verdict]")
{
    struct Row {
        const char* result;
        Group group;
        Stop::Cause cause;
    };
    const auto row = GENERATE(Row{"canceled", bereft(now - 1), Stop::Cause::unplug},
                              Row{"canceled", bereft(now), Stop::Cause::unplug},
                              Row{"canceled", restored(now), Stop::Cause::unplug},
                              Row{"dependency", bereft(now), Stop::Cause::unplug},
                              Row{"canceled", satisfied(), Stop::Cause::other},
                              Row{"canceled", bereft(now + 1), Stop::Cause::other},
                              Row{"failed", satisfied(), Stop::Cause::failure},
                              Row{"dependency", satisfied(), Stop::Cause::dependency},
                              Row{"done", satisfied(), Stop::Cause::condition},
                              Row{"done", bereft(now), Stop::Cause::unplug},
                              Row{"timeout", satisfied(), Stop::Cause::failure},
                              Row{"refused", satisfied(), Stop::Cause::failure});
    CAPTURE(row.result, row.cause);
    const auto verdict = look(of_asked(), down(), {row.group}, row.result);
    const bool is_unplug = row.cause == Stop::Cause::unplug;
    CHECK(cause_of(verdict) == row.cause);
    CHECK(verdict.memory.stop->went_down == now);
    CHECK(verdict.memory.is_wanted == is_unplug);
    // one whose port is there again by now is asked for again
    const bool is_back = is_unplug && !row.group.present.empty();
    CHECK((verdict.action == Action::start) == is_back);
    CHECK(verdict.memory.is_asked == is_back);
}

TEST_CASE("a unit that systemd did not start is left alone, and why is told", "[verdict]")
{
    const auto reason_of = [](const char* result) {
        return look(of_asked(), down(), {satisfied()}, result).reason;
    };
    CHECK(reason_of("dependency") == "is left alone: a unit that it requires could not start");
    CHECK(reason_of("done") == "is left alone: its condition was not met");
    CHECK(reason_of("timeout") == "is left alone: it failed");
    // one that ran meanwhile has met its condition
    auto ran = down("inactive", now);
    ran.inactive_exit = now - 1;
    CHECK(cause_of(look(of_asked(), ran, {satisfied()}, "done")) == Stop::Cause::other);
}

TEST_CASE("the end of a start that nobody asked for says nothing", "[verdict]")
{
    CHECK(look(of_unplugged(), down(), {bereft(ended)}, "canceled").memory == of_unplugged());
}

TEST_CASE("a unit that started as its port went is stopped, and stays wanted", "[verdict]")
{
    const uint64_t removed = 299 * second;
    const auto late = look(of_asked(), running(300 * second), {bereft(removed)});
    CHECK(late.action == Action::stop);
    CHECK(late.memory.was_up);
    auto unit = down("inactive", 301 * second);
    unit.inactive_exit = 300 * second;
    const auto stopped = look(late.memory, unit, {bereft(removed)});
    CHECK(cause_of(stopped) == Stop::Cause::unplug);
    CHECK(stopped.memory.is_wanted);
    CHECK(look(stopped.memory, unit, {restored(removed)}).action == Action::start);
}

TEST_CASE("a unit that started as its port went stays wanted though PID 1 stops it late",
          "[verdict]")
{
    const auto require = GENERATE(Require::all, Require::any);
    const uint64_t removed = GENERATE(299 * second, 301 * second);
    const auto group_of = [&](const std::vector<Member>& members) {
        Group group = restored(removed);
        group.require = require;
        group.has_kept = members.size() > 1;
        if (members.back().index != port("a").index)
            group.lost.clear();
        return group;
    };
    std::vector<Member> members = {port("a")};
    Verdict verdict = {.memory = of_asked()};
    int stops = 0;
    for (int looks = 0; looks < 3; looks++) {
        const auto group = group_of(members);
        const bool was_up = verdict.memory.was_up;
        verdict = judge(verdict.memory, {.unit = running(300 * second),
                                         .groups = {group},
                                         .now = 7,
                                         .now_monotonic = now,
                                         .is_stop_coming = stops > 0});
        stops += verdict.action == Action::stop;
        members = members_after(members, was_up, verdict, {.groups = {group}});
    }
    CHECK(stops == 1);
    auto unit = down("inactive", 305 * second);
    unit.inactive_exit = 300 * second;
    const auto stopped = look(verdict.memory, unit, {group_of(members)});
    CHECK(cause_of(stopped) == Stop::Cause::unplug);
    CHECK(stopped.memory.stop->lost.guid == "a");
    CHECK(stopped.action == Action::start);
}

TEST_CASE("a unit that is started again before rdmad saw it stop is no late start", "[verdict]")
{
    const auto late = look(of_asked(), running(300 * second), {restored(299 * second)});
    CHECK(late.action == Action::stop);
    const auto again = look(late.memory, running(310 * second), {restored(299 * second)});
    CHECK(again.action == Action::none);
    CHECK_FALSE(again.memory.is_asked);
    CHECK_FALSE(again.memory.eviction.has_value());
}

TEST_CASE("a run that somebody else began is none that rdmad asked for, whatever is to come",
          "[verdict]")
{
    auto memory = of_running();
    memory.is_asked = true;
    const auto again = judge(memory, {.unit = running(310 * second),
                                      .groups = {bereft(299 * second)},
                                      .now = 7,
                                      .now_monotonic = now,
                                      .is_stop_coming = GENERATE(true, false)});
    CHECK(again.action == Action::none);
    CHECK_FALSE(again.memory.is_asked);
    CHECK(again.memory.began == 310 * second);
}

TEST_CASE("a service that PID 1 restarts before it stops it is the one that is to stop",
          "[verdict]")
{
    const auto late = look(of_asked(), running(300 * second), {bereft(299 * second)});
    auto unit = running(301 * second);
    unit.active_state = "activating";
    const auto again = judge(late.memory, {.unit = unit,
                                           .groups = {bereft(299 * second)},
                                           .now = 7,
                                           .now_monotonic = now,
                                           .is_stop_coming = true});
    CHECK(again.action == Action::none);
    auto ended_unit = down("inactive", 302 * second);
    ended_unit.inactive_exit = 301 * second;
    const auto stopped = look(again.memory, ended_unit, {bereft(299 * second)});
    CHECK(cause_of(stopped) == Stop::Cause::unplug);
    CHECK(stopped.memory.is_wanted);
}

TEST_CASE("a run that began though rdmad's start came to nothing is somebody else's", "[verdict]")
{
    const auto* result = GENERATE("canceled", "dependency", "refused");
    const auto verdict = look(of_asked(), running(300 * second), {restored(299 * second)}, result);
    CHECK(verdict.action == Action::none);
    CHECK_FALSE(verdict.memory.is_asked);
    // PID 1 may be about to stop what its job has begun
    auto busy = running(300 * second);
    busy.has_job = true;
    CHECK(look(of_asked(), busy, {restored(299 * second)}, result).action == Action::stop);
    // or start anew what has failed
    CHECK(look(of_asked(), running(300 * second), {restored(299 * second)}, "failed").action ==
          Action::stop);
}

TEST_CASE("a start is over when the unit is up, unless PID 1 may be about to stop it", "[verdict]")
{
    auto unit = running(300 * second);
    unit.has_job = GENERATE(true, false);
    const bool is_behind = GENERATE(true, false);
    const auto verdict = judge(of_asked(), {.unit = unit,
                                            .groups = {satisfied()},
                                            .now = 7,
                                            .now_monotonic = now,
                                            .is_behind = is_behind});
    CHECK(verdict.memory.is_asked == (unit.has_job && is_behind));
    CHECK(verdict.is_coming == is_behind);
}

TEST_CASE("what is of a later stage waits for what may have to stop first", "[verdict]")
{
    const bool is_behind = GENERATE(true, false);
    const auto is_coming = [&](const Group& group) {
        return judge(of_running(), {.unit = running(),
                                    .groups = {satisfied(), group},
                                    .now = 7,
                                    .now_monotonic = now,
                                    .is_behind = is_behind})
            .is_coming;
    };
    auto group = restored(1);
    CHECK(is_coming(group) == is_behind);
    group.has_tied = true;
    CHECK(is_coming(group) == is_behind);
    group.require = Require::any;
    CHECK_FALSE(is_coming(group));
    group.has_tied = false;
    CHECK(is_coming(group) == is_behind);
    CHECK(is_coming(satisfied()) == is_behind);
}

TEST_CASE("whatever else is in the way, the end of what went is asked for", "[verdict]")
{
    auto group = satisfied();
    group.require = GENERATE(Require::all, Require::any);
    group.present.push_back(port("b", 2));
    const auto at = GENERATE(0U, 1U);
    auto& other = group.present[1 - at];
    other.is_ready = GENERATE(true, false);
    if (other.is_ready)
        other.obstacle = {"it is prepared for removal"};
    group.present[at].obstacle = {"x.service is not up yet", true, true};
    CHECK(look(of_unplugged(), down(), {group}).waits_for_end);
    group.present[at].obstacle.waits_for_end = false;
    CHECK_FALSE(look(of_unplugged(), down(), {group}).waits_for_end);
}

TEST_CASE("a stop that rdmad requested is over when PID 1 is done with it", "[verdict]")
{
    auto memory = of_asked();
    memory.eviction = Eviction{port("a")};
    Situation situation = {.unit = GENERATE(down(), running()),
                           .groups = {satisfied()},
                           .now = 7,
                           .now_monotonic = now,
                           .is_stop_coming = GENERATE(true, false)};
    CHECK(judge(memory, situation).memory.eviction.has_value() == situation.is_stop_coming);
    // it may be the one that an earlier rdmad requested
    situation.unit.has_job = true;
    CHECK(judge(memory, situation).memory.eviction.has_value());
}

TEST_CASE("a start takes back a stop that is under way", "[verdict]")
{
    auto memory = of_unplugged();
    memory.eviction = Eviction{port("a")};
    const auto verdict = judge(memory, {.unit = down(),
                                        .groups = {satisfied()},
                                        .now = 7,
                                        .now_monotonic = now,
                                        .is_stop_coming = true});
    CHECK(verdict.action == Action::start);
    CHECK_FALSE(verdict.memory.eviction.has_value());
}

TEST_CASE("what is of a later stage waits for a late start to start anew", "[verdict]")
{
    Situation situation = {
        .unit = running(300 * second), .groups = {restored(299 * second)}, .now_monotonic = now};
    const auto late = judge(of_asked(), situation);
    CHECK(late.action == Action::stop);
    CHECK(late.is_coming);
    situation.is_stop_coming = true;
    const auto later = judge(late.memory, situation);
    CHECK(later.action == Action::none);
    CHECK(later.is_coming);
}

TEST_CASE("a unit that somebody else starts without its port runs", "[verdict]")
{
    CHECK(look(of_unplugged(), running(300 * second), {bereft(ended)}).action == Action::none);
    // one that has another port is not late
    const Group other = {
        .require = Require::any, .lost = {lost(port("a"), ended)}, .has_kept = true};
    CHECK(look(of_asked(), running(300 * second), {other}).action == Action::none);
}

// -- what it runs with ----------------------------------------------------------------------------

TEST_CASE("what a unit runs with is known after each look", "[verdict]")
{
    using Members = std::vector<Member>;
    const Members before = {port("a"), port("b")};
    const auto after = [&](bool was_up, const Verdict& verdict, const Group& group,
                           bool is_behind = false) {
        auto members =
            members_after(before, was_up, verdict,
                          {.groups = {group}, .now_monotonic = now, .is_behind = is_behind});
        for (auto& member : members)
            member.removed.reset();
        return members;
    };
    const Verdict stays_down = {.memory = of_unplugged()};
    const Verdict starts = {.memory = of_asked(), .action = Action::start};
    const Verdict runs = {.memory = of_running()};
    Verdict is_late = {.memory = of_running(), .action = Action::stop};
    is_late.memory.eviction = Eviction{port("b")};

    const Group one_left = {.present = {port("a")}, .lost = {lost(port("b"), 1)}, .has_kept = true};
    const Group returned = {
        .present = {port("a"), port("b", 2)}, .lost = {lost(port("b"), 1, true)}, .has_kept = true};
    const Group renewed = {.present = {port("b", 2)}, .lost = {lost(port("b"), 1, true)}};

    // down: what it ran with when it stopped
    CHECK(after(true, stays_down, one_left) == before);
    // and what it would have run with since
    CHECK(after(false, stays_down, returned) ==
          Members{port("a"), port("b"), unused(port("b", 2))});
    // about to start: what is there, and what is still away
    CHECK(after(false, starts, one_left) == before);
    CHECK(after(false, starts, returned) == Members{port("a"), port("b", 2)});
    CHECK(after(false, starts, renewed) == Members{port("b", 2)});
    // up since this look: what went before is no matter
    CHECK(after(false, runs, one_left) == Members{port("a")});
    CHECK(after(false, runs, renewed) == Members{port("b", 2)});
    // unless it went after the run had begun, which is seen late
    auto late_loss = one_left;
    late_loss.lost[0].member.removed = runs.memory.began;
    CHECK(after(false, runs, late_loss) == before);
    // and then it is one of those that it ran with
    late_loss.lost[0].member.is_unused = true;
    CHECK(after(false, runs, late_loss) == before);
    late_loss.lost[0].member.removed = 0;
    CHECK(after(false, runs, late_loss) == Members{port("a")});
    // up as before: what went may be about to stop it, and what is back is back once it did not
    CHECK(after(true, runs, one_left) == before);
    CHECK(after(true, runs, renewed) == Members{port("b", 2), port("b")});
    CHECK(after(true, runs, returned) == Members{port("a"), port("b", 2)});
    // what went before a run is not known to have been of it, nor what went before a start
    auto unused_loss = one_left;
    unused_loss.lost[0].member.is_unused = true;
    CHECK(after(true, runs, unused_loss) == Members{port("a"), unused(port("b"))});
    unused_loss.lost[0].member.removed = runs.memory.began;
    CHECK(after(false, starts, unused_loss) == Members{port("a"), unused(port("b"))});
    // where one will do, another makes up for it once PID 1 knows of that one, or in a new run
    auto one_will_do = one_left;
    one_will_do.require = config::Require::any;
    CHECK(after(true, runs, one_will_do) == before);
    CHECK(after(false, starts, one_will_do) == Members{port("a")});
    one_will_do.has_tied = true;
    CHECK(after(true, runs, one_will_do) == Members{port("a")});
    // PID 1 may be about to stop it, though the port is back
    for (const auto require : {config::Require::all, config::Require::any}) {
        auto tied = returned;
        tied.require = require;
        CHECK(after(true, runs, tied, true) == before);
        CHECK(after(true, runs, tied) == Members{port("a"), port("b", 2)});
    }
    // if it was not up before, it ran with nothing yet
    CHECK(after(false, runs, renewed, true) == Members{port("b", 2)});
    // up too late: what went is what stops it
    CHECK(after(false, is_late, one_left) == before);
    CHECK(after(false, is_late, renewed) == Members{port("b", 2), port("b")});
    // each of them
    const Group none_left = {.lost = {lost(port("a", 2), 1), lost(port("b"), 1)}};
    CHECK(after(false, is_late, none_left) == Members{port("a", 2), port("b")});
    // until it has stopped, though it now has the port that is back
    CHECK(after(true, is_late, returned) == Members{port("a"), port("b", 2), port("b")});
    // but nothing that went and came beside that
    const Group beside = {.present = {port("c", 6)},
                          .lost = {lost(port("b"), 1), lost(port("c", 5), 1, true)},
                          .has_kept = true};
    CHECK(after(true, is_late, beside) == Members{port("c", 6), port("b")});
}

TEST_CASE("a unit that runs with one of two adapters does not remember each that went", "[verdict]")
{
    const bool is_same_adapter = GENERATE(true, false);
    const auto tied = [](Member member) {
        member.anchor = "rdmad-a.service:" + std::to_string(member.index) + ":uverbs1:b.slice";
        return member;
    };
    const auto runs_with = [&](std::vector<Member> members, const std::vector<Member>& present,
                               uint64_t time) {
        Group group = {.require = Require::any, .present = present, .is_anchored = true};
        for (auto& member : members) {
            const auto is_there = [&](const auto& same) {
                return std::any_of(present.begin(), present.end(), same);
            };
            if (!member.removed &&
                !is_there([&](const Member& other) { return member.is_same_appearance(other); }))
                member.removed = time;
            if (member.removed)
                group.lost.push_back({member, is_there([&](const Member& other) {
                                          return member.is_same_port(other);
                                      })});
            else
                group.has_kept = group.has_tied = true;
        }
        const auto verdict = look(of_running(), running(), {group});
        return members_after(members, true, verdict, {.groups = {group}, .now_monotonic = time});
    };
    const auto stays = tied(port("stays", 0));
    std::vector<Member> members = {stays};
    for (uint32_t turn = 1; turn <= 10'000; turn++) {
        const auto guid = is_same_adapter ? "a" : "a" + std::to_string(turn);
        members = runs_with(members, {stays, tied(port(guid, turn))}, now);
        REQUIRE(members.size() == 2);
        members = runs_with(members, {stays}, now + turn);
        REQUIRE(members == std::vector{stays});
    }
    // while its device is there, or somebody may hold it, it is known who ran with it
    for (const auto* other : {"b", "c"}) {
        auto gone = lost(tied(port(other, 7)), now);
        gone.may_be_held = true;
        const Group group = {.require = Require::any,
                             .present = {stays},
                             .lost = {gone},
                             .has_kept = true,
                             .has_tied = true};
        const auto verdict = look(of_running(), running(), {group});
        CHECK(members_after({stays, gone.member}, true, verdict, {.groups = {group}}) ==
              std::vector{stays, gone.member});
    }
}

TEST_CASE("what a unit that is down was tied to is forgotten in time", "[verdict]")
{
    const auto after = [](const Loss& loss, const Memory& memory) {
        return members_after({loss.member}, false, {.memory = memory},
                             {.groups = {{.lost = {loss}}}, .now_monotonic = now});
    };
    auto memory = of_unplugged();
    const Loss used = lost(port("a"), 1);
    CHECK(after(used, memory) == std::vector{used.member});
    const Loss recent = lost(unused(port("a")), now - 300 * second);
    CHECK(after(recent, memory) == std::vector{recent.member});
    const Loss old = lost(unused(port("a")), now - 300 * second - 1);
    CHECK(after(old, memory).empty());
    // one whose loss ended the last run, as it turned out, is waited for
    const Loss fatal = lost(unused(port("a")), ended);
    CHECK(after(fatal, memory) == std::vector{lost(port("a"), ended).member});
    memory.stop->cause = Stop::Cause::other;
    CHECK(after(fatal, memory).empty());
    // what it was not tied to is no matter
    CHECK(members_after({}, false, {.memory = memory}, {.groups = {{.lost = {recent}}}}).empty());
}

// -- ports ----------------------------------------------------------------------------------------

TEST_CASE("a port is the same by its GUID, or else by its place", "[verdict]")
{
    const Member known = port("a");
    auto other = known;
    other.index = 9;
    other.device = "mlx5_7";
    other.path = "pci-1";
    other.node_guid = "2";
    CHECK(known.is_same_port(other));
    other.guid = "b";
    CHECK_FALSE(known.is_same_port(other));
    other.guid.clear();
    CHECK_FALSE(known.is_same_port(other));

    const Member nameless = {.device = "siw0", .port = 1, .node_guid = "1", .path = "p"};
    auto moved = nameless;
    moved.device = "siw1";
    moved.index = 9;
    CHECK(nameless.is_same_port(moved));
    for (auto change :
         {+[](Member& member) { member.port = 2; }, +[](Member& member) { member.node_guid = "2"; },
          +[](Member& member) { member.path = "q"; }}) {
        auto different = nameless;
        change(different);
        CHECK_FALSE(nameless.is_same_port(different));
    }
}

TEST_CASE("a stop for one port is not laid to another that went", "[verdict]")
{
    auto memory = of_running();
    memory.eviction = Eviction{port("a")};
    auto other = port("b", GENERATE(1U, 2U));
    other.port = other.index == 1 ? 2 : 1;
    const auto verdict =
        look(memory, down(), {{.present = {port("a")}, .lost = {lost(other, ended)}}});
    CHECK(cause_of(verdict) == Stop::Cause::prepare);
    CHECK(cause_of(look(memory, down(), {bereft(ended)})) == Stop::Cause::unplug);
    // lost to one of two files
    const Group apart = {.present = {port("b", 2)}, .is_anchored = true};
    CHECK(cause_of(look(memory, down(), {apart, bereft(ended)})) == Stop::Cause::unplug);
    CHECK(cause_of(look(memory, down(), {apart})) == Stop::Cause::prepare);
}

TEST_CASE("what went down before rdmad requested a stop was stopped by somebody else", "[verdict]")
{
    auto memory = of_running();
    memory.eviction = Eviction{port("a"), ended};
    CHECK(cause_of(look(memory, down(), {satisfied()})) == Stop::Cause::prepare);
    memory.eviction->since = ended + 1;
    const auto stopped = look(memory, down(), {satisfied()});
    CHECK(cause_of(stopped) == Stop::Cause::other);
    CHECK_FALSE(stopped.memory.eviction.has_value());
    CHECK(cause_of(look(memory, down("failed"), {satisfied()})) == Stop::Cause::failure);
    // or by its port that went
    CHECK(cause_of(look(memory, down(), {bereft(ended)})) == Stop::Cause::unplug);
}

TEST_CASE("PID 1 does not tell when a service that it restarts at once is stopped", "[verdict]")
{
    auto unit = running();
    CHECK(eviction_at(unit, port("a"), now) == Eviction{port("a"), now});
    // RestartMode=direct: it failed, and was not inactive since
    unit.active_state = "activating";
    unit.sub_state = "auto-restart";
    unit.active_exit = began + 1;
    CHECK(eviction_at(unit, port("a"), now) == Eviction{port("a"), 0});
    // in the other modes it was, and began anew
    unit.inactive_exit = began + 2;
    CHECK(eviction_at(unit, port("a"), now) == Eviction{port("a"), now});
    // nothing is known of this one
    CHECK(eviction_at({}, port("a"), now) == Eviction{port("a"), 0});
}

TEST_CASE("a unit is to stop for a port until it is down, and nobody starts it", "[verdict]")
{
    auto memory = of_unplugged();
    memory.eviction = Eviction{port("a")};
    auto unit = down();
    CHECK_FALSE(look(memory, unit, {satisfied()}).memory.eviction.has_value());
    unit.has_job = true;
    CHECK(look(memory, unit, {satisfied()}).memory.eviction.has_value());
    CHECK(look(memory, down("deactivating"), {bereft(ended)}).memory.eviction.has_value());
}

TEST_CASE("a systemd that knows of no run is a new one, unless the port went", "[verdict]")
{
    const auto verdict = look(of_running(), never_ran(), {satisfied()});
    CHECK(verdict.action == Action::start);
    CHECK_FALSE(verdict.memory.stop.has_value());
    CHECK(cause_of(look(of_running(), never_ran(), {bereft(now)})) == Stop::Cause::unplug);
}

TEST_CASE("a port has a place in a slot, or by the name of a software device", "[verdict]")
{
    const Member known = {.device = "mlx5_0", .port = 1, .guid = "a", .path = "pci-1"};
    auto other = known;
    other.guid = "b";
    other.device = "mlx5_7";
    CHECK(known.is_same_place(other));
    other.port = 2;
    CHECK_FALSE(known.is_same_place(other));
    other = known;
    other.path = "pci-2";
    CHECK_FALSE(known.is_same_place(other));

    const Member soft = {.device = "rxe0", .port = 1, .guid = "a"};
    other = soft;
    other.guid = "b";
    CHECK(soft.is_same_place(other));
    other.device = "rxe1";
    CHECK_FALSE(soft.is_same_place(other));
    other = soft;
    other.path = "pci-1";
    CHECK_FALSE(soft.is_same_place(other));
}

TEST_CASE("a port is described by its GUID, or else by its number", "[verdict]")
{
    CHECK(describe(port("0002c90300000a01")) == "port 0002c90300000a01 of mlx5_0");
    CHECK(describe({.device = "siw0", .port = 3}) == "port 3 of siw0");
}
