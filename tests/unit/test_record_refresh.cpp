// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/refresh/record_refresh.hpp"
#include "tests/support/captured_sysfs.hpp"
#include "tests/support/fake_pid1.hpp"
#include "tests/support/must.hpp"
#include "tests/support/replay_transport.hpp"

#include <algorithm>
#include <cerrno>

using namespace rdmad;
using namespace rdmad::test;

namespace {

using List = std::vector<std::string>;
using Time = RecordRefresh::Time;

constexpr Time second = 1'000'000;
constexpr uint32_t mixed = 0;

/// Device 0 of a capture, whose port 2 is RoCE, and udev's records of its nodes.
struct Bench {
    FixtureTree sys;
    CapturedKernel kernel{"7.2"};
    nldev::Client client{kernel};
    sysfs::Directory root = sys.root();
    Inventory inventory{client, root, [](const auto&) {}};
    FakePid1 pid1;
    Time now = 100 * second;
    RecordRefresh refresh{inventory, [this] { return now; }};

    Bench()
    {
        add_captured_devices(sys);
        refresh.use(&pid1);
        record("uverbs0", "0002c90300000a01 0002c9fffe000a02");
        record("umad1", "0002c9fffe000a02");
        REQUIRE(settle().empty());
    }
    /// Udev has processed an event of the node.
    void record(const std::string& node, const std::string& guids)
    {
        const bool is_uverbs = node.starts_with("uverbs");
        inventory.handle({.action = "change",
                          .subsystem = is_uverbs ? "infiniband_verbs" : "infiniband_mad",
                          .node = {node, "/sys/devices/" + node},
                          .index = mixed,
                          .port = is_uverbs ? std::nullopt : std::optional<uint32_t>(2),
                          .port_guids = guids,
                          .netdevs = is_uverbs ? "- dummy0" : "dummy0"});
    }
    /// As the kernel has it once the network device has another MAC address.
    void change_guid(const std::string& low_half)
    {
        sys.file("class/infiniband/mixed/ports/2/gids/0", "fe80:0000:0000:0000:" + low_half + "\n");
        must(inventory.refresh(mixed));
    }
    List settle()
    {
        refresh.settle();
        return pid1.take();
    }
    List wait(Time time)
    {
        now += time;
        return settle();
    }
};

constexpr char old_gid[] = "0002:c9ff:fe00:0a02";
constexpr char new_gid[] = "0002:c9ff:fe00:0b02";
const List asked = {"start rdmad-refresh@0.service"};

} // namespace

TEST_CASE("while udev and the kernel agree nothing is asked for", "[record refresh]")
{
    Bench bench;
    bench.sys.file("class/infiniband/mixed/ports/2/gids/1",
                   "0000:0000:0000:0000:0000:ffff:0a00:0001\n");
    must(bench.inventory.refresh(mixed));
    CHECK(bench.settle().empty());
    CHECK_FALSE(bench.refresh.next_deadline());
    CHECK(bench.refresh.due().empty());
    CHECK(bench.wait(1000 * second).empty());
}

TEST_CASE("a device with another GUID is refreshed once, when that has not changed for a moment",
          "[record refresh]")
{
    Bench bench;
    bench.change_guid(new_gid);
    CHECK(bench.settle().empty());
    CHECK(bench.refresh.next_deadline() == bench.now + second);
    CHECK(bench.refresh.due().empty());
    bench.now += second;
    CHECK(bench.refresh.due() == std::set{mixed});
    CHECK(bench.settle() == asked);
    CHECK(bench.settle().empty());
    // udev has an event after the other
    bench.record("uverbs0", "0002c90300000a01 0002c9fffe000b02");
    CHECK(bench.wait(2 * second).empty());
    bench.record("umad1", "0002c9fffe000b02");
    CHECK(bench.settle().empty());
    CHECK_FALSE(bench.refresh.next_deadline());
    // and the same again, later
    bench.change_guid(old_gid);
    CHECK(bench.settle().empty());
    CHECK(bench.wait(second) == asked);
}

TEST_CASE("a GUID that comes back at once, and a device that goes, need no event",
          "[record refresh]")
{
    Bench bench;
    bench.change_guid(new_gid);
    bench.settle();
    if (GENERATE(true, false)) {
        bench.change_guid(old_gid);
    } else {
        bench.kernel.remove(mixed);
        must(bench.inventory.refresh(mixed));
    }
    CHECK(bench.wait(second).empty());
    CHECK_FALSE(bench.refresh.next_deadline());
}

TEST_CASE("a burst of changes ends in one event, and one that goes on has one now and then",
          "[record refresh]")
{
    Bench bench;
    // of 5 s, of 50 s, and each by itself
    const auto [pause, times] =
        GENERATE(table<Time, size_t>({{second / 20, 1}, {second / 2, 5}, {2 * second, 100}}));
    List all;
    const auto add = [&](const List& more) { all.insert(all.end(), more.begin(), more.end()); };
    for (int i = 100; i < 200; i++) {
        bench.change_guid("0002:c9ff:fe00:1" + std::to_string(i));
        add(bench.settle());
        add(bench.wait(pause));
    }
    add(bench.wait(second));
    CHECK(all == List(times, asked[0]));
}

TEST_CASE("what no event brings up to date is tried a few times", "[record refresh]")
{
    Bench bench;
    if (GENERATE(true, false))
        bench.pid1.job = fail(ENOENT, "Unit rdmad-refresh@0.service not found.");
    bench.change_guid(new_gid);
    bench.settle();
    CHECK(bench.wait(second) == asked);
    for (const auto pause : {10 * second, 30 * second}) {
        CHECK(bench.wait(pause - 1).empty());
        CHECK(bench.wait(1) == asked);
    }
    CHECK(bench.refresh.next_deadline() == bench.now + 90 * second);
    CHECK(bench.wait(90 * second).empty());
    CHECK_FALSE(bench.refresh.next_deadline());
    // an event that leaves it as it is
    bench.record("umad1", "0002c9fffe000a02");
    CHECK(bench.wait(1000 * second).empty());
    bench.change_guid("0002:c9ff:fe00:0c02");
    bench.settle();
    CHECK(bench.wait(second) == asked);
}

TEST_CASE("what cannot be asked for now is when PID 1 is there again", "[record refresh]")
{
    Bench bench;
    bench.pid1.is_there = false;
    bench.change_guid(new_gid);
    CHECK(bench.settle().empty());
    CHECK_FALSE(bench.refresh.next_deadline());
    CHECK(bench.wait(1000 * second).empty());
    CHECK(bench.refresh.due().empty());
    bench.pid1.is_there = true;
    CHECK(bench.settle() == asked);
}

TEST_CASE("of very many devices some are refreshed each second", "[record refresh]")
{
    Bench bench;
    bench.change_guid(new_gid);
    for (uint32_t index = 100; index < 119; index++) {
        bench.kernel.copy(mixed, index);
        bench.inventory.handle({.action = "add",
                                .subsystem = "infiniband_verbs",
                                .node = {"uverbs" + std::to_string(index), std::to_string(index)},
                                .index = index,
                                .port_guids = "0002c90300000a01 0002c9fffe000a02"});
    }
    CHECK(bench.settle().empty());
    auto all = bench.wait(second);
    CHECK(all.size() == 16);
    CHECK(bench.settle().empty());
    for (const auto& one : bench.wait(second))
        all.push_back(one);
    std::sort(all.begin(), all.end());
    CHECK(all.size() == 20);
    CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}
