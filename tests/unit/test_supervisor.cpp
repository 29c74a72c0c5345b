// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/supervisor/supervisor.hpp"

#include "daemon/clock.hpp"
#include "tests/support/captured_sysfs.hpp"
#include "tests/support/failing_allocation.hpp"
#include "tests/support/fake_pid1.hpp"
#include "tests/support/must.hpp"
#include "tests/support/replay_transport.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>

using namespace rdmad;
using namespace rdmad::test;
using systemd::UnitState;
using AnchorState = systemd::Orders::AnchorState;
using namespace std::string_literals;

namespace {

using List = std::vector<std::string>;

UnitState never_ran()
{
    return {.load_state = "loaded", .active_state = "inactive"};
}

UnitState running(uint64_t since = 500)
{
    return {.load_state = "loaded", .active_state = "active", .inactive_exit = since};
}

UnitState down(uint64_t ended)
{
    auto unit = running();
    unit.active_state = "inactive";
    unit.active_exit = unit.state_change = ended;
    return unit;
}

constexpr uint32_t opa = 1;
// of the nodes, unless a test says otherwise
constexpr uint64_t birth = 500;
// of one that is made anew
constexpr uint64_t later_birth = 1500;
constexpr char opa_anchor[] = "rdmad-a.service:1.500:uverbs1.slice";
constexpr char later_opa_anchor[] = "rdmad-a.service:1.1500:uverbs1.slice";
constexpr char opa_match[] = "PortGUID=0011750101000001";

/// rdmad without its bus, on the devices of a capture.
struct Bench {
    FixtureTree sys;
    FixtureTree run;
    CapturedKernel kernel{"7.2"};
    nldev::Client client{kernel};
    sysfs::Directory root = sys.root();
    FakePid1 pid1;
    std::map<uint32_t, Obstacle> obstacles;
    std::set<uint32_t> removing; ///< devices that somebody keeps from being removed
    int works = 0;               ///< how often the supervisor wanted to be settled
    uint64_t now = 1450;         ///< CLOCK_MONOTONIC
    uint64_t tick = 0;           ///< by which it goes on with each look
    Bindings bindings{run.path()};
    std::optional<Inventory> inventory;
    std::optional<Supervisor> supervisor;

    Bench()
    {
        add_captured_devices(sys);
        begin();
    }
    /// Writes a file that rdmad has yet to read.
    void edit(const std::string& match, const std::string& keys,
              const std::string& name = "50-a.binding")
    {
        run.file("etc/rdmad/binding.d/" + name,
                 "[Match]\n" + match + "\n[Binding]\n" + keys + "\n");
    }
    void bind(const std::string& match, const std::string& keys,
              const std::string& name = "50-a.binding")
    {
        edit(match, keys, name);
        reload();
    }
    void reload()
    {
        bindings.read();
        supervisor->on_bindings();
        supervisor->settle();
    }
    /// As the daemon does it: devices, files, PID 1.
    void begin(const std::vector<UdevEvent>& nodes = {})
    {
        pid1.pending.clear();
        inventory.emplace(client, root, [this](const DeviceChange& change) {
            if (supervisor)
                supervisor->on_device(change);
        });
        supervisor.emplace(
            *inventory, bindings, config::Facts(),
            Supervisor::Paths{run.path("units"), run.path("bound")},
            Supervisor::Events{
                .on_unit = [](const auto&, const auto&) {},
                .obstacle = [this](uint32_t index, const auto&) { return obstacles[index]; },
                .is_removing = [this](uint32_t index) { return removing.contains(index); },
                .on_work = [this] { works++; }},
            [this](clockid_t clock) {
                return clock == CLOCK_MONOTONIC ? now += tick : now_usec(clock);
            });
        // fails for a device of which the kernel does not tell now, and for nothing else
        const auto outcome = inventory->resync(nodes);
        REQUIRE(outcome.has_value() == inventory->unanswered().empty());
        bindings.read();
        supervisor->on_bindings();
        supervisor->use(&pid1);
        supervisor->on_connected();
    }
    /// rdmad starts anew.
    void restart(const std::vector<UdevEvent>& nodes)
    {
        supervisor.reset();
        begin(nodes);
        supervisor->settle();
    }
    static UdevEvent event(const std::string& action, uint32_t index, uint64_t born = birth)
    {
        const auto name = "uverbs" + std::to_string(index);
        return {.action = action,
                .subsystem = "infiniband_verbs",
                .node = {name, "/sys/devices/" + name, born},
                .index = index};
    }
    void plug(uint32_t index, uint64_t born = birth)
    {
        inventory->handle(event("add", index, born));
        const auto name = "device" + std::to_string(index);
        inventory->handle({.action = "add",
                           .subsystem = "infiniband",
                           .node = {name, "/sys/devices/" + name},
                           .index = index});
        supervisor->settle();
    }
    static std::string note_of(uint32_t index)
    {
        return "bound/" + std::to_string(index) + "/uverbs" + std::to_string(index) + "." +
               std::to_string(birth);
    }
    void note_removal(uint32_t index, uint64_t time)
    {
        run.link(note_of(index), std::to_string(time));
    }
    /// udev notes the time, as rdma_id does. PID 1 has yet to hear of it.
    void unplug_early(uint32_t index, uint64_t time)
    {
        note_removal(index, time);
        kernel.remove(index);
        inventory->handle(event("remove", index));
        supervisor->settle();
    }
    /// PID 1 stops the anchors of the device; of units that run a test tells what follows.
    void end_anchors(uint32_t index)
    {
        for (const auto& [name, anchor] : std::map(pid1.made))
            if (systemd::parse_anchor_name(name)->node.index == index &&
                !pid1.pending.contains(name))
                supervisor->on_anchor_job(name);
        for (const auto& [name, unit] : std::map(supervisor->units()))
            if (unit.is_behind && unit.state && !unit.state->is_up())
                supervisor->on_unit(name, *unit.state);
        supervisor->settle();
    }
    void unplug(uint32_t index, uint64_t time)
    {
        unplug_early(index, time);
        end_anchors(index);
    }
    void rename_opa(const std::string& from, const std::string& to)
    {
        must(client.rename(opa, to));
        sys.rename("class/infiniband/" + from, "class/infiniband/" + to);
        must(inventory->refresh(opa));
        supervisor->settle();
    }
    void tell(const std::string& unit, const UnitState& state)
    {
        supervisor->on_unit(unit, state);
        supervisor->settle();
    }
    void finish(const std::string& anchor, Result<void> outcome = {})
    {
        pid1.finish(anchor, std::move(outcome));
        supervisor->settle();
    }
    /// All anchors that are on their way.
    void finish_all()
    {
        for (const auto& anchor : std::map(pid1.pending))
            pid1.finish(anchor.first);
        supervisor->settle();
    }
    [[nodiscard]] std::string reason(const std::string& unit) const
    {
        return supervisor->units().at(unit).reason;
    }
    [[nodiscard]] UnitRecord record(const std::string& unit) const
    {
        return must(parse_record(run.read("units/" + unit)));
    }
    /// That PID 1 stops the unit with its first port by.
    [[nodiscard]] std::string anchor_of(const std::string& unit) const
    {
        return supervisor->units().at(unit).present.begin()->second.anchor;
    }
    /// a.service is asked to start with the port of opa.
    void start_with_opa()
    {
        bind(opa_match, "Unit=a.service");
        plug(opa);
        finish(opa_anchor);
        tell("a.service", never_ran());
    }
    /// a.service runs with the port of opa.
    void run_with_opa()
    {
        bind(opa_match, "Unit=a.service");
        plug(opa);
        finish(opa_anchor);
        tell("a.service", running());
        pid1.take();
    }
    /// The same, with a binding that any port satisfies.
    void run_with_any()
    {
        bind(opa_match, "Unit=a.service\nRequire=any");
        plug(opa);
        finish_all();
        tell("a.service", running());
    }
    /// a.service runs with the ports of mixed and opa that match.
    void run_with_both(const std::string& match, const std::string& keys)
    {
        bind(match, keys);
        plug(0);
        plug(opa);
        finish_all();
        tell("a.service", running());
    }
    /// a.service and b.service run with the port of opa.
    void run_two_with_opa()
    {
        bind(opa_match, "Unit=a.service b.service");
        plug(opa);
        finish_all();
        for (const auto* unit : {"a.service", "b.service"})
            tell(unit, running());
        pid1.take();
    }
    /// However often it looks, rdmad waits for a stop of a.service, which PID 1 reports like that.
    void expect_behind(const UnitState& unit)
    {
        for (int look = 0; look < 3; look++) {
            tell("a.service", unit);
            CHECK(supervisor->units().at("a.service").is_behind);
            supervisor->on_connected();
            supervisor->settle();
        }
    }
};

} // namespace

// -- anchors --------------------------------------------------------------------------------------

TEST_CASE("a unit and a node are tied by one anchor", "[supervisor]")
{
    Bench bench;
    bench.bind("Device=mixed opa", "Unit=a.service b@%d:%p.service");
    bench.plug(0);
    // both ports of mixed have the same node
    auto asked = bench.pid1.take();
    std::sort(asked.begin(), asked.end());
    CHECK(asked == List{"anchor rdmad-a.service:0.500:uverbs0.slice",
                        "anchor rdmad-b\\x40mixed:1.service:0.500:uverbs0.slice",
                        "anchor rdmad-b\\x40mixed:2.service:0.500:uverbs0.slice"});
    const auto& anchor = bench.pid1.made.at("rdmad-a.service:0.500:uverbs0.slice");
    CHECK(anchor.unit == "a.service");
    CHECK(anchor.device_unit == "sys-devices-uverbs0.device");
    CHECK_FALSE(anchor.group.has_value());
    bench.plug(opa);
    CHECK(bench.pid1.take().size() == 2);
    CHECK(bench.supervisor->units_of(0) ==
          Supervisor::UnitsByPort{{1, {"a.service", "b@mixed:1.service"}},
                                  {2, {"a.service", "b@mixed:2.service"}}});
    CHECK(bench.supervisor->units_of(7).empty());
}

TEST_CASE("units that are tied to a device are counted", "[supervisor]")
{
    Bench bench;
    bench.bind("Device=mixed opa", "Unit=a.service b@%d:%p.service");
    CHECK(bench.supervisor->tied_count() == 0);
    bench.plug(0);
    CHECK(bench.supervisor->tied_count() == 3);
    bench.plug(opa);
    CHECK(bench.supervisor->tied_count() == 4);
    bench.finish("rdmad-b\\x40mixed:2.service:0.500:uverbs0.slice", fail(ENOMEM, "no"));
    CHECK(bench.supervisor->tied_count() == 3);
    bench.finish_all();
    bench.unplug(0, 1000);
    CHECK(bench.supervisor->tied_count() == 2);
}

TEST_CASE("what is tied is not tied again", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    bench.plug(opa);
    bench.reload();
    bench.tell("a.service", running());
    bench.sys.rdma_device("opa", "fe80:0000:0000:0000:0011:7501:0100:0001");
    must(bench.inventory->refresh(opa));
    bench.supervisor->settle();
    CHECK(bench.pid1.take().empty());
}

TEST_CASE("nothing is asked for while PID 1 does not hear", "[supervisor]")
{
    Bench bench;
    bench.pid1.is_there = false;
    bench.bind(opa_match, "Unit=a.service");
    bench.plug(opa);
    CHECK(bench.pid1.take().empty());
    bench.pid1.is_there = true;
    bench.supervisor->on_connected();
    bench.supervisor->settle();
    CHECK(bench.pid1.take() == List{"anchor "s + opa_anchor});
}

TEST_CASE("an anchor outlives rdmad, and is taken over", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    bench.pid1.existing = {{opa_anchor, AnchorState::up}};
    bench.restart({Bench::event("", opa)});
    bench.tell("a.service", running());
    CHECK(bench.pid1.take().empty());
    CHECK(bench.anchor_of("a.service") == opa_anchor);
}

TEST_CASE("anchors of nothing that is bound go, groups before their members", "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.plug(opa);
    bench.pid1.take();
    bench.pid1.existing = {{"rdmad-a.service:1.500:uverbs1:b.slice", AnchorState::up},
                           {opa_anchor, AnchorState::up},
                           {"rdmad-z.service:any:b.slice", AnchorState::up},
                           {"rdmad-z.service:1.500:uverbs1:b.slice", AnchorState::up},
                           {"rdmad-z.service:1.500:uverbs1.slice", AnchorState::up}};
    bench.supervisor->on_connected();
    bench.supervisor->settle();
    CHECK(bench.pid1.take() == List{"drop rdmad-z.service:any:b.slice",
                                    "drop rdmad-a.service:1.500:uverbs1:b.slice",
                                    "drop rdmad-z.service:1.500:uverbs1.slice",
                                    "drop rdmad-z.service:1.500:uverbs1:b.slice"});
    bench.supervisor->settle();
    CHECK(bench.pid1.take().empty());
}

TEST_CASE("anchors of a node that went are left to PID 1, but those that wait for it",
          "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.plug(opa);
    bench.pid1.take();
    bench.pid1.existing = {{opa_anchor, AnchorState::up},
                           {"rdmad-z.service:0.500:uverbs0.slice", AnchorState::up},
                           {"rdmad-z.service:any:b.slice", AnchorState::up},
                           {"rdmad-z.service:0.500:uverbs0:b.slice", AnchorState::up},
                           {"rdmad-y.service:0.500:uverbs0.slice", AnchorState::starting}};
    bench.supervisor->on_connected();
    bench.supervisor->settle();
    CHECK(bench.pid1.take() == List{"cancel rdmad-y.service:0.500:uverbs0.slice"});
}

TEST_CASE("an anchor stops its unit however far udev is behind the kernel", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    const bool is_early = GENERATE(true, false);
    if (is_early)
        bench.unplug_early(opa, 1000);
    bench.pid1.existing = {{opa_anchor, AnchorState::up}};
    if (!is_early) {
        bench.kernel.remove(opa);
        bench.restart({Bench::event("", opa)});
    }
    for (int look = 0; look < 3; look++) {
        bench.supervisor->on_connected();
        bench.supervisor->settle();
        CHECK(bench.supervisor->has_failed());
    }
    CHECK(bench.pid1.take().empty());
}

TEST_CASE("a stop that PID 1 has in its queue is waited for", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    bench.note_removal(opa, 1000);
    // there again, with the same number, or not
    const bool is_back = GENERATE(true, false);
    if (!is_back)
        bench.kernel.remove(opa);
    // the anchor stops after the unit, or was listed before it was about to
    if (GENERATE(true, false))
        bench.pid1.existing = {{opa_anchor, AnchorState::stopping}};
    bench.restart({Bench::event("", opa, later_birth)});
    auto unit = running();
    unit.has_job = true;
    bench.expect_behind(unit);
    bench.tell("a.service", down(2000));
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::unplug);
}

TEST_CASE("a stop for a node that was made anew is known where its anchor is in no record",
          "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.plug(opa);
    bench.tell("a.service", running());
    REQUIRE(bench.record("a.service").members[0].anchor.empty());
    // it came up, and ended with the node, while no rdmad was there
    bench.note_removal(opa, 1000);
    bench.restart({Bench::event("", opa, later_birth)});
    bench.tell("a.service", down(2000));
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::unplug);
}

TEST_CASE("a start waits for the unit's stop in PID 1, and not for that of an anchor of before",
          "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    bench.note_removal(opa, 1000);
    bench.pid1.existing = {{opa_anchor, AnchorState::stopping}};
    bench.pid1.take();
    bench.restart({Bench::event("", opa, later_birth)});
    CHECK(bench.pid1.take() == List{"anchor "s + later_opa_anchor});
    auto unit = down(2000);
    unit.active_state = "deactivating";
    unit.has_job = true;
    bench.tell("a.service", unit);
    CHECK(bench.pid1.take() == List{"start a.service"});
}

TEST_CASE("a unit that any port will do for is stopped only after the anchor, which is waited for",
          "[supervisor]")
{
    Bench bench;
    bench.run_with_any();
    const auto anchor = bench.anchor_of("a.service");
    bench.note_removal(opa, 1000);
    const bool is_back = GENERATE(true, false);
    if (!is_back)
        bench.kernel.remove(opa);
    // PID 1 has heard: the anchor has a job, and neither its group nor the unit has one
    bench.pid1.existing = {{anchor, AnchorState::stopping},
                           {systemd::group_name("a.service", "50-a.binding"), AnchorState::up}};
    bench.restart({Bench::event("", opa, later_birth)});
    bench.expect_behind(running());
    auto unit = running();
    unit.has_job = true;
    bench.supervisor->on_anchor_job(anchor);
    bench.tell("a.service", unit);
    CHECK(bench.supervisor->units().at("a.service").is_behind);
    bench.tell("a.service", down(2000));
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::unplug);
}

TEST_CASE("an anchor that stands on the node that came after goes", "[supervisor]")
{
    Bench bench;
    bench.bind("Device=mixed", "Unit=a.service");
    bench.plug(opa);
    // of a device that had uverbs1 before
    bench.pid1.existing = {{"rdmad-a.service:9.500:uverbs1.slice", AnchorState::up}};
    bench.supervisor->on_connected();
    bench.supervisor->settle();
    CHECK(bench.pid1.take().empty());
    bench.supervisor->retry();
    bench.supervisor->settle();
    CHECK(bench.pid1.take() == List{"drop rdmad-a.service:9.500:uverbs1.slice"});
}

TEST_CASE("an anchor that cannot stand on the node that came after stops its unit, however late",
          "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    const auto syspath = bench.record("a.service").members[0].syspath;
    bench.unplug_early(opa, 1000);
    // another device has uverbs1 now
    const bool is_same_place = GENERATE(true, false);
    bench.kernel.return_as(opa, 7);
    auto later = Bench::event("add", 7);
    later.node = {"uverbs1", is_same_place ? syspath : "/sys/devices/other/uverbs1"};
    bench.inventory->handle(later);
    bench.pid1.take();
    bench.pid1.existing = {{opa_anchor, AnchorState::up}};
    for (int look = 0; look < 5; look++) {
        bench.supervisor->on_connected();
        bench.tell("a.service", running());
        CHECK(bench.supervisor->has_failed());
    }
    const auto asked = bench.pid1.take();
    CHECK((std::count(asked.begin(), asked.end(), "drop "s + opa_anchor) > 0) == is_same_place);
}

TEST_CASE("an anchor that waits for a node that went is looked for after it was cancelled",
          "[supervisor]")
{
    Bench bench;
    bench.bind("Device=mixed", "Unit=a.service");
    bench.plug(opa);
    bench.pid1.existing = {{"rdmad-a.service:9.500:uverbs1.slice", AnchorState::starting}};
    bench.supervisor->on_connected();
    bench.supervisor->settle();
    CHECK(bench.pid1.take() == List{"cancel rdmad-a.service:9.500:uverbs1.slice"});
    CHECK(bench.supervisor->has_failed());
    // it came up before that was read
    bench.pid1.existing = {{"rdmad-a.service:9.500:uverbs1.slice", AnchorState::up}};
    for (int look = 0; look < 2; look++) {
        bench.supervisor->retry();
        bench.supervisor->settle();
    }
    CHECK(bench.pid1.take() == List{"drop rdmad-a.service:9.500:uverbs1.slice"});
}

TEST_CASE("the anchors of a device are kept until the kernel tells of it", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    bench.pid1.existing = {{opa_anchor, AnchorState::up}};
    bench.kernel.refuse_port(opa, 1);
    bench.restart({Bench::event("", opa)});
    REQUIRE(bench.inventory->unanswered().contains(opa));
    bench.tell("a.service", running());
    for (int look = 0; look < 3; look++) {
        bench.supervisor->on_connected();
        bench.supervisor->settle();
        bench.tell("a.service", running());
    }
    CHECK(bench.pid1.take().empty());
    // nothing went, as far as anybody knows
    CHECK_FALSE(bench.supervisor->units().at("a.service").is_behind);
    bench.kernel.allow_ports();
    must(bench.inventory->refresh(opa));
    bench.supervisor->settle();
    CHECK(bench.pid1.take().empty());
    CHECK(bench.anchor_of("a.service") == opa_anchor);
    bench.unplug(opa, 1000);
    bench.tell("a.service", down(2000));
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::unplug);
}

TEST_CASE("the group of an anchor that is kept is kept beside one that goes", "[supervisor]")
{
    Bench bench;
    bench.bind("Device=opa", "Unit=a.service\nRequire=any");
    const auto group = "rdmad-a.service:any:50\\x2da.binding.slice"s;
    // the file matched device 0, too, before rdmad was stopped
    const auto of_0 = "rdmad-a.service:0.500:uverbs0:50\\x2da.binding.slice"s;
    const auto of_opa = "rdmad-a.service:1.500:uverbs1:50\\x2da.binding.slice"s;
    bench.pid1.existing = {
        {of_0, AnchorState::up}, {of_opa, AnchorState::up}, {group, AnchorState::up}};
    bench.kernel.refuse_port(opa, 1);
    bench.restart({Bench::event("", 0), Bench::event("", opa)});
    REQUIRE(bench.inventory->unanswered().contains(opa));
    bench.tell("a.service", running());
    CHECK(bench.pid1.take() == List{"drop " + of_0});
    bench.pid1.existing.erase(of_0);
    bench.kernel.allow_ports();
    must(bench.inventory->refresh(opa));
    bench.supervisor->settle();
    CHECK(bench.pid1.take().empty());
    CHECK(bench.anchor_of("a.service") == of_opa);
}

TEST_CASE("a unit has a keeper as long as it is bound, and one of nothing goes", "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.plug(opa);
    CHECK(bench.pid1.kept == std::set<std::string>{"a.service"});
    bench.pid1.kept.insert("z.service");
    bench.pid1.existing = {{systemd::keeper_name("a.service"), AnchorState::up},
                           {systemd::keeper_name("z.service"), AnchorState::up},
                           {opa_anchor, AnchorState::up}};
    bench.supervisor->on_connected();
    bench.supervisor->settle();
    CHECK(bench.pid1.kept == std::set<std::string>{"a.service"});
    bench.run.remove("etc");
    bench.reload();
    CHECK(bench.pid1.kept.empty());
}

TEST_CASE("a keeper that could not be made is made again", "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.tell("a.service", never_ran());
    bench.pid1.kept.clear();
    bench.finish(systemd::keeper_name("a.service"), fail(ENOMEM, "no"));
    CHECK(bench.pid1.kept.empty());
    CHECK(bench.supervisor->has_failed());
    bench.supervisor->retry();
    bench.supervisor->settle();
    CHECK(bench.pid1.kept == std::set<std::string>{"a.service"});
    CHECK_FALSE(bench.supervisor->has_failed());
}

TEST_CASE("an anchor that still waits is taken over as such", "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.plug(opa);
    const bool is_up = GENERATE(true, false);
    bench.pid1.existing = {{opa_anchor, is_up ? AnchorState::up : AnchorState::starting}};
    bench.restart({Bench::event("", opa)});
    bench.tell("a.service", never_ran());
    CHECK(bench.anchor_of("a.service") == (is_up ? opa_anchor : ""));
    CHECK(bench.pid1.take() == List{"anchor "s + opa_anchor, "start a.service"});
}

TEST_CASE("a group that is in use is no stranger", "[supervisor]")
{
    Bench bench;
    bench.bind("Device=mixed", "Unit=a.service\nRequire=any");
    bench.plug(0);
    const auto member = "rdmad-a.service:0.500:uverbs0:50\\x2da.binding.slice"s;
    const auto group = "rdmad-a.service:any:50\\x2da.binding.slice"s;
    CHECK(bench.pid1.take() == List{"anchor " + member});
    CHECK(bench.pid1.made.at(member).group == group);
    bench.pid1.existing = {{member, AnchorState::up}, {group, AnchorState::up}};
    bench.supervisor->on_connected();
    bench.supervisor->settle();
    CHECK(bench.pid1.take().empty());
}

TEST_CASE("a binding that goes takes its anchor, and the unit keeps running", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    CHECK(bench.record("a.service").members.size() == 1);
    bench.run.remove("etc");
    bench.reload();
    CHECK(bench.pid1.take() == List{"drop "s + opa_anchor, "unwatch a.service"});
    CHECK(bench.supervisor->units().empty());
    CHECK(bench.record("a.service").members.empty());
    CHECK(bench.record("a.service").memory.was_up);
}

TEST_CASE("a group goes before its last member, and not before", "[supervisor]")
{
    Bench bench;
    bench.bind("Device=mixed opa", "Unit=a.service\nRequire=any");
    bench.plug(0);
    bench.plug(opa);
    const auto mixed = "rdmad-a.service:0.500:uverbs0:50\\x2da.binding.slice"s;
    const auto other = "rdmad-a.service:1.500:uverbs1:50\\x2da.binding.slice"s;
    bench.finish(mixed);
    bench.finish(other);
    bench.pid1.take();
    bench.bind("Device=opa", "Unit=a.service\nRequire=any");
    CHECK(bench.pid1.take() == List{"drop " + mixed});
    bench.run.remove("etc");
    bench.reload();
    CHECK(bench.pid1.take() == List{"drop rdmad-a.service:any:50\\x2da.binding.slice",
                                    "drop " + other, "unwatch a.service"});
}

TEST_CASE("PID 1 takes away the anchor of a node that goes, unless that still waits",
          "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.plug(opa);
    bench.tell("a.service", never_ran());
    const bool is_up = GENERATE(true, false);
    if (is_up)
        bench.finish(opa_anchor);
    bench.pid1.take();
    bench.unplug(opa, 1000);
    CHECK(bench.pid1.take() == (is_up ? List() : List{"cancel "s + opa_anchor}));
}

TEST_CASE("an anchor that could not be made is tried again, but not at once", "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.tell("a.service", running());
    bench.plug(opa);
    bench.pid1.take();
    CHECK_FALSE(bench.supervisor->has_failed());
    bench.finish(opa_anchor, fail(ENOMEM, "no"));
    CHECK(bench.pid1.take().empty());
    CHECK(bench.supervisor->has_failed());
    bench.supervisor->retry();
    bench.supervisor->settle();
    CHECK(bench.pid1.take() == List{"anchor "s + opa_anchor});
    CHECK_FALSE(bench.supervisor->has_failed());
    bench.finish(opa_anchor);
    bench.supervisor->retry();
    bench.supervisor->settle();
    CHECK(bench.pid1.take().empty());
}

TEST_CASE("a keeper that could not be made, or that somebody stopped, is looked after at once",
          "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.tell("a.service", never_ran());
    const auto keeper = systemd::keeper_name("a.service");
    const auto works = bench.works;
    if (GENERATE(true, false)) {
        bench.finish(keeper, fail(ENOMEM, "no"));
    } else {
        bench.finish(keeper);
        CHECK_FALSE(bench.supervisor->has_failed());
        bench.supervisor->on_anchor_job(systemd::keeper_name("z.service"));
        CHECK_FALSE(bench.supervisor->has_failed());
        bench.supervisor->on_anchor_job(keeper);
    }
    CHECK(bench.supervisor->has_failed());
    CHECK(bench.works > works);
    bench.pid1.kept.clear();
    bench.supervisor->retry();
    bench.supervisor->settle();
    CHECK(bench.pid1.kept == std::set<std::string>{"a.service"});
}

TEST_CASE("an anchor that was taken over while it started is up, or made again, when its job ends",
          "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.plug(opa);
    bench.pid1.existing = {{opa_anchor, AnchorState::starting}};
    bench.restart({Bench::event("", opa)});
    bench.tell("a.service", running());
    bench.pid1.take();
    const bool is_up = GENERATE(true, false);
    bench.pid1.existing.clear();
    if (is_up)
        bench.pid1.existing = {{opa_anchor, AnchorState::up}};
    bench.supervisor->on_anchor_job(opa_anchor);
    CHECK(bench.supervisor->has_failed());
    bench.supervisor->retry();
    bench.supervisor->settle();
    CHECK(bench.anchor_of("a.service") == (is_up ? opa_anchor : ""));
    CHECK(bench.pid1.take() == (is_up ? List() : List{"anchor "s + opa_anchor}));
}

TEST_CASE("anchors are not asked for while PID 1 does not hear", "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.plug(opa);
    bench.finish(opa_anchor, fail(ENOMEM, "no"));
    bench.pid1.take();
    bench.pid1.is_there = false;
    bench.supervisor->retry();
    CHECK(bench.supervisor->has_failed());
    bench.pid1.is_there = true;
    bench.supervisor->retry();
    bench.supervisor->settle();
    CHECK_FALSE(bench.supervisor->has_failed());
    CHECK(bench.pid1.take() == List{"anchor "s + opa_anchor});
}

TEST_CASE("a bound unit is watched once, however often PID 1 is connected to", "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.supervisor->on_connected();
    CHECK(bench.pid1.watchers == std::map<std::string, int>{{"a.service", 1}});
    bench.pid1.watchers.clear();
    bench.restart({});
    CHECK(bench.pid1.watchers == std::map<std::string, int>{{"a.service", 1}});
    bench.run.remove("etc");
    bench.reload();
    CHECK(bench.pid1.watchers.empty());
}

// -- starts ---------------------------------------------------------------------------------------

TEST_CASE("a unit is started after it is tied", "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.tell("a.service", never_ran());
    CHECK(bench.pid1.take().empty());
    CHECK(bench.supervisor->units().at("a.service").reason == "waits for port 0011750101000001");
    bench.plug(opa);
    CHECK(bench.pid1.take() == List{"anchor "s + opa_anchor, "start a.service"});
    bench.finish(opa_anchor);
    CHECK(bench.pid1.take().empty());
}

TEST_CASE("a unit of which PID 1 has not told yet is not started", "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.plug(opa);
    CHECK(bench.pid1.take() == List{"anchor "s + opa_anchor});
    bench.tell("a.service", never_ran());
    CHECK(bench.pid1.take() == List{"start a.service"});
}

TEST_CASE("a unit that cannot be tied is not started", "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.plug(opa);
    bench.finish(opa_anchor, fail(ENOMEM, "no"));
    bench.pid1.take();
    bench.tell("a.service", never_ran());
    CHECK(bench.pid1.take().empty());
    bench.supervisor->retry();
    bench.supervisor->settle();
    CHECK(bench.pid1.take() == List{"anchor "s + opa_anchor, "start a.service"});
}

TEST_CASE("a unit follows its port through a return", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    const bool is_restarted = GENERATE(true, false);
    bench.unplug(opa, 1000);
    if (!is_restarted)
        bench.tell("a.service", down(2000));
    if (is_restarted) {
        bench.restart({});
        bench.tell("a.service", down(2000));
    }
    bench.pid1.take();
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::unplug);
    CHECK(bench.record("a.service").memory.stop->lost.guid == "0011750101000001");
    bench.kernel.return_as(opa, 7);
    bench.plug(7);
    CHECK(bench.pid1.take() ==
          List{"anchor rdmad-a.service:7.500:uverbs7.slice", "start a.service"});
    bench.supervisor->on_job("a.service", 17, "done");
    bench.tell("a.service", running(3000));
    CHECK(bench.pid1.take().empty());
    CHECK(bench.record("a.service").members.size() == 1);
    CHECK(bench.record("a.service").members[0].index == 7);
    CHECK_FALSE(bench.record("a.service").memory.stop.has_value());
}

TEST_CASE("a port that its file does not ask for any more is not waited for", "[supervisor]")
{
    struct Row {
        const char* before;
        const char* after;
    };
    const auto row = GENERATE(
        Row{"PortGUID=0011750101000001 0002c9fffe000a02", "PortGUID=0002c9fffe000a02"},
        Row{"PortGUID=0011750101000001", "PortGUID=0002c9fffe000a02"},
        Row{"PortGUID=0011750101000001 0002c9fffe000a02", "PortGUID=*a02"},
        Row{"NodeGUID=0011750101000000 0002c90300000a00", "NodeGUID=0002c90300000a00"},
        Row{"Device=opa mixed", "Device=mixed"}, Row{"Device=opa", "Device=mixed\nPort=2"});
    const auto wait = "waits for the return of port 0011750101000001 of opa";
    Bench bench;
    bench.run_with_both(row.before, "Unit=a.service");
    bench.unplug(opa, 1000);
    bench.tell("a.service", down(2000));
    REQUIRE(bench.reason("a.service") == wait);
    bench.bind(row.before, "Unit=a.service\nDescription=edited");
    CHECK(bench.reason("a.service") == wait);
    bench.pid1.take();
    bench.bind(row.after, "Unit=a.service");
    bench.finish_all();
    const auto asked = bench.pid1.take();
    CHECK(std::count(asked.begin(), asked.end(), "start a.service") == 1);
    bench.supervisor->on_job("a.service", 17, "done");
    bench.tell("a.service", running(3000));
    for (const auto& member : bench.record("a.service").members)
        CHECK(member.index == 0);
}

TEST_CASE("a port that goes just after its file was edited has stopped its unit", "[supervisor]")
{
    Bench bench;
    bench.run_with_both("Device=opa mixed", "Unit=a.service");
    bench.edit("Device=mixed", "Unit=a.service");
    bench.bindings.read();
    bench.supervisor->on_bindings();
    // before rdmad has asked PID 1 to untie it
    bench.unplug_early(opa, 1000);
    bench.tell("a.service", running());
    bench.tell("a.service", down(1001));
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::unplug);
    CHECK(bench.reason("a.service") == "is being started");
}

TEST_CASE("what the administrator stopped is not started by a return", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    bench.tell("a.service", down(900));
    bench.unplug(opa, 1000);
    bench.kernel.return_as(opa, 7);
    bench.plug(7);
    CHECK(bench.pid1.take() == List{"anchor rdmad-a.service:7.500:uverbs7.slice"});
}

TEST_CASE("a port that goes while the driver cannot tell of it stops its unit", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    // the netdev of the port has gone
    bench.kernel.refuse_port(opa, 1);
    CHECK_FALSE(bench.inventory->refresh(opa));
    bench.note_removal(opa, 1000);
    bench.inventory->handle(Bench::event("remove", opa));
    REQUIRE(bench.inventory->unanswered().contains(opa));
    bench.supervisor->settle();
    bench.tell("a.service", down(2000));
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::unplug);
    CHECK(bench.record("a.service").memory.is_wanted);
}

TEST_CASE("a port that the unit is not tied to yet does not keep it up", "[supervisor]")
{
    Bench bench;
    bench.bind("Device=mixed opa", "Unit=a.service\nRequire=any");
    bench.plug(0);
    bench.finish("rdmad-a.service:0.500:uverbs0:50\\x2da.binding.slice");
    bench.tell("a.service", running());
    bench.plug(opa);
    bench.pid1.take();
    bench.unplug(0, 1000);
    bench.tell("a.service", down(2000));
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::unplug);
    CHECK(bench.pid1.take() == List{"start a.service"});
}

TEST_CASE("what ran unseen until its port went is started by the return", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    bench.tell("a.service", down(900));
    const auto start_time = bench.now;
    const bool is_restarted = GENERATE(true, false);
    bench.unplug(opa, start_time + 1);
    if (is_restarted)
        bench.restart({});
    auto unit = down(start_time + 2);
    unit.inactive_exit = start_time;
    bench.tell("a.service", unit);
    CHECK(bench.reason("a.service") == "waits for the return of port 0011750101000001 of opa");
    bench.kernel.return_as(opa, 7);
    bench.pid1.take();
    bench.plug(7);
    CHECK(bench.pid1.take() ==
          List{"anchor rdmad-a.service:7.500:uverbs7.slice", "start a.service"});
}

TEST_CASE("a node that went and is there again by its old name stopped its unit", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    const bool is_seen = GENERATE(true, false);
    const bool is_told = GENERATE(true, false);
    bench.note_removal(opa, 1000);
    bench.inventory->handle(Bench::event("remove", opa));
    if (is_seen)
        bench.supervisor->settle();
    bench.inventory->handle(Bench::event("add", opa, later_birth));
    bench.supervisor->settle();
    // PID 1 is slower: to it that is the old node, the old anchor is still there, and the unit runs
    CHECK(bench.pid1.take() == List{"anchor "s + later_opa_anchor});
    bench.finish(later_opa_anchor);
    bench.tell("a.service", running());
    CHECK(bench.pid1.take().empty());
    // now it has stopped all three
    bench.tell("a.service", down(2000));
    CHECK(bench.reason("a.service") == "waits until systemd has heard that its port went");
    // which it tells; or that is lost
    if (is_told) {
        bench.supervisor->on_anchor_job(opa_anchor);
        bench.supervisor->on_anchor_job(later_opa_anchor);
    } else {
        bench.supervisor->on_connected();
    }
    bench.supervisor->retry();
    bench.supervisor->settle();
    bench.tell("a.service", down(2000));
    CHECK(bench.pid1.take() == List{"anchor "s + later_opa_anchor, "start a.service"});
    bench.finish(later_opa_anchor);
    bench.supervisor->on_job("a.service", 17, "done");
    bench.tell("a.service", running(3000));
    CHECK(bench.record("a.service").members.size() == 1);
    CHECK_FALSE(bench.record("a.service").members[0].removed.has_value());
    // and what the administrator stops now stays so
    auto unit = down(4000);
    unit.inactive_exit = 3000;
    bench.tell("a.service", unit);
    CHECK(bench.pid1.take().empty());
}

TEST_CASE("a port that udev has yet to note as gone has stopped nothing", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    bench.kernel.remove(opa);
    const bool is_noted = GENERATE(true, false);
    if (is_noted)
        bench.note_removal(opa, 1000);
    bench.now = 2500;
    bench.restart({});
    // somebody stopped it, or the port that went before
    bench.tell("a.service", down(2000));
    CHECK(bench.record("a.service").memory.stop->cause ==
          (is_noted ? Stop::Cause::unplug : Stop::Cause::other));
}

TEST_CASE("a node that came back while rdmad was away stopped its unit", "[supervisor]")
{
    Bench bench;
    const auto* require = GENERATE("all", "any");
    bench.bind(opa_match, "Unit=a.service\nRequire="s + require);
    bench.plug(opa);
    const auto anchor = bench.pid1.made.begin()->first;
    bench.finish(anchor);
    bench.tell("a.service", running());
    bench.pid1.take();
    const bool has_gone = GENERATE(true, false);
    const bool is_anchored = GENERATE(true, false);
    if (has_gone)
        bench.note_removal(opa, 1000);
    if (is_anchored)
        bench.pid1.existing = {{anchor, AnchorState::up}};
    bench.restart({Bench::event("", opa, has_gone ? later_birth : birth)});
    bench.tell("a.service", down(2000));
    auto asked = bench.pid1.take();
    // who stopped the anchor without a removal of its node stopped the unit, too
    CHECK(std::count(asked.begin(), asked.end(), "start a.service") == (has_gone && !is_anchored));
    CHECK(std::count(asked.begin(), asked.end(), "anchor " + anchor) ==
          (!has_gone && !is_anchored));
    // PID 1 has yet to hear that its node went
    if (has_gone && is_anchored) {
        bench.supervisor->on_anchor_job(anchor);
        bench.tell("a.service", down(2000));
        CHECK(bench.pid1.take() == List{"start a.service"});
    }
}

TEST_CASE("an anchor that an earlier rdmad called otherwise keeps its group until there is another",
          "[supervisor]")
{
    const auto old = "rdmad-a.service:1:uverbs1:50\\x2da.binding.slice"s;
    const auto anchor = "rdmad-a.service:1.500:uverbs1:50\\x2da.binding.slice"s;
    Bench bench;
    bench.bind(opa_match, "Unit=a.service\nRequire=any");
    bench.pid1.existing = {{old, AnchorState::up},
                           {systemd::group_name("a.service", "50-a.binding"), AnchorState::up}};
    bench.pid1.take();
    bench.restart({Bench::event("", opa)});
    bench.tell("a.service", running());
    auto asked = bench.pid1.take();
    CHECK(std::count(asked.begin(), asked.end(), "anchor " + anchor) == 1);
    CHECK(std::count(asked.begin(), asked.end(), "drop " + old) == 0);
    bench.finish(anchor);
    CHECK(bench.pid1.take() == List{"drop " + old});
}

TEST_CASE("an anchor that is not wanted any more keeps its group until there is another",
          "[supervisor]")
{
    const auto of_0 = "rdmad-a.service:0.500:uverbs0:50\\x2da.binding.slice"s;
    const auto of_opa = "rdmad-a.service:1.500:uverbs1:50\\x2da.binding.slice"s;
    Bench bench;
    bench.run_with_any();
    bench.plug(0);
    bench.pid1.take();
    bench.bind("Device=mixed", "Unit=a.service\nRequire=any");
    CHECK(bench.pid1.take() == List{"anchor " + of_0});
    bench.tell("a.service", running());
    CHECK(bench.pid1.take().empty());
    bench.finish(of_0);
    CHECK(bench.pid1.take() == List{"drop " + of_opa});
}

TEST_CASE("what an earlier rdmad recorded of a node that is made anew is of the one before",
          "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.plug(opa, 0);
    bench.finish("rdmad-a.service:1:uverbs1.slice");
    bench.tell("a.service", running());
    const bool has_gone = GENERATE(true, false);
    if (has_gone)
        bench.note_removal(opa, 1000);
    bench.restart({Bench::event("", opa, later_birth)});
    bench.tell("a.service", down(2000));
    CHECK(bench.record("a.service").memory.stop->cause ==
          (has_gone ? Stop::Cause::unplug : Stop::Cause::other));
}

TEST_CASE("a node that is made anew stopped all its units, whichever is tied again first",
          "[supervisor]")
{
    Bench bench;
    bench.run_two_with_opa();
    bench.note_removal(opa, 1000);
    // rdmad is away, or events are lost, or all are read
    const int how = GENERATE(0, 1, 2);
    bench.pid1.existing.clear();
    if (how == 0) {
        bench.restart({Bench::event("", opa, later_birth)});
    } else if (how == 1) {
        must(bench.inventory->resync({Bench::event("", opa, later_birth)}));
    } else {
        bench.inventory->handle(Bench::event("remove", opa));
        bench.plug(opa, later_birth);
    }
    bench.supervisor->settle();
    bench.finish_all();
    for (const auto* unit : {"a.service", "b.service"}) {
        bench.tell(unit, down(2000));
        CHECK(bench.record(unit).memory.stop->cause == Stop::Cause::unplug);
    }
}

TEST_CASE("what PID 1 has yet to stop for a port is not started with the next one", "[supervisor]")
{
    Bench bench;
    const bool is_restarted = GENERATE(false, true);
    bench.run_with_both("Device=mixed opa", "Unit=a.service");
    // both devices are reset, and PID 1 is busy
    for (const uint32_t index : {0U, opa})
        bench.unplug_early(index, 1000 + index);
    bench.kernel.return_as(0, 7);
    bench.plug(7);
    bench.kernel.return_as(opa, 8);
    bench.plug(8);
    bench.tell("a.service", running());
    // it hears of the first
    bench.end_anchors(0);
    bench.tell("a.service", down(2000));
    if (is_restarted) {
        bench.pid1.existing = {{"rdmad-a.service:1.500:uverbs1.slice", AnchorState::up}};
        bench.restart({Bench::event("", 7), Bench::event("", 8)});
        bench.tell("a.service", down(2000));
    }
    bench.finish_all();
    CHECK(bench.supervisor->units().at("a.service").is_coming);
    CHECK(bench.reason("a.service") == "waits until systemd has heard that its port went");
    const auto asked = bench.pid1.take();
    CHECK(std::count(asked.begin(), asked.end(), "start a.service") == 0);
    SECTION("it hears of the other one")
    {
        bench.supervisor->on_anchor_job("rdmad-a.service:1.500:uverbs1.slice");
    }
    SECTION("and nobody hears that from it")
    {
        bench.pid1.existing = {{"rdmad-a.service:7.500:uverbs7.slice", AnchorState::up},
                               {"rdmad-a.service:8.500:uverbs8.slice", AnchorState::up}};
        CHECK(bench.supervisor->has_failed());
        bench.supervisor->retry();
    }
    bench.supervisor->settle();
    CHECK(bench.pid1.take().empty());
    bench.tell("a.service", down(2000));
    CHECK(bench.pid1.take() == List{"start a.service"});
}

TEST_CASE("a unit stops for the port that went, though any will do and another one came first",
          "[supervisor]")
{
    Bench bench;
    bench.run_with_any();
    bench.unplug_early(opa, 1000);
    bench.kernel.return_as(opa, 7);
    bench.plug(7);
    bench.finish_all();
    const bool hears_before = GENERATE(true, false);
    for (int looks = 0; looks < 3; looks++)
        bench.tell("a.service", running());
    CHECK(bench.record("a.service").members.size() == 1);
    bench.pid1.take();
    SECTION("PID 1 stops it")
    {
        if (hears_before) {
            bench.end_anchors(opa);
            // the anchor is down before the group, and that before the unit
            auto stopping = running();
            stopping.has_job = true;
            for (int looks = 0; looks < 3; looks++)
                bench.tell("a.service", stopping);
        }
        bench.tell("a.service", down(2000));
        if (!hears_before) {
            CHECK(bench.pid1.take().empty());
            bench.end_anchors(opa);
        }
        CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::unplug);
        CHECK(bench.pid1.take() == List{"start a.service"});
    }
    SECTION("PID 1 knew of the other one in time")
    {
        bench.end_anchors(opa);
        for (int looks = 0; looks < 2; looks++)
            bench.tell("a.service", running());
        const auto members = bench.record("a.service").members;
        REQUIRE(members.size() == 1);
        CHECK(members[0].index == 7);
        bench.tell("a.service", down(2000));
        CHECK(bench.pid1.take().empty());
    }
}

TEST_CASE("an anchor that comes up between what PID 1 has and the next look is up", "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.plug(opa);
    bench.pid1.existing = {{opa_anchor, AnchorState::starting}};
    bench.supervisor->on_connected();
    bench.pid1.take();
    const bool is_up = GENERATE(true, false);
    bench.pid1.finish(opa_anchor, is_up ? Result<void>() : fail(ECANCELED, "canceled"));
    bench.supervisor->settle();
    bench.tell("a.service", running());
    CHECK(bench.record("a.service").members[0].anchor == (is_up ? opa_anchor : ""));
    CHECK(bench.pid1.take() == (is_up ? List() : List{"anchor "s + opa_anchor}));
}

TEST_CASE("an anchor that ends between what PID 1 has and the next look is asked for again",
          "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    bench.pid1.existing = {{opa_anchor, AnchorState::up}};
    bench.supervisor->on_connected();
    CHECK_FALSE(bench.supervisor->has_failed());
    bench.supervisor->on_anchor_job(opa_anchor);
    CHECK(bench.supervisor->has_failed());
}

TEST_CASE("a port that went before its anchor was up is waited for, too", "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.obstacles[opa] = {"it is held"};
    bench.plug(opa);
    bench.tell("a.service", never_ran());
    bench.unplug_early(opa, 1000);
    bench.kernel.return_as(opa, 7);
    bench.plug(7);
    bench.finish("rdmad-a.service:7.500:uverbs7.slice");
    bench.tell("a.service", never_ran());
    CHECK(bench.reason("a.service") == "waits until systemd has heard that its port went");
    const bool was_up = GENERATE(false, true);
    bench.finish(opa_anchor, was_up ? Result<void>() : fail(ECANCELED, "canceled"));
    if (was_up)
        bench.supervisor->on_anchor_job(opa_anchor);
    bench.pid1.take();
    bench.tell("a.service", never_ran());
    CHECK(bench.pid1.take() == List{"start a.service"});
}

TEST_CASE("a node that was made anew while events were lost stopped its unit", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    bench.note_removal(opa, 1000);
    must(bench.inventory->resync({Bench::event("", opa, later_birth)}));
    bench.supervisor->settle();
    bench.tell("a.service", down(2000));
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::unplug);
}

TEST_CASE("only what will be started is waited for to become active", "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service\nWaitFor=active\nRestart="s + GENERATE("return", "no"));
    bench.sys.file("class/infiniband/opa/ports/1/state", "1: DOWN\n");
    bench.plug(opa);
    bench.finish_all();
    bench.tell("a.service", never_ran());
    const auto& unit = bench.supervisor->units().at("a.service");
    CHECK(bench.supervisor->awaited().empty() ==
          (unit.is_left_alone || unit.present.begin()->second.is_ready));
}

TEST_CASE("an anchor that somebody stopped is made again, and that is no unplug", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    bench.supervisor->on_anchor_job("rdmad-other.service:1.500:uverbs1.slice");
    CHECK_FALSE(bench.supervisor->has_failed());
    bench.supervisor->on_anchor_job(opa_anchor);
    CHECK(bench.supervisor->has_failed());
    bench.supervisor->retry();
    bench.supervisor->settle();
    CHECK(bench.pid1.take() == List{"anchor "s + opa_anchor});
    bench.tell("a.service", down(2000));
    CHECK(bench.pid1.take().empty());
    // of a node that goes PID 1 stops it
    bench.finish(opa_anchor);
    bench.unplug(opa, 3000);
    bench.supervisor->on_anchor_job(opa_anchor);
    CHECK_FALSE(bench.supervisor->has_failed());
}

TEST_CASE("a start that an earlier rdmad asked for is asked for again", "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.plug(opa);
    bench.finish(opa_anchor);
    bench.tell("a.service", never_ran());
    CHECK(bench.record("a.service").memory.is_asked);
    bench.pid1.take();
    bench.pid1.existing = {{opa_anchor, AnchorState::up}};
    bench.restart({Bench::event("", opa)});
    bench.tell("a.service", never_ran());
    CHECK(bench.pid1.take() == List{"start a.service"});
    bench.tell("a.service", never_ran());
    CHECK(bench.pid1.take().empty());
}

TEST_CASE("what an earlier rdmad started as its port went is started by the return", "[supervisor]")
{
    Bench bench;
    bench.start_with_opa();
    REQUIRE(bench.record("a.service").memory.is_asked);
    bench.kernel.remove(opa);
    bench.note_removal(opa, 1000);
    bench.restart({});
    // PID 1 came to start it later than that, and stopped it when it heard
    const bool has_stopped = GENERATE(true, false);
    auto unit = down(2000);
    unit.inactive_exit = 1500;
    if (!has_stopped)
        unit.active_state = "deactivating";
    bench.tell("a.service", unit);
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::unplug);
    CHECK(bench.reason("a.service") == "waits for the return of port 0011750101000001 of opa");
    unit.active_state = "inactive";
    bench.tell("a.service", unit);
    bench.kernel.return_as(opa, 7);
    bench.pid1.take();
    bench.plug(7);
    CHECK(bench.pid1.take() ==
          List{"anchor rdmad-a.service:7.500:uverbs7.slice", "start a.service"});
}

TEST_CASE("a start that PID 1 refuses is a failure", "[supervisor]")
{
    Bench bench;
    bench.pid1.job = fail(EINVAL, "no");
    bench.bind(opa_match, "Unit=a.service");
    bench.plug(opa);
    bench.tell("a.service", never_ran());
    bench.pid1.take();
    bench.tell("a.service", never_ran());
    CHECK(bench.pid1.take().empty());
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::failure);
}

TEST_CASE("a start that PID 1 does not carry out is told apart from a failure", "[supervisor]")
{
    Bench bench;
    bench.start_with_opa();
    bench.pid1.take();
    const bool is_skipped = GENERATE(true, false);
    bench.supervisor->on_job("a.service", 17, is_skipped ? "done" : "dependency");
    bench.tell("a.service", never_ran());
    CHECK(bench.record("a.service").memory.stop->cause ==
          (is_skipped ? Stop::Cause::condition : Stop::Cause::dependency));
    CHECK(bench.reason("a.service") ==
          (is_skipped ? "is left alone: its condition was not met"
                      : "is left alone: a unit that it requires could not start"));
}

TEST_CASE("a start that PID 1 did not answer is asked for again once the unit is known",
          "[supervisor]")
{
    Bench bench;
    bench.pid1.job = fail(ETIMEDOUT, "no reply");
    bench.start_with_opa();
    bench.pid1.take();
    bench.pid1.job = 17U;
    SECTION("it did not get there")
    {
        bench.tell("a.service", never_ran());
        CHECK(bench.pid1.take() == List{"start a.service"});
    }
    SECTION("it is under way")
    {
        auto starting = never_ran();
        starting.has_job = true;
        bench.tell("a.service", starting);
        CHECK(bench.pid1.take().empty());
        CHECK(bench.reason("a.service") == "is being started");
    }
    CHECK(bench.record("a.service").memory.is_wanted);
}

TEST_CASE("only the end of the start that rdmad asked for counts", "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.plug(opa);
    bench.tell("a.service", never_ran());
    bench.supervisor->on_job("a.service", 16, "canceled");
    bench.supervisor->on_job("b.service", 17, "canceled");
    bench.tell("a.service", never_ran());
    CHECK(bench.record("a.service").memory.is_asked);
    bench.supervisor->on_job("a.service", 17, "canceled");
    bench.tell("a.service", never_ran());
    CHECK_FALSE(bench.record("a.service").memory.is_asked);
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::other);
}

TEST_CASE("a start that began as its port went is judged by the run that it began", "[supervisor]")
{
    Bench bench;
    bench.start_with_opa();
    // PID 1 stops the start that has begun, and tells of the job before it tells of the unit
    bench.unplug(opa, 1000);
    bench.supervisor->on_job("a.service", 17, "canceled");
    bench.supervisor->on_obstacle(opa);
    bench.reload();
    auto state = down(1200);
    state.inactive_exit = 1100;
    bench.tell("a.service", state);
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::unplug);
    CHECK(bench.record("a.service").memory.is_wanted);
}

TEST_CASE("a unit that started as its port went is stopped once, and started on the return",
          "[supervisor]")
{
    Bench bench;
    bench.start_with_opa();
    bench.unplug(opa, 1000);
    bench.pid1.take();
    bench.pid1.stop_job = 33U;
    bench.supervisor->on_job("a.service", 17, "done");
    bench.tell("a.service", running(900));
    CHECK(bench.pid1.take() == List{"stop a.service"});
    bench.tell("a.service", running(900));
    CHECK(bench.pid1.take().empty());
    SECTION("it stops")
    {
        bench.kernel.return_as(opa, 7);
        bench.plug(7);
        bench.pid1.take();
        bench.tell("a.service", down(2000));
        CHECK(bench.pid1.take() == List{"start a.service"});
        CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::unplug);
        // how the first start ended is not how this one does
        bench.tell("a.service", down(2000));
        CHECK(bench.record("a.service").memory.is_asked);
    }
    SECTION("its stop comes to nothing")
    {
        bench.supervisor->on_job("a.service", 33, "canceled");
        bench.tell("a.service", running(900));
        CHECK(bench.pid1.take().empty());
    }
}

TEST_CASE("a port that is not ready is waited for", "[supervisor]")
{
    Bench bench;
    bench.bind("Device=mixed\nPort=2", "Unit=a.service\nWaitFor=active");
    bench.plug(0);
    bench.tell("a.service", never_ran());
    CHECK(bench.pid1.take() == List{"anchor rdmad-a.service:0.500:uverbs0.slice"});
    CHECK(bench.supervisor->awaited() == std::set<uint32_t>{0});
    bench.sys.file("class/infiniband/mixed/ports/2/gids/1",
                   "0000:0000:0000:0000:0000:ffff:0a00:0001\n");
    must(bench.inventory->refresh(0));
    bench.supervisor->settle();
    CHECK(bench.pid1.take() == List{"start a.service"});
    CHECK(bench.supervisor->awaited().empty());
}

TEST_CASE("bindings follow the GUID of a RoCE port, which follows its MAC address", "[supervisor]")
{
    constexpr uint32_t mixed = 0;
    constexpr char gid[] = "class/infiniband/mixed/ports/2/gids/0";
    Bench bench;
    const auto change_guid = [&](const std::string& low_half) {
        bench.sys.file(gid, "fe80:0000:0000:0000:" + low_half + "\n");
        must(bench.inventory->refresh(mixed));
        bench.supervisor->settle();
    };
    bench.bind("PortGUID=0002c9fffe000a02", "Unit=old.service", "50-old.binding");
    bench.bind("PortGUID=0002c9fffe000b02", "Unit=new.service", "50-new.binding");
    bench.bind("LinkType=roce", "Unit=any.service", "50-any.binding");
    bench.plug(mixed);
    bench.finish_all();
    bench.tell("old.service", running());
    bench.tell("any.service", running());
    bench.tell("new.service", never_ran());
    CHECK(bench.reason("new.service") == "waits for port 0002c9fffe000b02");
    bench.pid1.take();

    // the kernel removes the entry of its table before it adds the new one
    change_guid("0000:0000:0000:0000");
    CHECK(bench.pid1.take().empty());
    change_guid("0002:c9ff:fe00:0b02");
    // what runs is not stopped: its port has not gone
    CHECK(bench.pid1.take() == List{"anchor rdmad-new.service:0.500:uverbs0.slice",
                                    "start new.service",
                                    "drop rdmad-old.service:0.500:uverbs0.slice"});
    CHECK(bench.reason("old.service") == "runs");
    CHECK(bench.record("any.service").members.at(0).guid == "0002c9fffe000b02");
    bench.finish_all();
    bench.tell("new.service", running());
    bench.pid1.take();

    bench.unplug(mixed, 1000);
    bench.tell("new.service", down(1001));
    bench.tell("any.service", down(1001));
    bench.kernel.return_as(mixed, 7);
    // with the address that is in the adapter, until udev has given it another one
    bench.sys.file(gid, "fe80:0000:0000:0000:0002:c9ff:fe00:0c02\n");
    bench.pid1.take();
    bench.plug(7);
    CHECK(bench.reason("new.service") == "waits for the return of port 0002c9fffe000b02 of mixed");
    // a file that names no port goes by the place, which is the name of a device without a slot
    CHECK(bench.reason("any.service") == "is being started");
    bench.sys.file(gid, "fe80:0000:0000:0000:0002:c9ff:fe00:0b02\n");
    must(bench.inventory->refresh(7));
    bench.supervisor->settle();
    bench.finish_all();
    const auto asked = bench.pid1.take();
    for (const auto* start : {"start new.service", "start any.service"})
        CHECK(std::count(asked.begin(), asked.end(), start) == 1);
}

TEST_CASE("an instance that its file does not name any more is not bound without its port",
          "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a@%d.service");
    bench.plug(opa);
    bench.finish_all();
    bench.tell("a@opa.service", running());
    bench.unplug(opa, 1000);
    bench.tell("a@opa.service", down(2000));
    bench.reload();
    CHECK(bench.supervisor->units().contains("a@opa.service"));
    bench.bind(opa_match, "Unit=b@%d.service");
    CHECK(bench.supervisor->units().empty());
    CHECK_FALSE(bench.pid1.kept.contains("a@opa.service"));
}

TEST_CASE("the unit of an old name is stopped when its device is renamed", "[supervisor]")
{
    Bench bench;
    bench.bind("Device=opa fabric", "Unit=a@%d.service");
    bench.plug(opa);
    bench.finish("rdmad-a\\x40opa.service:1.500:uverbs1.slice");
    bench.tell("a@opa.service", running());
    bench.pid1.take();
    bench.rename_opa("opa", "fabric");
    CHECK(bench.pid1.take() ==
          List{"stop a@opa.service", "anchor rdmad-a\\x40fabric.service:1.500:uverbs1.slice",
               "drop rdmad-a\\x40opa.service:1.500:uverbs1.slice", "unwatch a@opa.service"});
    CHECK(bench.supervisor->units_of(opa) == Supervisor::UnitsByPort{{1, {"a@fabric.service"}}});
}

TEST_CASE("the unit of a device that gets its old name back starts again", "[supervisor]")
{
    Bench bench;
    bench.bind("Device=opa fabric", "Unit=a@%d.service");
    bench.plug(opa);
    bench.finish("rdmad-a\\x40opa.service:1.500:uverbs1.slice");
    enum class Stopped { by_rdmad, before, before_and_not_heard };
    const auto stopped =
        GENERATE(Stopped::by_rdmad, Stopped::before, Stopped::before_and_not_heard);
    bench.tell("a@opa.service", running());
    if (stopped == Stopped::before)
        bench.tell("a@opa.service", down(900));
    bench.rename_opa("opa", "fabric");
    bench.rename_opa("fabric", "opa");
    bench.finish("rdmad-a\\x40opa.service:1.500:uverbs1.slice");
    bench.pid1.take();
    bench.tell("a@opa.service", down(stopped == Stopped::by_rdmad ? bench.now : bench.now - 1));
    const auto asked = bench.pid1.take();
    const bool is_started =
        std::find(asked.begin(), asked.end(), "start a@opa.service") != asked.end();
    // what an administrator had stopped before stays so
    CHECK(is_started == (stopped == Stopped::by_rdmad));
}

TEST_CASE("a unit that another file binds, too, starts again after the rename that stopped it",
          "[supervisor]")
{
    Bench bench;
    bench.bind("Device=opa fabric", "Unit=a@%d.service");
    bench.bind("Device=opa fabric", "Unit=a@opa.service", "60-b.binding");
    bench.plug(opa);
    bench.finish_all();
    // or it is being started
    const bool is_running = GENERATE(true, false);
    const auto unit = is_running ? running() : never_ran();
    bench.tell("a@opa.service", unit);
    bench.rename_opa("opa", "fabric");
    bench.finish_all();
    bench.pid1.take();
    if (!is_running) {
        bench.supervisor->on_job("a@opa.service", 17, "canceled");
        bench.supervisor->on_job("a@opa.service", 18, "done");
    }
    bench.tell("a@opa.service", unit);
    if (is_running)
        bench.tell("a@opa.service", down(bench.now));
    CHECK(bench.reason("a@opa.service") == "is being started");
    CHECK(bench.pid1.take() == List{"start a@opa.service"});
}

TEST_CASE("a stop that an earlier rdmad requested counts if it got there", "[supervisor]")
{
    Bench bench;
    bench.bind("Device=opa fabric", "Unit=a@%d.service");
    bench.bind("Device=opa fabric", "Unit=a@opa.service", "60-b.binding");
    bench.plug(opa);
    bench.finish_all();
    bench.tell("a@opa.service", running());
    bench.rename_opa("opa", "fabric");
    REQUIRE(bench.record("a@opa.service").memory.eviction.has_value());
    bench.restart({Bench::event("", opa)});
    bench.finish_all();
    bench.pid1.take();

    auto unit = running();
    unit.has_job = GENERATE(true, false);
    bench.tell("a@opa.service", unit);
    CHECK(bench.record("a@opa.service").memory.eviction.has_value() == unit.has_job);
    bench.tell("a@opa.service", down(bench.now));
    // otherwise somebody else stopped it
    CHECK(bench.pid1.take() == (unit.has_job ? List{"start a@opa.service"} : List{}));
}

TEST_CASE("a unit that began as its device was renamed starts again with its old name",
          "[supervisor]")
{
    Bench bench;
    bench.bind("Device=opa fabric", "Unit=a@%d.service");
    bench.plug(opa);
    bench.finish_all();
    bench.tell("a@opa.service", never_ran());
    bench.rename_opa("opa", "fabric");
    bench.finish_all();
    bench.rename_opa("fabric", "opa");
    bench.finish_all();
    auto unit = down(bench.now);
    unit.inactive_exit = bench.now - 100;
    bench.tell("a@opa.service", unit);
    CHECK(bench.reason("a@opa.service") == "is being started");
}

TEST_CASE("the unit of an old name is stopped when its device was renamed while rdmad was away",
          "[supervisor]")
{
    Bench bench;
    bench.bind("Device=opa fabric", "Unit=a@%d.service");
    bench.plug(opa);
    bench.finish("rdmad-a\\x40opa.service:1.500:uverbs1.slice");
    bench.tell("a@opa.service", running());
    bench.pid1.take();
    const std::vector<UdevEvent> nodes = {
        Bench::event("", opa),
        {.subsystem = "infiniband", .node = {"fabric", "/sys/devices/fabric"}, .index = opa}};
    bench.pid1.existing = {{"rdmad-a\\x40opa.service:1.500:uverbs1.slice", AnchorState::up}};
    must(bench.client.rename(opa, "fabric"));
    bench.sys.rename("class/infiniband/opa", "class/infiniband/fabric");
    bench.restart(nodes);
    CHECK(bench.pid1.take() ==
          List{"stop a@opa.service", "anchor rdmad-a\\x40fabric.service:1.500:uverbs1.slice",
               "unwatch a@opa.service", "drop rdmad-a\\x40opa.service:1.500:uverbs1.slice"});
    // and not again
    bench.restart(nodes);
    for (const auto& asked : bench.pid1.take())
        CHECK(asked != "stop a@opa.service");
}

// -- what is written down -------------------------------------------------------------------------

TEST_CASE("removals are noted as long as somebody may need that", "[supervisor]")
{
    Bench bench;
    CHECK(bench.run.list("bound").empty());
    bench.run_with_opa();
    CHECK(bench.run.list("bound") == List{"1"});
    bench.unplug(opa, 1000);
    bench.tell("a.service", down(2000));
    CHECK(bench.run.list("bound") == List{"1"});
    bench.kernel.return_as(opa, 7);
    bench.plug(7);
    bench.tell("a.service", running(3000));
    bench.supervisor->settle();
    CHECK(bench.run.list("bound") == List{"7"});
}

TEST_CASE("notes of nodes that no unit is tied to go with the next change of their device",
          "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    bench.bind("Device=mixed", "Unit=b.service", "50-b.binding");
    bench.plug(0);
    bench.finish_all();
    bench.tell("b.service", running());
    CHECK(bench.run.list("bound") == List{"0", "1"});
    SECTION("of a kind that is not bound") {}
    SECTION("of a device that is not bound any more")
    {
        bench.run.remove("etc/rdmad/binding.d/50-a.binding");
        bench.reload();
    }
    bench.run.link("bound/1/umad1.5", "12");
    // with hundreds of devices a look at each of them would take long
    bench.tell("b.service", down(2000));
    bench.inventory->handle(Bench::event("remove", 0));
    bench.plug(0, birth + 1);
    CHECK(bench.run.list("bound/1") == List{"umad1.5"});
    bench.inventory->handle(Bench::event("remove", opa));
    bench.plug(opa, birth + 1);
    CHECK(bench.run.list("bound/1").empty());
}

TEST_CASE("notes of a unit that stays down do not grow", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    auto failed = down(900);
    failed.active_state = "failed";
    bench.tell("a.service", failed);
    for (uint64_t born = birth; born < birth + 9; born++) {
        bench.run.link("bound/1/uverbs1." + std::to_string(born),
                       std::to_string(1'000'000'000 + born));
        bench.inventory->handle(Bench::event("remove", opa, born));
        bench.supervisor->settle();
        bench.end_anchors(opa);
        bench.plug(opa, born + 1);
        bench.finish_all();
    }
    CHECK(bench.run.list("bound/1").size() <= 1);
}

TEST_CASE("notes that an earlier rdmad asked for are swept, too", "[supervisor]")
{
    Bench bench;
    bench.run.link("bound/5/uverbs5", "12");
    bench.restart({});
    CHECK(bench.run.list("bound").empty());
}

TEST_CASE("what a unit ran with is forgotten when it runs with another port", "[supervisor]")
{
    Bench bench;
    bench.bind("Device=mixed opa", "Unit=a.service\nRequire=any");
    bench.plug(0);
    bench.plug(opa);
    bench.finish_all();
    const auto remembers_opa = [&] {
        const auto members = bench.record("a.service").members;
        return std::any_of(members.begin(), members.end(),
                           [](const Member& member) { return member.index == opa; });
    };
    bench.tell("a.service", running());
    CHECK(remembers_opa());
    // who keeps the device from being removed may have to be asked for
    bench.removing = {opa};
    bench.unplug(opa, 1000);
    bench.tell("a.service", running());
    CHECK(remembers_opa());
    bench.removing.clear();
    bench.tell("a.service", running());
    CHECK_FALSE(remembers_opa());
    // a unit that somebody stops then was not stopped by that
    bench.tell("a.service", down(2000));
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::other);
}

TEST_CASE("an unplug that rdmad hears of after a failure has been its reason at all times",
          "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    // the service fails of its port, and again after PID 1 has restarted it once
    auto failed = down(1600);
    failed.active_state = "failed";
    failed.inactive_exit = 1500;
    const bool is_known_at_once = GENERATE(true, false);
    if (is_known_at_once) {
        bench.unplug(opa, 1000);
        bench.tell("a.service", failed);
    } else {
        bench.tell("a.service", failed);
        CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::failure);
        if (GENERATE(true, false)) {
            bench.pid1.existing = {{opa_anchor, AnchorState::up}};
            bench.restart({Bench::event("", opa)});
            bench.tell("a.service", failed);
        }
        bench.unplug(opa, 1000);
    }
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::unplug);
    CHECK(bench.record("a.service").memory.is_wanted);
}

TEST_CASE("a record that cannot be read is as none", "[supervisor]")
{
    Bench bench;
    bench.run.file("units/a.service", "{");
    bench.bind(opa_match, "Unit=a.service");
    CHECK(bench.supervisor->units().at("a.service").record == UnitRecord());
}

// -- one stage after the other, and what is in the way --------------------------------------------

TEST_CASE("a unit that keeps its device from being removed is stopped where its file says so",
          "[supervisor]")
{
    const auto* keys = GENERATE("OnBlocked=stop", "OnBlocked=report");
    Bench bench;
    bench.run_with_both("Device=mixed opa", "Unit=a.service\nRequire=any\n"s + keys);
    bench.removing = {opa};
    bench.unplug(opa, 1000);
    bench.pid1.take();
    bench.supervisor->on_blocked(opa, {"b.service"});
    CHECK(bench.pid1.take().empty());
    bench.supervisor->on_blocked(opa, {"a.service", "b.service"});
    CHECK(bench.pid1.take() == (keys == "OnBlocked=stop"s ? List{"stop a.service"} : List()));
}

TEST_CASE("what was stopped to let a device go is started with what is left", "[supervisor]")
{
    Bench bench;
    bench.run_with_both("Device=mixed opa", "Unit=a.service\nRequire=any\nOnBlocked=stop");
    bench.removing = {opa};
    bench.unplug(opa, 1000);
    bench.supervisor->on_blocked(opa, {"a.service"});
    bench.supervisor->on_blocked(opa, {"a.service"});
    bench.pid1.take();
    bench.tell("a.service", down(1500));
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::unplug);
    CHECK_FALSE(bench.record("a.service").memory.eviction.has_value());
    CHECK(bench.pid1.take() == List{"start a.service"});
}

TEST_CASE("an earlier stage starts first", "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service", "50-a.binding");
    bench.bind(opa_match, "Unit=i.service\nStage=initiators", "50-i.binding");
    bench.bind(opa_match, "Unit=t.service\nStage=targets", "50-t.binding");
    bench.plug(opa);
    bench.finish_all();
    for (const auto* unit : {"a.service", "i.service", "t.service"})
        bench.tell(unit, never_ran());
    CHECK(bench.reason("a.service") == "waits: i.service, of an earlier stage, is not up yet");
    CHECK(bench.reason("i.service") == "waits: t.service, of an earlier stage, is not up yet");
    const auto starts = [&] {
        auto asked = bench.pid1.take();
        std::erase_if(asked, [](const auto& order) { return !order.starts_with("start "); });
        return asked;
    };
    CHECK(starts() == List{"start t.service"});
    auto starting = running();
    starting.active_state = "activating";
    bench.tell("t.service", starting);
    bench.supervisor->settle();
    CHECK(starts().empty());
    bench.tell("t.service", running());
    bench.supervisor->settle();
    CHECK(starts() == List{"start i.service"});
    // one that fails holds up nobody
    auto failed = down(900);
    failed.active_state = "failed";
    bench.tell("i.service", failed);
    bench.supervisor->settle();
    CHECK(starts() == List{"start a.service"});
}

TEST_CASE("what cannot start by itself holds up no later stage", "[supervisor]")
{
    const auto* keys = GENERATE("Restart=no", "Require=all");
    Bench bench;
    bench.bind(opa_match, "Unit=a.service", "50-a.binding");
    bench.bind("PortGUID=0011750101000001 00000000000000ff",
               "Unit=t.service\nStage=targets\n"s + keys, "50-t.binding");
    bench.plug(opa);
    bench.finish_all();
    bench.tell("t.service", never_ran());
    bench.pid1.take();
    bench.tell("a.service", never_ran());
    CHECK(bench.pid1.take() == List{"start a.service"});
}

TEST_CASE("a device is drained one stage after the other", "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service", "50-a.binding");
    bench.bind(opa_match, "Unit=t.service\nStage=targets", "50-t.binding");
    bench.bind(opa_match, "Unit=idle.service", "50-idle.binding");
    bench.plug(opa);
    bench.finish_all();
    for (const auto* unit : {"a.service", "t.service"})
        bench.tell(unit, running());
    bench.tell("idle.service", down(400));
    bench.pid1.take();
    std::map<std::string, int> asked;
    bench.obstacles[opa] = {"opa is prepared for removal"};
    CHECK(bench.supervisor->drain(0, asked).left.empty());
    CHECK(bench.supervisor->drain(opa, asked).left == List{"a.service", "t.service"});
    CHECK(bench.supervisor->drain(opa, asked).left == List{"a.service", "t.service"});
    CHECK(bench.pid1.take() == List{"stop a.service"});
    auto stopping = down(1500);
    stopping.active_state = "deactivating";
    bench.tell("a.service", stopping);
    CHECK(bench.supervisor->drain(opa, asked).left == List{"a.service", "t.service"});
    CHECK(bench.pid1.take().empty());
    bench.tell("a.service", down(1500));
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::prepare);
    CHECK(bench.supervisor->drain(opa, asked).left == List{"t.service"});
    CHECK(bench.pid1.take() == List{"stop t.service"});
    bench.tell("t.service", down(1600));
    CHECK(bench.supervisor->drain(opa, asked).left.empty());
    // and it all comes back when nothing is in the way any more, in the order of starts
    bench.obstacles.clear();
    bench.supervisor->on_obstacle(opa);
    bench.supervisor->settle();
    CHECK(bench.pid1.take() == List{"start t.service"});
    bench.tell("t.service", running(1700));
    bench.supervisor->settle();
    CHECK(bench.pid1.take() == List{"start a.service"});
}

TEST_CASE("a later stage waits for what PID 1 has yet to stop", "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service", "50-a.binding");
    bench.bind(opa_match, "Unit=t.service\nStage=targets", "50-t.binding");
    bench.plug(opa);
    bench.finish_all();
    for (const auto* unit : {"t.service", "a.service"})
        bench.tell(unit, running());
    bench.unplug_early(opa, 1000);
    bench.kernel.return_as(opa, 7);
    bench.plug(7);
    bench.finish_all();
    // PID 1 is done with a.service, and t.service takes longer to stop
    bench.pid1.take();
    bench.supervisor->on_anchor_job(opa_anchor);
    bench.tell("a.service", down(2000));
    CHECK(bench.pid1.take().empty());
    CHECK(bench.reason("a.service") ==
          "waits: t.service, of an earlier stage, may still have to stop");
    CHECK(bench.supervisor->units().at("a.service").is_coming);
    SECTION("it stops")
    {
        bench.supervisor->on_anchor_job("rdmad-t.service:1.500:uverbs1.slice");
        bench.tell("t.service", down(2000));
        CHECK(bench.pid1.take() == List{"start t.service"});
        bench.tell("t.service", running(3000));
    }
    SECTION("it does not, and nobody hears of its anchor")
    {
        bench.pid1.existing = {{"rdmad-a.service:7.500:uverbs7.slice", AnchorState::up},
                               {"rdmad-t.service:7.500:uverbs7.slice", AnchorState::up}};
        CHECK(bench.supervisor->has_failed());
        bench.supervisor->retry();
        bench.tell("t.service", running());
    }
    bench.supervisor->settle();
    CHECK(bench.pid1.take() == List{"start a.service"});
}

TEST_CASE("of units that are stopped together, PID 1 may stop one with the first", "[supervisor]")
{
    Bench bench;
    bench.run_two_with_opa();
    bench.tick = 10;
    const auto first = bench.now + bench.tick;
    std::map<std::string, int> asked;
    CHECK(bench.supervisor->drain(opa, asked).left == List{"a.service", "b.service"});
    CHECK(bench.pid1.take() == List{"stop a.service", "stop b.service"});
    for (const auto* unit : {"a.service", "b.service"}) {
        bench.tell(unit, down(first));
        CHECK(bench.record(unit).memory.stop->cause == Stop::Cause::prepare);
    }
}

TEST_CASE("a unit that is stopped already is stopped by that, though its device is renamed",
          "[supervisor]")
{
    Bench bench;
    bench.bind("Device=opa fabric", "Unit=a@%d.service");
    bench.plug(opa);
    bench.finish_all();
    bench.tell("a@opa.service", running());
    std::map<std::string, int> asked;
    (void)bench.supervisor->drain(opa, asked);
    const auto ended = bench.now;
    bench.now += 100;
    bench.rename_opa("opa", "fabric");
    CHECK(bench.record("a@opa.service").memory.eviction->since == ended);
}

TEST_CASE("a stop that an earlier rdmad did not come to request is none of rdmad's", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    std::map<std::string, int> asked;
    bench.pid1.answers_stops = false;
    (void)bench.supervisor->drain(opa, asked);
    REQUIRE(bench.record("a.service").memory.eviction.has_value());
    bench.pid1.existing = {{opa_anchor, AnchorState::up}};
    bench.restart({Bench::event("", opa)});
    // another report is on its way
    bench.pid1.changed = {"a.service"};
    bench.tell("a.service", running());
    bench.pid1.changed.clear();
    bench.tell("a.service", down(bench.now + 100));
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::other);
}

TEST_CASE("what PID 1 is stopping is not asked for again and again", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    bench.unplug_early(opa, 1000);
    bench.kernel.return_as(opa, 7);
    bench.plug(7);
    bench.finish_all();
    auto stopping = down(1100);
    stopping.active_state = "deactivating";
    stopping.has_job = true;
    bench.tell("a.service", stopping);
    CHECK(bench.reason("a.service") == "waits until systemd has heard that its port went");
    bench.pid1.existing = {{opa_anchor, AnchorState::stopping},
                           {"rdmad-a.service:7.500:uverbs7.slice", AnchorState::up}};
    CHECK(bench.supervisor->has_failed());
    bench.supervisor->retry();
    bench.supervisor->settle();
    CHECK_FALSE(bench.supervisor->has_failed());
}

TEST_CASE("a unit that was down is not drained while a report of it is on its way", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    const bool was_running = GENERATE(true, false);
    const bool is_running = GENERATE(true, false);
    const auto state = [](bool runs) { return runs ? running(600) : down(1500); };
    bench.tell("a.service", state(was_running));
    bench.obstacles[opa] = {"opa is prepared for removal"};
    bench.pid1.take();
    bench.pid1.changed = {"a.service"};
    std::map<std::string, int> asked;
    for (int look = 0; look < 5; look++)
        CHECK(bench.supervisor->drain(opa, asked).left == List{"a.service"});
    // one that was up is stopped: if somebody did that before, its times tell
    CHECK(bench.pid1.take() == (was_running ? List{"stop a.service"} : List()));
    // while PID 1 does not hear, there is nothing to wait for
    bench.pid1.is_there = false;
    CHECK(bench.supervisor->drain(opa, asked).left == (was_running ? List{"a.service"} : List()));
    bench.pid1.is_there = true;
    bench.pid1.changed.clear();
    bench.tell("a.service", state(is_running));
    const auto drained = bench.supervisor->drain(opa, asked);
    CHECK(drained.problem.empty());
    CHECK(drained.left == (is_running ? List{"a.service"} : List()));
    CHECK(bench.pid1.take() == (is_running && !was_running ? List{"stop a.service"} : List()));
}

TEST_CASE("what somebody stopped just before rdmad did is not started again", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    const auto ended = bench.now - 1;
    std::map<std::string, int> asked;
    // rdmad has yet to hear of that
    CHECK(bench.supervisor->drain(opa, asked).left == List{"a.service"});
    CHECK(bench.pid1.take() == List{"stop a.service"});
    if (GENERATE(false, true)) {
        bench.pid1.existing = {{opa_anchor, AnchorState::up}};
        bench.restart({Bench::event("", opa)});
    }
    bench.tell("a.service", down(ended));
    CHECK(bench.supervisor->drain(opa, asked).left.empty());
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::other);
    bench.supervisor->on_obstacle(opa);
    bench.supervisor->settle();
    CHECK(bench.pid1.take().empty());
}

TEST_CASE("a unit that was drained is remembered over a restart of rdmad", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    std::map<std::string, int> asked;
    bench.obstacles[opa] = {"opa is prepared for removal"};
    CHECK(bench.supervisor->drain(opa, asked).left == List{"a.service"});
    bench.restart({Bench::event("add", opa)});
    bench.tell("a.service", down(1500));
    CHECK(bench.record("a.service").memory.is_wanted);
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::prepare);
    CHECK(bench.reason("a.service") == "waits: opa is prepared for removal");
}

TEST_CASE("a restart that PID 1 did before it read of the stop changes nothing", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    bench.pid1.answers_stops = GENERATE(true, false);
    std::map<std::string, int> asked;
    (void)bench.supervisor->drain(opa, asked);
    bench.tell("a.service", running(600));
    bench.tell("a.service", down(1500));
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::prepare);
}

TEST_CASE("what PID 1 said over an earlier connection does not count", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    std::map<std::string, int> asked;
    (void)bench.supervisor->drain(opa, asked);
    REQUIRE(bench.record("a.service").memory.eviction.has_value());
    bench.supervisor->on_connected();
    bench.supervisor->settle();
    CHECK(bench.record("a.service").memory.eviction.has_value());
    bench.tell("a.service", down(1500));
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::prepare);
}

TEST_CASE("a unit of which nothing is known, or that is about to start, is not drained",
          "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.plug(opa);
    bench.finish_all();
    std::map<std::string, int> asked;
    CHECK(bench.supervisor->drain(opa, asked).left == List{"a.service"});
    bench.pid1.take();
    // rdmad asks for a start, and its job waits
    bench.tell("a.service", never_ran());
    CHECK(bench.pid1.take() == List{"start a.service"});
    CHECK(bench.supervisor->drain(opa, asked).left == List{"a.service"});
    CHECK(bench.pid1.take() == List{"stop a.service"});
    bench.obstacles[opa] = {"opa is prepared for removal"};
    bench.supervisor->on_job("a.service", 17, "canceled");
    bench.tell("a.service", never_ran());
    CHECK(bench.supervisor->drain(opa, asked).left.empty());
    // it was wanted, and comes back
    CHECK(bench.record("a.service").memory.is_wanted);
    CHECK_FALSE(bench.record("a.service").memory.eviction.has_value());
}

TEST_CASE("a start that rdmad takes back is over when PID 1 is done with it", "[supervisor]")
{
    Bench bench;
    bench.pid1.answers_starts = bench.pid1.answers_stops = GENERATE(true, false);
    bench.start_with_opa();
    std::map<std::string, int> asked;
    (void)bench.supervisor->drain(opa, asked);
    // PID 1 may have read neither
    bench.supervisor->on_obstacle(opa);
    bench.supervisor->settle();
    SECTION("it runs for a moment")
    {
        auto unit = down(1500);
        unit.inactive_exit = 1480;
        bench.tell("a.service", unit);
    }
    SECTION("it does not, and what is told of that comes one after the other")
    {
        bench.pid1.answer_starts(17U);
        for (const auto& [job, result] : {std::pair(17U, "canceled"), {18U, "done"}}) {
            bench.pid1.refreshed.clear();
            bench.supervisor->on_job("a.service", job, result);
            CHECK(bench.pid1.refreshed.contains("a.service") ==
                  (job == 17U || bench.pid1.answers_stops));
        }
        bench.pid1.changed = {"a.service"};
        bench.supervisor->on_obstacle(opa);
        bench.supervisor->settle();
        bench.pid1.changed.clear();
        bench.tell("a.service", never_ran());
    }
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::prepare);
    CHECK(bench.record("a.service").memory.is_wanted);
}

TEST_CASE("a unit that cannot be stopped, or comes back at once, is told", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    std::map<std::string, int> asked;
    SECTION("refused")
    {
        bench.pid1.stop_job = fail(EPERM, "it may not");
        CHECK(bench.supervisor->drain(opa, asked).problem.empty());
        CHECK(bench.supervisor->drain(opa, asked).problem == "it may not");
        CHECK_FALSE(bench.record("a.service").memory.eviction.has_value());
    }
    SECTION("nobody knows whether systemd heard of it")
    {
        bench.pid1.stop_job = fail(ETIMEDOUT, "no answer");
        CHECK(bench.supervisor->drain(opa, asked).problem.empty());
        bench.tell("a.service", running());
        CHECK_FALSE(bench.record("a.service").memory.eviction.has_value());
        bench.tell("a.service", down(1500));
        CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::other);
    }
    SECTION("its job came to nothing")
    {
        bench.pid1.stop_job = 33U;
        CHECK(bench.supervisor->drain(opa, asked).problem.empty());
        bench.supervisor->on_job("a.service", 33, "canceled");
        bench.tell("a.service", running());
        CHECK(bench.supervisor->drain(opa, asked).problem == "its stop was canceled");
        // what an administrator does later on is his
        bench.tell("a.service", down(1500));
        CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::other);
    }
    SECTION("started again")
    {
        for (uint64_t since = 600; since < 900; since += 100) {
            CHECK(bench.supervisor->drain(opa, asked).problem.empty());
            CHECK(bench.pid1.take() == List{"stop a.service"});
            bench.supervisor->on_job("a.service", 18, "done");
            bench.tell("a.service", running(since));
        }
        const auto drained = bench.supervisor->drain(opa, asked);
        CHECK(bench.pid1.take().empty());
        CHECK(drained.problem == "it is started again and again");
        CHECK(drained.left == List{"a.service"});
    }
}

TEST_CASE("a unit that comes back at once has been stopped, however PID 1 tells of that",
          "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    std::map<std::string, int> asked;
    CHECK(bench.supervisor->drain(opa, asked).problem.empty());
    bench.supervisor->on_job("a.service", 18, "done");
    // it changes once more before rdmad has judged it
    bench.pid1.changed = {"a.service"};
    auto again = running(1500);
    again.active_exit = 1460;
    bench.tell("a.service", again);
    bench.pid1.changed.clear();
    bench.tell("a.service", again);
    CHECK_FALSE(bench.record("a.service").memory.eviction.has_value());
    bench.pid1.take();
    CHECK(bench.supervisor->drain(opa, asked).left == List{"a.service"});
    CHECK(bench.pid1.take() == List{"stop a.service"});
}

TEST_CASE("what a stop that was taken back came to says nothing of the next", "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.plug(opa);
    bench.finish_all();
    // somebody starts it
    auto unit = never_ran();
    unit.has_job = true;
    bench.tell("a.service", unit);
    std::map<std::string, int> asked;
    (void)bench.supervisor->drain(opa, asked);
    // that is over, and nothing is in the way of a start
    bench.tell("a.service", never_ran());
    bench.pid1.answers_stops = false;
    asked.clear();
    (void)bench.supervisor->drain(opa, asked);
    auto orders = bench.pid1.take();
    std::erase_if(orders, [](const auto& order) { return order.starts_with("anchor "); });
    CHECK(orders == List{"stop a.service", "start a.service", "stop a.service"});
    bench.supervisor->on_job("a.service", 18, "canceled");
    CHECK(bench.supervisor->drain(opa, asked).problem.empty());
    CHECK(bench.record("a.service").memory.eviction.has_value());
}

TEST_CASE("what an earlier stop came to says nothing of the next", "[supervisor]")
{
    Bench bench;
    bench.run_two_with_opa();
    std::map<std::string, int> asked;
    bench.pid1.stop_job = fail(EPERM, "it may not");
    CHECK(bench.supervisor->drain(opa, asked).problem.empty());
    CHECK(bench.supervisor->drain(opa, asked).problem == "it may not");
    // both may now
    bench.pid1.stop_job = 18U;
    bench.pid1.take();
    asked.clear();
    CHECK(bench.supervisor->drain(opa, asked).problem.empty());
    CHECK(bench.supervisor->drain(opa, asked).problem.empty());
    CHECK(bench.pid1.take() == List{"stop a.service", "stop b.service"});
}

TEST_CASE("a record that could not be written is written with the next look, or without one",
          "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    std::filesystem::rename(bench.run.path("units"), bench.run.path("away"));
    bench.run.file("units", "in the way");
    bench.tell("a.service", down(1500));
    CHECK(bench.supervisor->has_unwritten());
    std::filesystem::remove(bench.run.path("units"));
    SECTION("with the next look")
    {
        bench.tell("a.service", down(1500));
    }
    SECTION("without one")
    {
        bench.supervisor->write_again();
    }
    CHECK_FALSE(bench.supervisor->has_unwritten());
    CHECK(bench.record("a.service").memory.stop->cause == Stop::Cause::other);
}

TEST_CASE("a note of a removal is kept while a record cannot be written", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    // it may be deleted, and not be replaced, as where /run is full
    bench.run.directory("units/.new");
    bench.unplug(opa, 1000);
    bench.tell("a.service", down(1001));
    bench.kernel.return_as(opa, 7);
    bench.plug(7);
    bench.finish_all();
    bench.supervisor->on_job("a.service", 17, "done");
    constexpr uint64_t much_later = 20'000'000;
    bench.tell("a.service", running(much_later));
    CHECK(std::filesystem::is_symlink(bench.run.path(Bench::note_of(opa))));
    // somebody stops it
    auto stopped = running(much_later);
    stopped.active_state = "inactive";
    stopped.active_exit = stopped.state_change = 2 * much_later;
    bench.tell("a.service", stopped);
    bench.pid1.take();
    SECTION("until it is written")
    {
        std::filesystem::remove(bench.run.path("units/.new"));
        bench.tell("a.service", stopped);
        REQUIRE_FALSE(bench.supervisor->has_unwritten());
        bench.supervisor->settle();
        CHECK_FALSE(std::filesystem::is_symlink(bench.run.path(Bench::note_of(opa))));
    }
    SECTION("for the next rdmad")
    {
        bench.restart({Bench::event("", 7)});
        bench.tell("a.service", stopped);
        bench.finish_all();
        bench.tell("a.service", stopped);
        const auto asked = bench.pid1.take();
        CHECK(std::count(asked.begin(), asked.end(), "start a.service") == 0);
        CHECK(bench.reason("a.service").starts_with("is left alone"));
    }
}

TEST_CASE("of a unit that is unbound there is no record that could not be written", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    const bool is_full = GENERATE(true, false);
    if (is_full)
        bench.run.directory("units/.new");
    bench.run.remove("etc");
    bench.reload();
    CHECK(std::filesystem::exists(bench.run.path("units/a.service")) == !is_full);
}

TEST_CASE("an anchor that PID 1 does not take away is asked for again", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    bench.pid1.existing = {{opa_anchor, AnchorState::up}};
    bench.pid1.drop_outcome = fail(ENOBUFS, "not now");
    bench.run.remove("etc");
    bench.reload();
    CHECK(bench.pid1.take() == List{"drop "s + opa_anchor, "unwatch a.service"});
    REQUIRE(bench.supervisor->has_failed());
    bench.pid1.drop_outcome = {};
    bench.supervisor->retry();
    bench.supervisor->settle();
    CHECK(bench.pid1.take() == List{"drop "s + opa_anchor});
    CHECK_FALSE(bench.supervisor->has_failed());
}

TEST_CASE("what PID 1 refuses again and again is asked for ever more seldom", "[supervisor]")
{
    Bench bench;
    bench.bind(opa_match, "Unit=a.service");
    bench.plug(opa);
    std::vector<int> when;
    for (int second = 0; second < 70; second++) {
        if (!bench.pid1.pending.empty() && bench.pid1.pending.contains(opa_anchor)) {
            bench.finish(opa_anchor, fail(EPERM, "no"));
            when.push_back(second);
        }
        bench.supervisor->retry();
        bench.supervisor->settle();
    }
    CHECK(when == std::vector<int>{0, 1, 3, 7, 15, 31, 63});
    // it may now
    REQUIRE(bench.supervisor->has_failed());
    for (int second = 0; !bench.pid1.pending.contains(opa_anchor); second++) {
        REQUIRE(second < 64);
        bench.supervisor->retry();
        bench.supervisor->settle();
    }
    bench.finish(opa_anchor);
    CHECK_FALSE(bench.supervisor->has_failed());
}

TEST_CASE("without PID 1 nothing is refused, and stopped later", "[supervisor]")
{
    Bench bench;
    bench.run_with_opa();
    std::map<std::string, int> asked;
    bench.pid1.is_there = false;
    CHECK(bench.supervisor->drain(opa, asked).left == List{"a.service"});
    CHECK(bench.pid1.take().empty());
    bench.pid1.is_there = true;
    CHECK(bench.supervisor->drain(opa, asked).left == List{"a.service"});
    CHECK(bench.pid1.take() == List{"stop a.service"});
}

TEST_CASE("a unit that was not asked to stop is not drained, whatever port it has left",
          "[supervisor]")
{
    Bench bench;
    bench.bind("Device=mixed opa", "Unit=a.service\nRequire=any");
    bench.plug(0);
    bench.plug(opa);
    bench.finish_all();
    bench.pid1.take();
    std::map<std::string, int> asked;
    // PID 1 has not told how it is
    CHECK(bench.supervisor->drain(opa, asked).left == List{"a.service"});
    CHECK(bench.pid1.take().empty());
    bench.tell("a.service", running());
    CHECK(bench.supervisor->drain(opa, asked).left == List{"a.service"});
    CHECK(bench.pid1.take() == List{"stop a.service"});
}

TEST_CASE("a unit with another port is drained when it runs with that", "[supervisor]")
{
    Bench bench;
    bench.run_with_both("Device=mixed opa", "Unit=a.service\nRequire=any");
    std::map<std::string, int> asked;
    CHECK(bench.supervisor->drain(opa, asked).left == List{"a.service"});
    // a restart by PID 1 before it comes to the stop is none that has the other port
    bench.tell("a.service", running(600));
    CHECK(bench.supervisor->drain(opa, asked).left == List{"a.service"});
    bench.supervisor->on_job("a.service", 18, "done");
    bench.tell("a.service", running(700));
    CHECK(bench.supervisor->drain(opa, asked).left.empty());
}

// -- memory ---------------------------------------------------------------------------------------

namespace {

/// A unit stops with its port, and the port returns.
class ReturnTrial final : public Trial {
public:
    ReturnTrial()
    {
        bench_.run_with_opa();
        bench_.pid1.take();
    }
    void run() override
    {
        bench_.unplug(opa, 1000);
        bench_.tell("a.service", down(2000));
        bench_.kernel.return_as(opa, 7);
        bench_.plug(7);
    }
    bool is_right() override
    {
        return bench_.pid1.take() == List{anchor, start};
    }
    /// Whatever rdmad had done, the adapter returns, and the next rdmad does the rest.
    bool is_harmless() override
    {
        auto asked = bench_.pid1.take();
        const bool is_started = std::count(asked.begin(), asked.end(), start) > 0;
        Bench next;
        std::filesystem::copy(bench_.run.path(), next.run.path(),
                              std::filesystem::copy_options::recursive |
                                  std::filesystem::copy_options::copy_symlinks);
        if (!next.run.exists(Bench::note_of(opa)))
            next.note_removal(opa, 1000);
        if (std::count(asked.begin(), asked.end(), anchor) > 0)
            next.pid1.existing = {{"rdmad-a.service:7.500:uverbs7.slice", AnchorState::up}};
        next.kernel.return_as(opa, 7);
        next.restart({Bench::event("", 7)});
        next.tell("a.service", is_started ? running(3000) : down(2000));
        for (auto& more : next.pid1.take())
            asked.push_back(std::move(more));
        return std::count(asked.begin(), asked.end(), start) == 1 &&
               std::count(asked.begin(), asked.end(), anchor) == 1 &&
               next.supervisor->units().at("a.service").present.size() == 1;
    }
    void clean() override
    {
        std::error_code ignored;
        std::filesystem::remove_all(bench_.sys.path(), ignored);
        std::filesystem::remove_all(bench_.run.path(), ignored);
    }

private:
    static constexpr char anchor[] = "anchor rdmad-a.service:7.500:uverbs7.slice";
    static constexpr char start[] = "start a.service";
    Bench bench_;
};

} // namespace

TEST_CASE("without memory for any step of a return rdmad ends, and does nothing that is wrong",
          "[supervisor][memory]")
{
    check_each_allocation([] { return std::make_unique<ReturnTrial>(); }, 21);
}
