// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/lifecycle/tell.hpp"
#include "daemon/log.hpp"
#include "daemon/recovery/tell.hpp"
#include "tests/catch.hpp"
#include "tests/support/journal.hpp"

using namespace rdmad;
using namespace rdmad::lifecycle;
using namespace rdmad::test;

namespace {

using List = std::vector<std::string>;
using Kind = Change::Kind;

constexpr auto warning = "4";
constexpr auto notice = "5";
constexpr auto info = "6";

/// A device that came back 2.3 s after it went, and once before.
History history()
{
    return {.id = 3,
            .node_guid = 0x0002c90300000a00,
            .path = "pci-0000:3b:00.0",
            .name = "mlx5_0",
            .life = {.index = 7,
                     .appeared = 1002 * second + 350'000,
                     .active = 1010 * second,
                     .went = 1000 * second,
                     .cause = Cause::hot_unplug,
                     .returns = {900 * second, 1002 * second}}};
}

struct Told {
    Journal journal = {};

    /// Returns all that one change makes rdmad write.
    std::vector<JournalEntry> all_of(const History& history, Change change)
    {
        tell(history, change);
        return journal.take();
    }
    JournalEntry one_of(const History& history, Change change)
    {
        tell(history, change);
        return journal.take_one();
    }
    /// Returns "PRIORITY ID MESSAGE" of a change that is no other state.
    std::string text_of(const History& history, Kind kind)
    {
        return text(one_of(history, {kind, State::ready, State::ready}));
    }
    std::string text_of_return(Cause cause)
    {
        auto back = history();
        back.life.cause = cause;
        return text(one_of(back, {Kind::state, State::grace, State::returned}));
    }
    static std::string text(const JournalEntry& entry)
    {
        return entry.value("PRIORITY") + " " + entry.value("MESSAGE_ID") + " " +
               entry.value("MESSAGE");
    }
};

std::string line(const char* priority, std::string_view id, const std::string& text)
{
    return std::string(priority) + " " + std::string(id) + " " + text;
}

} // namespace

TEST_CASE("a device that went is told with all that is known of it", "[tell]")
{
    Told told;
    const auto entry = told.one_of(history(), {Kind::went, State::ready, State::grace});
    CHECK(Told::text(entry) == line(notice, log::id::device_went, "mlx5_0 went: hot unplug"));
    CHECK(entry.value("SYSLOG_IDENTIFIER") == "rdmad");
    CHECK(entry.value("RDMA_DEVICE") == "mlx5_0");
    CHECK(entry.value("RDMA_INDEX") == "7");
    CHECK(entry.value("RDMA_NODE_GUID") == "0002c90300000a00");
    CHECK(entry.value("RDMA_PATH") == "pci-0000:3b:00.0");
    CHECK(entry.value("RDMA_CAUSE") == "hot unplug");
    CHECK(entry.value("RDMA_STATE") == "grace");
    CHECK(entry.value("RDMA_OLD_STATE") == "ready");
    CHECK(entry.value("RDMA_RETURNS") == "2");

    // a software device has no path, and nobody may know why it went
    auto other = history();
    other.path.clear();
    other.life.cause = Cause::unknown;
    const auto unknown = told.one_of(other, {Kind::went, State::ready, State::grace});
    CHECK(unknown.value("MESSAGE") == "mlx5_0 went: nobody knows why");
    CHECK(unknown.value("RDMA_PATH") == "-");

    CHECK(told.text_of(history(), Kind::explained) ==
          line(notice, log::id::device_went, "mlx5_0 had gone for another reason: hot unplug"));
}

TEST_CASE("a return is told with how long it took and what came back", "[tell]")
{
    Told told;
    const std::string after = "mlx5_0 is back after 2.3 s";
    const auto expected = [&](const std::string& more) {
        return line(notice, log::id::device_returned, after + more);
    };
    CHECK(told.text_of_return(Cause::replaced) == expected(": another device in its place"));
    CHECK(told.text_of_return(Cause::moved) == expected(" in another place"));
    CHECK(told.text_of_return(Cause::netns_move) == expected(" in another network namespace"));
    CHECK(told.text_of_return(Cause::reset) == expected(""));
    CHECK(told.text_of_return(Cause::unknown) == expected(""));
}

TEST_CASE("of the states that nobody waits for nothing is told", "[tell]")
{
    Told told;
    CHECK(Told::text(told.one_of(history(), {Kind::state, State::grace, State::lost})) ==
          line(info, log::id::device_lost, "mlx5_0 has not come back"));
    // it went for good: that was told
    CHECK(told.all_of(history(), {Kind::state, State::ready, State::lost}).empty());
    for (const auto now : {State::appeared, State::settling, State::ready, State::draining,
                           State::removing, State::grace})
        CHECK(told.all_of(history(), {Kind::state, State::absent, now}).empty());
}

TEST_CASE("what hinders a device, and what an administrator decides, is told", "[tell]")
{
    Told told;
    CHECK(told.text_of(history(), Kind::degraded) ==
          line(warning, log::id::device_degraded,
               "mlx5_0 is degraded: none of its ports can be used"));
    CHECK(told.text_of(history(), Kind::blocked) ==
          line(warning, log::id::device_blocked, "mlx5_0 cannot be removed: it is in use"));
    auto held = history();
    held.life.held_until = held.life.active + 30 * second;
    CHECK(told.text_of(held, Kind::held) ==
          line(warning, log::id::device_held,
               "mlx5_0 came back 2 times in a short while: what is bound to it is not started "
               "before it has stayed 30.0 s"));
    CHECK(told.text_of(history(), Kind::released) ==
          line(notice, log::id::device_released, "mlx5_0 is held no longer"));
    CHECK(told.text_of(history(), Kind::accepted) ==
          line(notice, log::id::device_accepted, "mlx5_0 is accepted in place of another device"));
}

TEST_CASE("units that hold a device find that in their own journal", "[tell]")
{
    Told told;
    auto held = history();
    const Change change = {Kind::holders, State::removing, State::removing};
    CHECK(told.all_of(held, change).empty()); // nobody has looked

    held.holders.emplace();
    CHECK(told.text_of(held, Kind::holders) ==
          line(warning, log::id::device_holders,
               "mlx5_0 is in use by a part of the kernel, or by mapped memory: no process has its "
               "nodes open"));

    held.holders = {{.pid = 412, .command = "perf\x1b[2Jtest", .unit = "perftest.service"},
                    {.pid = 413, .command = "perftest", .unit = "perftest.service"},
                    {.pid = 7, .command = "opensm", .unit = "opensm.service"},
                    {.pid = 8, .command = "a"}};
    const auto entry = told.one_of(held, change);
    const std::string users = R"("perf\u001b[2Jtest" (PID 412) of perftest.service, )"
                              R"("perftest" (PID 413) of perftest.service, )"
                              R"("opensm" (PID 7) of opensm.service, "a" (PID 8))";
    CHECK(Told::text(entry) ==
          line(warning, log::id::device_holders, "mlx5_0 is in use by " + users));
    CHECK(entry.value("RDMA_HOLDERS") == users);
    CHECK(entry.value("RDMA_STATE") == "removing");
    // both, as "systemctl status" and PID 1 name the unit
    const List units = {"opensm.service", "perftest.service"};
    CHECK(entry.values("OBJECT_SYSTEMD_UNIT") == units);
    CHECK(entry.values("UNIT") == units);
}

TEST_CASE("what became of a target is told unless nothing did", "[tell]")
{
    using recovery::Target;
    using TargetState = Target::State;
    const auto target = [](TargetState state) {
        return Target{recovery::Kind::nvmet, "ports/\x1b[2J", "192.0.2.1:4420", state, "no room"};
    };
    const std::string name = R"(nvmet ports/\x1b[2J at 192.0.2.1:4420)";
    Told told;
    std::set<std::string> away;
    recovery::tell({.targets = {target(TargetState::up), target(TargetState::dead),
                                target(TargetState::waiting), target(TargetState::restored),
                                target(TargetState::failed), target(TargetState::released)}},
                   away);
    const auto entries = told.journal.take();
    REQUIRE(entries.size() == 3);
    CHECK(Told::text(entries[0]) ==
          line(notice, log::id::target_restored, name + " waits for connections again"));
    CHECK(Told::text(entries[1]) == line(warning, log::id::target_failed, name + ": no room"));
    CHECK(Told::text(entries[2]) == line(notice, log::id::target_released,
                                         name + " is taken away until its device is ready"));
    for (const auto& entry : entries)
        CHECK(entry.value("RDMA_TARGET") == name);

    // told once, for as long as it is so
    const auto tell_one = [&](TargetState state) {
        recovery::tell({.targets = {target(state)}}, away);
        return told.journal.take().size();
    };
    CHECK(tell_one(TargetState::released) == 0);
    CHECK(tell_one(TargetState::released) == 0);
    CHECK(tell_one(TargetState::up) == 0);
    CHECK(tell_one(TargetState::released) == 1);

    recovery::tell_waiting(target(TargetState::waiting));
    const auto waits = told.journal.take_one();
    CHECK(Told::text(waits) == line(notice, log::id::target_waits, name + " still waits: no room"));
    CHECK(waits.value("RDMA_TARGET") == name);
}
