// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/known_devices.hpp"
#include "ctl/wait_condition.hpp"
#include "tests/catch.hpp"

using namespace rdmad::ctl;

namespace {

Port port(uint32_t number, std::optional<std::string> guid, const char* state, bool is_ready)
{
    return {.number = number,
            .guid = std::move(guid),
            .link_type = "infiniband",
            .state = state,
            .is_ready = is_ready};
}

const Device half_up = {.name = "mlx5_0",
                        .index = 1,
                        .node_guid = "0002c90300000a00",
                        .ports = {port(1, "0002c90300000a01", "active", true),
                                  port(2, "0002c90300000a02", "down", false)}};
const Device without_address = {.name = "rocep1s0",
                                .index = 2,
                                .node_guid = "0002c90300000b00",
                                .ports = {port(1, std::nullopt, "active", false)}};

/// Empty: it is so.
std::string seen(const std::string& word, WaitGoal goal, const std::vector<Device>& devices)
{
    const auto target = parse_target(word);
    REQUIRE(target.has_value());
    const auto look = look_at(*target, goal, devices);
    return look.holds ? "" : look.seen;
}

Event event(const char* name, uint64_t sequence)
{
    return {.sequence = sequence, .name = name};
}

} // namespace

TEST_CASE("a target is a device or a GUID, and a port", "[wait_condition]")
{
    CHECK(parse_target("mlx5_0")->name == "mlx5_0");
    CHECK_FALSE(parse_target("mlx5_0")->port.has_value());
    CHECK(parse_target("mlx5_0/2")->port == 2U);
    CHECK(parse_target("0x0002:C903:0000:0a01/1")->name == "0002c90300000a01");
    for (const auto* wrong : {"", "/", "/1", "a/", "a/0", "a/x", "a/-1", "a/99999999999"})
        CHECK_FALSE(parse_target(wrong).has_value());
}

TEST_CASE("what is not there is told, with what may have been meant", "[wait_condition]")
{
    const std::vector<Device> devices = {half_up, without_address};
    const auto note = [&](const char* word) {
        return note_of_missing(*parse_target(word), devices);
    };
    for (const auto* there : {"mlx5_0", "mlx5_0/2", "0002c90300000a01", "0x2c90300000a00"})
        CHECK(note(there).empty());
    CHECK(note("mlx5_9") == "'mlx5_9' is not there now; there is mlx5_0");
    CHECK(note("rocep") == "'rocep' is not there now; there is rocep1s0, rocep1s0/1");
    CHECK(note("mlx5_0/3") == "'mlx5_0/3' is not there now; there is mlx5_0, mlx5_0/1, mlx5_0/2");
    CHECK(note("0x0002:c903:0000:0a03") ==
          "'0x0002:c903:0000:0a03' is not there now; there is 0002c90300000a00, 0002c90300000a01, "
          "0002c90300000a02, 0002c90300000b00");
    CHECK(note("siw0") == "'siw0' is not there now");
    CHECK(note_of_missing(*parse_target("mlx5_0"), {}) == "'mlx5_0' is not there now");
}

TEST_CASE("a port is active if traffic can flow", "[wait_condition]")
{
    const std::vector<Device> devices = {half_up, without_address};
    CHECK(seen("mlx5_0/1", WaitGoal::active, devices).empty());
    CHECK(seen("0002c90300000a01", WaitGoal::active, devices).empty());
    CHECK(seen("0002c90300000a00/1", WaitGoal::active, devices).empty());
    CHECK(seen("mlx5_0/2", WaitGoal::active, devices) == "port 0002c90300000a02 of mlx5_0 is down");
    CHECK(seen("0002c90300000a02", WaitGoal::active, devices) ==
          "port 0002c90300000a02 of mlx5_0 is down");
    CHECK(seen("rocep1s0", WaitGoal::active, devices) ==
          "port 1 of rocep1s0 is active, but has no address yet");
}

TEST_CASE("a device is active if all of its ports are", "[wait_condition]")
{
    CHECK(seen("mlx5_0", WaitGoal::active, {half_up}) == "port 0002c90300000a02 of mlx5_0 is down");
    auto up = half_up;
    up.ports[1].is_ready = true;
    CHECK(seen("mlx5_0", WaitGoal::active, {up}).empty());
    CHECK(seen("0002c90300000a00", WaitGoal::active, {up}).empty());
    CHECK(seen("bare", WaitGoal::active, {{.name = "bare"}}) == "bare has no ports");
}

TEST_CASE("a port is ready if it is active and its device has settled", "[wait_condition]")
{
    auto device = half_up;
    CHECK(seen("mlx5_0/1", WaitGoal::ready, {device}) == "mlx5_0 has yet to settle");
    device.life = {.state = "settling"};
    CHECK(seen("mlx5_0/1", WaitGoal::ready, {device}) == "mlx5_0 has yet to settle");
    device.life->state = "ready";
    CHECK(seen("mlx5_0/1", WaitGoal::ready, {device}).empty());
    CHECK(seen("mlx5_0", WaitGoal::ready, {device}) == "port 0002c90300000a02 of mlx5_0 is down");
    device.life->is_degraded = true;
    CHECK(seen("mlx5_0/1", WaitGoal::ready, {device}) == "mlx5_0 has yet to settle");
    device.life = {.state = "removing"};
    CHECK(seen("mlx5_0/1", WaitGoal::ready, {device}) == "mlx5_0 is being removed");
    device.life = {.state = "draining"};
    CHECK(seen("mlx5_0/1", WaitGoal::ready, {device}) ==
          "mlx5_0 is prepared for removal; rdmactl resume mlx5_0 undoes that");
    device.life = {.state = "ready", .returns = 3, .held_until = 1};
    CHECK(seen("mlx5_0/1", WaitGoal::ready, {device}) ==
          "mlx5_0 is held, as it came back 3 times; rdmactl release mlx5_0 ends that");
    CHECK(seen("gone", WaitGoal::ready, {device}) == "'gone' is not there");
}

TEST_CASE("of ports with one GUID any will do", "[wait_condition]")
{
    auto idle = half_up;
    idle.ports[0].is_ready = false;
    auto usable = half_up;
    usable.name = "mlx5_1";
    usable.life = {.state = "ready"};
    for (const auto& devices : {std::vector{idle, usable}, std::vector{usable, idle}})
        for (const auto goal : {WaitGoal::active, WaitGoal::ready})
            CHECK(seen("0002c90300000a01", goal, devices).empty());
    CHECK_FALSE(seen("0002c90300000a01", WaitGoal::active, {idle, idle}).empty());
    // also where one of them is that of its device
    auto twin = usable;
    twin.node_guid = *twin.ports[0].guid;
    twin.ports.pop_back();
    for (const auto& devices : {std::vector{idle, twin}, std::vector{twin, idle}})
        CHECK(seen("0002c90300000a01", WaitGoal::active, devices).empty());
    // but of devices with one node GUID all
    CHECK_FALSE(seen("0002c90300000a00/1", WaitGoal::active, {usable, idle}).empty());
}

TEST_CASE("what happens in the life of a device is known", "[wait_condition]")
{
    KnownDevices known;
    auto snapshot = event("snapshot", 1);
    snapshot.devices = {half_up, without_address};
    (void)known.apply(snapshot);
    auto life = event("life", 2);
    life.life = {.index = 1, .state = "ready"};
    (void)known.apply(life);
    CHECK(known.find(1)->life->state == "ready");
    CHECK_FALSE(known.find(2)->life.has_value());
}

TEST_CASE("present and absent are about being there", "[wait_condition]")
{
    CHECK(seen("mlx5_0", WaitGoal::present, {half_up}).empty());
    CHECK(seen("mlx5_0/2", WaitGoal::present, {half_up}).empty());
    CHECK(seen("mlx5_0/3", WaitGoal::present, {half_up}) == "'mlx5_0/3' is not there");
    CHECK(seen("0002c90300000a01/2", WaitGoal::present, {half_up}) ==
          "'0002c90300000a01/2' is not there");
    CHECK(seen("siw0", WaitGoal::present, {half_up}) == "'siw0' is not there");
    CHECK(seen("siw0", WaitGoal::active, {}) == "'siw0' is not there");
    CHECK(seen("siw0", WaitGoal::absent, {half_up}).empty());
    CHECK(seen("mlx5_0/3", WaitGoal::absent, {half_up}).empty());
    CHECK(seen("mlx5_0", WaitGoal::absent, {half_up}) == "'mlx5_0' is there");
    CHECK(seen("bare", WaitGoal::present, {{.name = "bare"}}).empty());
}

TEST_CASE("events add up to the devices that there are", "[known_devices]")
{
    KnownDevices known;
    auto snapshot = event("snapshot", 5);
    snapshot.devices = std::vector<Device>{half_up};
    CHECK(known.apply(snapshot) == 0);
    auto add = event("add", 6);
    add.device = without_address;
    CHECK(known.apply(add) == 0);
    CHECK(known.all().size() == 2);
    auto rename = event("rename", 7);
    rename.device = half_up;
    rename.device->name = "ibp1s0";
    CHECK(known.apply(rename) == 0);
    REQUIRE(known.find(1) != nullptr);
    CHECK(known.find(1)->name == "ibp1s0");
    auto remove = event("remove", 8);
    remove.device = half_up;
    CHECK(known.apply(remove) == 0);
    CHECK(known.find(1) == nullptr);
    CHECK(known.all().size() == 1);
    auto lost = event("lost", 20);
    lost.devices = std::vector<Device>{};
    CHECK(known.apply(lost) == 0);
    CHECK(known.all().empty());
}

TEST_CASE("events that did not arrive are counted", "[known_devices]")
{
    KnownDevices known;
    CHECK(known.apply(event("binding", 5)) == 0);
    CHECK(known.apply(event("binding", 6)) == 0);
    CHECK(known.apply(event("binding", 9)) == 2);
    // a number that is lower is that of another rdmad
    CHECK(known.apply(event("binding", 1)) == 0);
}

TEST_CASE("an event of a port tells what changed", "[known_devices]")
{
    auto change = event("port", 2);
    change.device = half_up;
    change.port = 2;
    CHECK(event_text(change, nullptr) == "port mlx5_0/2, infiniband, down");
    auto before = half_up;
    before.ports[1].state = "active";
    before.ports[1].is_ready = true;
    before.ports[1].netdev = "ib0";
    before.ports[1].guid = std::nullopt;
    CHECK(event_text(change, &before) ==
          "port mlx5_0/2, state active -> down, GUID none -> 0002c90300000a02, "
          "network device ib0 -> none");
    CHECK(event_text(change, &half_up) == "port mlx5_0/2, down");
    change.port = 7;
    CHECK(event_text(change, &half_up) == "port mlx5_0/7");
    change.device.reset();
    CHECK(event_text(change, nullptr) == "port");
}

TEST_CASE("an event of a device tells which, and what became of it", "[known_devices]")
{
    auto change = event("add", 2);
    CHECK(event_text(change, nullptr) == "add");
    change.device = without_address;
    change.device->protocol = "roce";
    CHECK(event_text(change, nullptr) ==
          "add rocep1s0, index 2, roce, node GUID 0002c90300000b00, 1 port");
    change.name = "rename";
    change.old_name = "mlx5_1";
    CHECK(event_text(change, nullptr) == "rename rocep1s0, was mlx5_1");
    auto snapshot = event("snapshot", 1);
    snapshot.devices = std::vector<Device>{};
    CHECK(event_text(snapshot, nullptr) == "snapshot 0 devices");
    snapshot.devices = {half_up, without_address};
    CHECK(event_text(snapshot, nullptr) == "snapshot 2 devices: mlx5_0 rocep1s0");
}

TEST_CASE("an event of a unit or a binding tells what became of it", "[known_devices]")
{
    auto unit = event("unit", 2);
    unit.unit = "a.service";
    CHECK(event_text(unit, nullptr) == "unit a.service");
    unit.unit_state = "inactive";
    unit.reason = "waits for port b";
    CHECK(event_text(unit, nullptr) == "unit a.service, inactive, waits for port b");
    unit.reason = "";
    CHECK(event_text(unit, nullptr) == "unit a.service, inactive");
    auto binding = event("binding", 3);
    binding.binding = "50-a.binding";
    CHECK(event_text(binding, nullptr) == "binding 50-a.binding");
    binding.change = "removed";
    CHECK(event_text(binding, nullptr) == "binding 50-a.binding, removed");
}

TEST_CASE("an event in the life of a device tells what happened", "[known_devices]")
{
    auto change = event("life", 2);
    change.life = Life{.device = "mlx5_0", .index = 1, .state = "grace", .cause = "hot unplug"};
    CHECK(event_text(change, nullptr) == "life mlx5_0, grace");
    for (const auto* of_cause : {"went", "explained"}) {
        change.change = of_cause;
        CHECK(event_text(change, nullptr) ==
              "life mlx5_0, " + std::string(of_cause) + ": hot unplug");
    }
    change.change = "released";
    CHECK(event_text(change, nullptr) == "life mlx5_0, released");
    change.change = "holders";
    CHECK(event_text(change, nullptr) == "life mlx5_0, holders");
    change.life->holders = std::vector<Holder>();
    CHECK(event_text(change, nullptr) == "life mlx5_0, in use by no process");
    change.life->holders = {{.pid = 7, .command = "a"}};
    CHECK(event_text(change, nullptr) == "life mlx5_0, in use by \"a\" (PID 7)");

    KnownDevices known;
    auto snapshot = event("snapshot", 1);
    snapshot.devices = {half_up, without_address};
    known.apply(snapshot);
    known.apply(change);
    REQUIRE(known.find(1)->life.has_value());
    CHECK(known.find(1)->life->state == "grace");
    CHECK_FALSE(known.find(2)->life.has_value());
}
