// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/lifecycle/lifecycle.hpp"
#include "tests/catch.hpp"
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"

#include <filesystem>

using namespace rdmad;
using namespace rdmad::lifecycle;
using namespace rdmad::test;

namespace {

using List = std::vector<std::string>;
using DeviceKind = DeviceChange::Kind;

/// Devices in slots, as the inventory and udev would tell of them.
struct Bench {
    FixtureTree sys;
    FixtureTree run;
    sysfs::Directory root = sys.root();
    Time now = 1000 * second;
    List told = {}; ///< "mlx5_0 went: hot unplug", "mlx5_0 ready"
    std::optional<Lifecycle> lives;
    uint32_t index = 0;

    Bench()
    {
        begin();
    }
    void begin()
    {
        lives.emplace(
            root, Histories(run.path("devices")), Settings(), [this] { return now; },
            Lifecycle::Events{
                .on_change = [this](const History& history,
                                    const Change& change) { tell(history, change); },
                .on_plan = [] {},
                .on_trouble = [this](const Error& error) { told.push_back(error.message()); }});
    }
    void tell(const History& history, const Change& change)
    {
        if (change.kind == Change::Kind::state)
            told.push_back(history.name + " " + std::string(to_string(change.now)));
        else if (change.kind == Change::Kind::went)
            told.push_back(history.name + " went: " + std::string(to_string(history.life.cause)));
        else
            told.push_back(history.name + " is " + std::string(to_string(change.kind)));
    }
    /// rdmad is killed and comes back.
    void restart()
    {
        lives->remember();
        begin();
    }
    List take()
    {
        return std::exchange(told, {});
    }
    void wait(Time seconds)
    {
        now += seconds * second;
        lives->pass_time();
    }

    static std::string hardware(int slot)
    {
        return "devices/pci0000:00/0000:0" + std::to_string(slot) + ":00.0";
    }
    [[nodiscard]] Device device(int slot, uint64_t guid) const
    {
        const auto name = "mlx5_" + std::to_string(slot);
        Device device = {.index = index,
                         .name = name,
                         .driver = "mlx5_core",
                         .syspath = "/sys/" + hardware(slot) + "/infiniband/" + name,
                         .node_guid = guid};
        device.ports = {{.number = 1, .state = "active"}};
        device.is_named = true;
        return device;
    }
    Device plug(int slot, uint64_t guid)
    {
        index++;
        sys.directory(hardware(slot) + "/infiniband/mlx5_" + std::to_string(slot));
        sys.directory("class/infiniband/mlx5_" + std::to_string(slot));
        const auto added = device(slot, guid);
        lives->on_device({DeviceKind::added, added});
        return added;
    }
    /// The hardware stays.
    void reset(const Device& gone)
    {
        sys.remove("class/infiniband/" + gone.name);
        lives->on_device({DeviceKind::removed, gone});
    }
    /// Devlink tells how often the function in a slot was reloaded.
    void tell_reloads(int slot, uint64_t count)
    {
        lives->on_devlink({.device = "0000:0" + std::to_string(slot) + ":00.0", .reloads = count});
    }
    void tell_health(int slot, bool is_healthy)
    {
        lives->on_devlink(
            {.device = "0000:0" + std::to_string(slot) + ":00.0", .is_healthy = is_healthy});
    }
    /// What was told that is no state.
    List reasons()
    {
        auto all = take();
        std::erase_if(all, [](const std::string& text) {
            return text.find("went") == text.npos && text.find("explained") == text.npos;
        });
        return all;
    }
    /// The hardware goes after the device, and udev tells of it last.
    void unplug(int slot, const Device& gone)
    {
        sys.remove("class/infiniband/" + gone.name);
        lives->on_device({DeviceKind::removed, gone});
        sys.remove(hardware(slot));
        lives->on_udev(
            {.action = "remove",
             .subsystem = "pci",
             .node = {"0000:0" + std::to_string(slot) + ":00.0", "/sys/" + hardware(slot)}});
    }
};

} // namespace

TEST_CASE("a device that hangs on nothing is followed", "[lifecycle]")
{
    Bench bench;
    auto device = bench.device(1, 0xa);
    for (const auto* syspath : {"/sys/devices/mlx5_1", "/sys/devices/", "/sys/mlx5_1", "/"}) {
        device.syspath = syspath;
        device.index++;
        bench.lives->on_device({DeviceKind::added, device});
        CHECK(bench.lives->find(device.index)->place.hardware.empty());
    }
}

TEST_CASE("a recovery that failed long ago is not why a device goes", "[lifecycle]")
{
    Bench bench;
    const auto card = bench.plug(1, 0xa);
    bench.wait(10);
    const auto report = [&](const std::string& what) {
        bench.lives->on_udev({.action = "change",
                              .subsystem = "pci",
                              .node = {"0000:01:00.0", "/sys/" + Bench::hardware(1)},
                              .error_event = what});
    };
    // the bridge above a device without error handlers reports no begin
    const bool is_begun = GENERATE(true, false);
    if (is_begun)
        report("BEGIN_RECOVERY");
    if (GENERATE(true, false))
        bench.restart();
    report("FAILED_RECOVERY");
    bench.take();
    SECTION("but why it goes right after it")
    {
        bench.wait(10);
        bench.unplug(1, card);
        bench.wait(10);
        CHECK(bench.reasons() == List{"mlx5_1 went: error recovery"});
    }
    SECTION("if it works on")
    {
        bench.wait(121);
        CHECK(bench.take() == (is_begun ? List{"mlx5_1 ready"} : List()));
        bench.unplug(1, card);
        bench.wait(10);
        CHECK(bench.reasons() == List{"mlx5_1 went: hot unplug"});
    }
}

TEST_CASE("of many devices that are gone the oldest are forgotten", "[lifecycle]")
{
    Bench bench;
    constexpr int most = 512;
    const auto first = bench.plug(1, 0xa01);
    for (int slot = 2; slot <= most; slot++) {
        const auto card = bench.plug(slot, 0xa00U + static_cast<uint64_t>(slot));
        bench.unplug(slot, card);
        bench.wait(1);
    }
    bench.unplug(1, first);
    bench.wait(10);
    const auto known = [&](uint32_t index) { return bench.lives->find(index) != nullptr; };
    CHECK((known(1) && known(2) && known(most)));
    bench.restart();
    // those that are there take no place
    bench.plug(most + 1, 0xb);
    bench.plug(most + 2, 0xc);
    for (int i = 0; i < 2; i++) {
        CHECK((known(1) && known(3) && known(most) && known(most + 2)));
        CHECK_FALSE(known(2));
        bench.restart();
    }
}

TEST_CASE("an index is another device's once ib_core was loaded anew", "[lifecycle]")
{
    Bench bench;
    bench.sys.file("module/ib_core/parameters/netns_mode", "N\n");
    const auto a = bench.plug(1, 0xa); // index 1
    const auto b = bench.plug(2, 0xb); // index 2
    bench.wait(2);
    const bool is_restarted = GENERATE(false, true);
    if (!is_restarted) {
        bench.reset(a);
        bench.reset(b);
    }
    bench.take();
    bench.index = 0;
    if (is_restarted)
        bench.restart();
    SECTION("it is another known one")
    {
        bench.plug(2, 0xb);
        const auto* history = bench.lives->find(1);
        REQUIRE(history);
        CHECK(history->node_guid == 0xb);
        CHECK(history->id == 2);
        CHECK(history->life.cause != Cause::netns_move);
        bench.plug(1, 0xa);
        REQUIRE(bench.lives->find(2));
        CHECK(bench.lives->find(2)->node_guid == 0xa);
        CHECK(bench.lives->find(2)->id == 1);
    }
    SECTION("it is a new one in its place")
    {
        bench.plug(1, 0xc);
        const auto* history = bench.lives->find(1);
        REQUIRE(history);
        CHECK(history->node_guid == 0xc);
        CHECK_FALSE(history->life.is_accepted);
        // the records of both are kept
        bench.lives->remember();
        CHECK(history->id != 1);
        CHECK(bench.run.list("devices").size() == 3);
        // a restart finds the one that has the index now, whichever record it reads first
        bench.wait(40);
        const auto before = *history;
        bench.restart();
        bench.lives->on_device({DeviceKind::added, bench.device(1, 0xc)});
        history = bench.lives->find(1);
        REQUIRE(history);
        CHECK(history->id == before.id);
        CHECK(history->life.state == State::ready);
        CHECK(history->life.returns == before.life.returns);
        bench.take();
        bench.lives->reconcile();
        CHECK(bench.lives->find(1)->life.state == State::ready);
    }
    bench.lives->reconcile();
}

TEST_CASE("an index is another device's though nobody told that the first one went", "[lifecycle]")
{
    Bench bench;
    bench.plug(1, 0xa);
    bench.wait(2);
    bench.index = 0;
    SECTION("it has another GUID")
    {
        bench.plug(2, 0xb);
        CHECK(bench.lives->find(1)->node_guid == 0xb);
        CHECK(bench.lives->find(1)->id != 1);
    }
    SECTION("it has another place")
    {
        bench.plug(2, 0);
        CHECK(bench.lives->find(1)->id != 1);
    }
    SECTION("nothing tells that it is another")
    {
        bench.plug(1, 0);
        CHECK(bench.lives->find(1)->id == 1);
    }
}

TEST_CASE("a removal whose end udev did not tell ends with the next device of that name",
          "[lifecycle]")
{
    Bench bench;
    const auto first = bench.plug(1, 0xa);
    bench.wait(2);
    // the device is in sysfs again when rdmad comes to look
    bench.lives->on_device({DeviceKind::removed, first});
    CHECK(bench.lives->removing().size() == 1);
    bench.plug(1, 0xa);
    CHECK(bench.lives->removing().empty());
    REQUIRE(bench.lives->find(2));
    CHECK(bench.lives->find(2)->id == 1);
    CHECK(bench.lives->find(2)->life.returns.size() == 1);
}

TEST_CASE("a device is followed over its appearances", "[lifecycle]")
{
    Bench bench;
    const auto first = bench.plug(1, 0xa);
    bench.wait(2);
    CHECK(bench.take() == List{"mlx5_1 appeared", "mlx5_1 settling", "mlx5_1 ready"});
    bench.unplug(1, first);
    CHECK(bench.take() == List{"mlx5_1 removing", "mlx5_1 grace"});
    bench.wait(3);
    CHECK(bench.take() == List{"mlx5_1 went: hot unplug"});
    bench.plug(1, 0xa);
    CHECK(bench.take() == List{"mlx5_1 returned", "mlx5_1 settling"});
    CHECK(bench.lives->find(2)->id == 1);
    CHECK(bench.lives->find(2)->life.returns.size() == 1);
    CHECK(bench.lives->find(1) == nullptr);
}

TEST_CASE("a record that could not be written is written later, and told of once", "[lifecycle]")
{
    Bench bench;
    const auto device = bench.plug(1, 0xa);
    bench.wait(2);
    bench.lives->remember();
    CHECK_FALSE(bench.lives->has_unwritten());
    std::filesystem::rename(bench.run.path("devices"), bench.run.path("away"));
    bench.run.file("devices", "in the way");
    REQUIRE(bench.lives->drain(device.index));
    bench.take();
    bench.lives->remember();
    CHECK(bench.take().size() == 1);
    CHECK(bench.lives->has_unwritten());
    bench.lives->remember();
    CHECK(bench.take().empty());
    // as it was when the disk was full
    std::filesystem::remove(bench.run.path("devices"));
    std::filesystem::rename(bench.run.path("away"), bench.run.path("devices"));
    bench.restart();
    bench.lives->on_device({DeviceKind::added, bench.device(1, 0xa)});
    bench.lives->reconcile();
    CHECK(bench.lives->find(device.index)->life.state == State::draining);
}

TEST_CASE("one that moved is known by its GUID, one in its place is another", "[lifecycle]")
{
    Bench bench;
    bench.unplug(1, bench.plug(1, 0xa));
    bench.wait(3);
    bench.plug(2, 0xb);
    CHECK(bench.lives->find(2)->life.state == State::settling);
    CHECK(bench.lives->find(2)->id == 2);
    const auto moved = bench.plug(3, 0xa);
    CHECK(bench.lives->find(3)->life.cause == Cause::moved);
    bench.unplug(3, moved);
    bench.wait(3);
    bench.plug(3, 0xc);
    CHECK(bench.lives->find(4)->life.cause == Cause::replaced);
    CHECK_FALSE(bench.lives->find(4)->life.is_accepted);
    CHECK(bench.lives->obstacle(4, {}).reason.empty());
    CHECK(bench.lives->obstacle(4, {.accepted = true}).reason ==
          "mlx5_3 is in place of another device; rdmactl accept mlx5_3 if that is right");
    CHECK_FALSE(bench.lives->accept(77));
    CHECK(bench.lives->accept(4));
    CHECK(bench.lives->obstacle(4, {.accepted = true}).reason.empty());
    CHECK(bench.lives->find(4)->name == "mlx5_3");
    // and the one that was replaced may come back
    bench.plug(4, 0xa);
    CHECK(bench.lives->find(5)->id == 1);
    CHECK(bench.lives->find(5)->life.cause == Cause::moved);
}

TEST_CASE("each device in a slot goes on with the life of the last one there", "[lifecycle]")
{
    Bench bench;
    for (const uint64_t guid : {UINT64_C(0xa), UINT64_C(0xb), UINT64_C(0xc)}) {
        bench.unplug(1, bench.plug(1, guid));
        bench.wait(3);
    }
    // a function may have another GUID each time
    bench.plug(1, 0xd);
    CHECK(bench.lives->find(4)->life.returns.size() == 3);
    CHECK(bench.lives->find(4)->life.held_until);
}

TEST_CASE("what udev tells within three seconds is why a device went", "[lifecycle]")
{
    Bench bench;
    const auto first = bench.plug(1, 0xa);
    bench.sys.remove("class/infiniband/mlx5_1");
    bench.lives->on_device({DeviceKind::removed, first});
    bench.wait(2);
    bench.lives->on_udev({.action = "unbind",
                          .subsystem = "pci",
                          .node = {"0000:01:00.0", "/sys/" + Bench::hardware(1)}});
    bench.take();
    bench.wait(1);
    CHECK(bench.take() == List{"mlx5_1 went: administrator"});
    bench.lives->on_udev({.action = "remove",
                          .subsystem = "drivers",
                          .node = {"mlx5_core", "/sys/bus/pci/drivers/mlx5_core"}});
    CHECK(bench.lives->find(1)->life.cause == Cause::administrator);
}

TEST_CASE("devlink tells of a reload before, while or after a device is away", "[lifecycle]")
{
    Bench bench;
    bench.tell_reloads(1, 4);
    bench.tell_reloads(2, 0);
    auto device = bench.plug(1, 0xa);
    bench.wait(60);
    SECTION("before udev tells that it went")
    {
        bench.tell_reloads(1, 5);
        bench.reset(device);
        bench.wait(3);
        CHECK(bench.reasons() == List{"mlx5_1 went: driver reload"});
    }
    SECTION("in the three seconds after")
    {
        bench.reset(device);
        bench.wait(2);
        bench.tell_reloads(1, 5);
        bench.wait(1);
        CHECK(bench.reasons() == List{"mlx5_1 went: driver reload"});
    }
    SECTION("while it is away for long")
    {
        bench.reset(device);
        bench.wait(40);
        bench.tell_reloads(1, 5);
        CHECK(bench.reasons() == List{"mlx5_1 went: reset", "mlx5_1 is explained"});
    }
    SECTION("long after it went")
    {
        bench.reset(device);
        bench.wait(121);
        bench.tell_reloads(1, 5);
        CHECK(bench.reasons() == List{"mlx5_1 went: reset"});
    }
    SECTION("when it is back, and not much later")
    {
        bench.reset(device);
        bench.wait(40);
        device = bench.plug(1, 0xa);
        bench.wait(9);
        bench.tell_reloads(1, 5);
        CHECK(bench.reasons() == List{"mlx5_1 went: reset", "mlx5_1 is explained"});
        CHECK(bench.lives->find(device.index)->life.cause == Cause::driver_reload);
        // which is not why it goes the next time
        bench.reset(device);
        bench.wait(3);
        CHECK(bench.reasons() == List{"mlx5_1 went: reset"});
        bench.plug(1, 0xa);
        bench.wait(11);
        bench.tell_reloads(1, 6);
        CHECK(bench.reasons().empty());
    }
    SECTION("of another function, or nothing new of this one")
    {
        bench.reset(device);
        bench.tell_reloads(2, 1);
        bench.tell_reloads(1, 4);
        bench.wait(3);
        CHECK(bench.reasons() == List{"mlx5_1 went: reset"});
    }
    SECTION("when rdmad was away as it went")
    {
        bench.sys.remove("class/infiniband/mlx5_1");
        bench.restart();
        bench.lives->reconcile();
        bench.wait(3);
        bench.tell_reloads(1, 5);
        CHECK(bench.reasons() == List{"mlx5_1 went: unknown", "mlx5_1 is explained"});
    }
}

TEST_CASE("devlink tells of an error around the time when a device goes", "[lifecycle]")
{
    Bench bench;
    const auto device = bench.plug(1, 0xa);
    bench.wait(60);
    const bool is_first = GENERATE(true, false);
    if (is_first)
        bench.tell_health(1, false);
    bench.reset(device);
    if (!is_first)
        bench.tell_health(1, false);
    CHECK(bench.lives->find(1)->life.cause == Cause::error_recovery);
    bench.tell_health(1, true);
    bench.wait(3);
    CHECK(bench.reasons() == List{"mlx5_1 went: error recovery"});
    // which may take longer than other things
    bench.wait(60);
    CHECK(bench.lives->find(1)->life.state == State::grace);
}

TEST_CASE("one that stays in sysfs is being removed until it goes", "[lifecycle]")
{
    Bench bench;
    const auto first = bench.plug(1, 0xa);
    bench.wait(2);
    bench.take();
    bench.lives->on_device({DeviceKind::removed, first});
    CHECK(bench.take() == List{"mlx5_1 removing"});
    CHECK(bench.lives->obstacle(1, {}).reason == "mlx5_1 is being removed");
    bench.wait(5);
    CHECK(bench.take() == List{"mlx5_1 is blocked"});
    const bool does_udev_tell = GENERATE(true, false);
    bench.sys.remove("class/infiniband/mlx5_1");
    if (does_udev_tell)
        bench.lives->on_udev(
            {.action = "remove", .subsystem = "infiniband", .node = {"mlx5_1", first.syspath}});
    else
        bench.wait(1);
    CHECK(bench.take() == List{"mlx5_1 grace"});
}

TEST_CASE("who keeps a device from being removed is told once that is too long", "[lifecycle]")
{
    Bench bench;
    auto device = bench.plug(1, 0xa);
    device.uverbs = NodeRef{"uverbs1", device.syspath};
    bench.lives->on_device({DeviceKind::other, device});
    device.uverbs.reset();
    bench.lives->on_device({DeviceKind::other, device});
    bench.wait(2);
    const Holder other = {.pid = 8, .command = "other", .nodes = {"uverbs9"}};
    const Holder holder = {.pid = 9, .command = "sleep", .nodes = {"uverbs1"}};
    bench.lives->on_holders({.holders = {other, holder}});
    bench.lives->on_device({DeviceKind::removed, device});
    bench.take();
    const bool is_early = GENERATE(true, false);
    if (is_early)
        bench.lives->on_holders({.holders = {other, holder}});
    CHECK(bench.take().empty());
    bench.wait(5);
    CHECK(bench.take() ==
          (is_early ? List{"mlx5_1 is blocked", "mlx5_1 is holders"} : List{"mlx5_1 is blocked"}));
    bench.lives->on_holders({.holders = {other, holder}});
    CHECK(bench.take() == (is_early ? List() : List{"mlx5_1 is holders"}));
    CHECK(bench.lives->removing().at(0)->holders == std::vector<Holder>{holder});
    // whoever was not found may be among those that were not looked at
    bench.lives->on_holders({.holders = {other}, .unread = other});
    CHECK(bench.take().empty());
    bench.lives->on_holders({.holders = {other}});
    CHECK(bench.take() == List{"mlx5_1 is holders"});
    CHECK(bench.lives->removing().at(0)->holders->empty());
    bench.sys.remove("class/infiniband/mlx5_1");
    bench.wait(1);
    CHECK(bench.lives->removing().empty());
    CHECK_FALSE(bench.lives->find(1)->holders.has_value());
}

TEST_CASE("one that comes back again and again is held, and released", "[lifecycle]")
{
    Bench bench;
    for (int i = 0; i < 3; i++) {
        bench.unplug(1, bench.plug(1, 0xa));
        bench.wait(1);
    }
    bench.plug(1, 0xa);
    CHECK(bench.lives->obstacle(4, {}).reason ==
          "mlx5_1 came back 3 times in a short while, and is held; rdmactl release mlx5_1 ends "
          "that");
    CHECK(bench.lives->next_deadline().has_value());
    CHECK_FALSE(bench.lives->release(77));
    CHECK(bench.lives->release(4));
    CHECK(bench.lives->obstacle(4, {}).reason.empty());
}

TEST_CASE("one that comes back faster than udev tells of it is held, too", "[lifecycle]")
{
    Bench bench;
    const auto device = bench.plug(1, 0xa);
    UdevEvent event = {.subsystem = "infiniband_verbs", .index = device.index};
    const auto happen = [&](const char* action, const char* node) {
        event.action = action;
        event.node.sysname = node;
        bench.lives->on_udev(event);
    };
    const auto cycle = [&] {
        happen("remove", "uverbs0");
        happen("add", "uverbs0");
        happen("remove", "umad0");
        happen("add", "umad0");
    };
    const auto is_held = [&] { return bench.lives->find(device.index)->life.held_until; };
    SECTION("each return of all its nodes counts once")
    {
        cycle();
        cycle();
        CHECK_FALSE(is_held());
        cycle();
        CHECK(is_held());
    }
    SECTION("but not that of an earlier appearance, nor what somebody asked for, nor a mere end")
    {
        const auto what = GENERATE(0, 1, 2, 3);
        if (what == 0)
            event.index = device.index - 1;
        else if (what == 1)
            event.is_synthetic = true;
        else if (what == 2)
            event.subsystem = "infiniband";
        for (int i = 0; i < 4; i++)
            what == 3 ? happen("remove", "uverbs0") : cycle();
        happen("add", "uverbs0");
        CHECK_FALSE(is_held());
    }
    SECTION("nor what is there again in the next appearance")
    {
        cycle();
        happen("remove", "uverbs0");
        bench.reset(device);
        bench.lives->on_device({DeviceKind::added, device});
        happen("add", "uverbs0");
        CHECK(bench.lives->find(device.index)->life.returns.size() == 2);
    }
}

TEST_CASE("lives outlive rdmad", "[lifecycle]")
{
    Bench bench;
    const auto first = bench.plug(1, 0xa);
    bench.wait(2);
    bench.restart();
    bench.take();
    SECTION("and nothing has changed")
    {
        bench.lives->on_device({DeviceKind::added, first});
        bench.lives->reconcile();
        CHECK(bench.take().empty());
        CHECK(is_ready(bench.lives->find(1)->life));
    }
    SECTION("and the kernel cannot describe it yet")
    {
        bench.lives->reconcile({1});
        CHECK(bench.take().empty());
        CHECK(is_ready(bench.lives->find(1)->life));
        bench.lives->reconcile({});
        CHECK(bench.take() == List{"mlx5_1 removing"});
    }
    SECTION("and it is gone")
    {
        bench.sys.remove("class/infiniband/mlx5_1");
        const bool is_hardware_gone = GENERATE(true, false);
        if (is_hardware_gone)
            bench.sys.remove(Bench::hardware(1));
        bench.lives->reconcile();
        bench.wait(3);
        CHECK(bench.take() ==
              List{"mlx5_1 removing", "mlx5_1 grace",
                   is_hardware_gone ? "mlx5_1 went: hot unplug" : "mlx5_1 went: unknown"});
    }
    SECTION("and it is back as another appearance")
    {
        bench.sys.remove("class/infiniband/mlx5_1");
        bench.plug(1, 0xa);
        bench.lives->reconcile();
        CHECK(bench.lives->find(2)->id == 1);
        CHECK(bench.lives->find(2)->life.returns.size() == 1);
        CHECK(bench.lives->find(2)->life.cause == Cause::unknown);
    }
}

TEST_CASE("a device that was replaced while rdmad was away is gone", "[lifecycle]")
{
    Bench bench;
    bench.plug(1, 0xa);
    bench.wait(2);
    bench.restart();
    bench.take();
    bench.plug(1, 0xc); // its name and place are those of the other
    bench.lives->reconcile();
    CHECK(bench.lives->removing().empty());
    CHECK(bench.lives->find(2)->life.cause == Cause::replaced);
    CHECK(bench.lives->find(1)->life.state == State::grace);
    bench.wait(10);
    CHECK(bench.reasons() == List{"mlx5_1 went: unknown"});
}

TEST_CASE("what an earlier rdmad knew of why a device went is kept", "[lifecycle]")
{
    Bench bench;
    const auto first = bench.plug(1, 0xa);
    const bool is_recovery = GENERATE(false, true);
    if (is_recovery)
        bench.lives->on_udev({.action = "change",
                              .subsystem = "pci",
                              .node = {"0000:01:00.0", "/sys/" + Bench::hardware(1)},
                              .error_event = "BEGIN_RECOVERY"});
    bench.wait(2);
    if (is_recovery) {
        bench.restart();
        bench.lives->on_device({DeviceKind::added, first});
        bench.reset(first);
    } else {
        bench.reset(first);
        bench.lives->on_udev({.action = "unbind",
                              .subsystem = "pci",
                              .node = {"0000:01:00.0", "/sys/" + Bench::hardware(1)}});
        bench.restart();
    }
    bench.take();
    // it is looked at before the reason is final
    bench.wait(1);
    bench.wait(2);
    CHECK(bench.reasons() ==
          List{is_recovery ? "mlx5_1 went: error recovery" : "mlx5_1 went: administrator"});
}

TEST_CASE("one that has its index of before has come from another network namespace", "[lifecycle]")
{
    Bench bench;
    const bool is_shared = GENERATE(true, false);
    bench.sys.file("module/ib_core/parameters/netns_mode", is_shared ? "Y\n" : "N\n");
    bench.reset(bench.plug(1, 0xa));
    bench.wait(3);
    // or ib_core was loaded anew, and counts from the beginning
    bench.index = 0;
    bench.plug(1, 0xa);
    CHECK(bench.lives->find(1)->life.cause == (is_shared ? Cause::reset : Cause::netns_move));
}

TEST_CASE("where a device was is known when its nodes have gone", "[lifecycle]")
{
    Bench bench;
    auto device = bench.plug(1, 0xa);
    device.syspath.clear();
    bench.lives->on_device({DeviceKind::port, device, "", 1});
    CHECK(bench.lives->find(1)->place.hardware == Bench::hardware(1));
}

TEST_CASE("before udev has told of a node it is not known who a device is", "[lifecycle]")
{
    Bench bench;
    auto device = bench.device(1, 0xa);
    device.syspath.clear();
    bench.lives->on_device({DeviceKind::added, device});
    CHECK(bench.lives->find(0) == nullptr);
    CHECK(bench.lives->obstacle(0, {}).reason.empty());
    device.ports[0].umad = NodeRef{"umad0", "/sys/" + Bench::hardware(1) + "/infiniband_mad/umad0"};
    bench.lives->on_device({DeviceKind::port, device, "", 1});
    CHECK(bench.lives->find(0)->place.hardware == Bench::hardware(1));
}

TEST_CASE("an auxiliary device is none of the hardware", "[lifecycle]")
{
    Bench bench;
    const auto function = Bench::hardware(1) + "/mlx5_core.rdma.0";
    bench.sys.directory(function);
    bench.sys.link(function + "/subsystem", "../../../../bus/auxiliary");
    auto device = bench.device(1, 0xa);
    device.syspath = "/sys/" + function + "/infiniband/mlx5_1";
    bench.lives->on_device({DeviceKind::added, device});
    CHECK(bench.lives->find(0)->place.hardware == Bench::hardware(1));
    device.index = 9;
    device.node_guid = 0xd;
    device.syspath = "/sys/devices/virtual/infiniband/rxe0";
    bench.lives->on_device({DeviceKind::added, device});
    CHECK(bench.lives->find(9)->place.hardware.empty());
}

TEST_CASE("ports are to be looked at while a device settles without one that can be used",
          "[lifecycle]")
{
    Bench bench;
    auto device = bench.plug(1, 0xa);
    CHECK(bench.lives->awaited().empty());
    CHECK(bench.lives->obstacle(1, {.ready = true}).reason == "mlx5_1 has yet to settle");
    CHECK(bench.lives->obstacle(1, {}).reason.empty());
    device.ports[0].state = "down";
    bench.lives->on_device({DeviceKind::port, device, "", 1});
    bench.wait(89);
    CHECK(bench.lives->awaited() == std::set<uint32_t>{1});
    CHECK(bench.lives->obstacle(1, {.ready = true}).reason.empty());
    SECTION("until one can")
    {
        device.ports[0].state = "active";
        bench.lives->on_device({DeviceKind::port, device, "", 1});
        CHECK(bench.lives->awaited().empty());
        bench.wait(2);
        CHECK(bench.lives->is_ready(1));
        CHECK(bench.lives->obstacle(1, {.ready = true}).reason.empty());
    }
    SECTION("or the deadline is over")
    {
        bench.wait(1);
        CHECK(bench.lives->awaited().empty());
        CHECK_FALSE(bench.lives->is_ready(1));
    }
}
