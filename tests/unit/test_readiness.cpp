// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/readiness/readiness.hpp"
#include "tests/support/captured_sysfs.hpp"
#include "tests/support/fake_pid1.hpp"
#include "tests/support/must.hpp"
#include "tests/support/replay_transport.hpp"

#include <cerrno>

using namespace rdmad;
using namespace rdmad::test;
using lifecycle::second;

namespace {

using List = std::vector<std::string>;

constexpr char opa[] = "0011750101000001";
constexpr char mixed[] = "0002c90300000a01";

const NodeId node = {1, "uverbs0"};

struct Bench {
    FixtureTree run;
    FakePid1 pid1;
    std::optional<Readiness> readiness;
    uint64_t now = 1000 * second;

    Bench()
    {
        begin();
    }
    void begin()
    {
        readiness.emplace(run.path("ready"), [this](clockid_t) { return now; });
        readiness->use(&pid1);
        readiness->on_connected();
    }
    List settle(const ReadyPorts& ready, const std::set<uint32_t>& unknown = {})
    {
        readiness->settle(ready, unknown);
        return pid1.take();
    }
};

} // namespace

TEST_CASE("the target of a port is reached and left with it", "[readiness]")
{
    Bench bench;
    CHECK(bench.settle({}).empty());
    CHECK(bench.settle({{opa, node}}) == List{"start rdma-port-ready@0011750101000001.target"});
    CHECK(bench.run.list("ready") == List{opa});
    CHECK(bench.settle({{opa, node}}).empty());
    CHECK(bench.settle({{mixed, node}}) == List{"stop rdma-port-ready@0011750101000001.target",
                                                "start rdma-port-ready@0002c90300000a01.target"});
    CHECK(bench.run.list("ready") == List{mixed});
}

TEST_CASE("a target is reached once for each appearance, whoever tells", "[readiness]")
{
    Bench bench;
    CHECK(bench.settle({{opa, node}}).size() == 1);
    // an administrator may have stopped what wants it: to start the target would start that
    bench.readiness->on_connected();
    CHECK(bench.settle({{opa, node}}).empty());
    bench.begin();
    CHECK(bench.settle({{opa, node}}).empty());
    // the node went and came back, or another device has the GUID now
    CHECK(bench.settle({{opa, NodeId{1, "uverbs1"}}}) ==
          List{"start rdma-port-ready@0011750101000001.target"});
    bench.begin();
    CHECK(bench.settle({{opa, NodeId{2, "uverbs1"}}}) ==
          List{"start rdma-port-ready@0011750101000001.target"});
    CHECK(bench.settle({{opa, NodeId{2, "uverbs10"}}}).size() == 1);
    // where udev had not told when the node was born
    bench.begin();
    CHECK(bench.settle({{opa, NodeId{2, "uverbs10", 17}}}).empty());
    // and what udev does not know is no news
    CHECK(bench.settle({{opa, NodeId{2, "uverbs10"}}}).empty());
    // made anew while rdmad was away
    bench.begin();
    CHECK(bench.settle({{opa, NodeId{2, "uverbs10", 18}}}).size() == 1);
}

TEST_CASE("the records of an earlier rdmad are read, and others are not", "[readiness]")
{
    Bench bench;
    const auto settle_after = [&](const char* record) {
        bench.run.file(std::string("ready/") + opa, record);
        bench.begin();
        return bench.settle({{opa, NodeId{1, "uverbs0", 17}}}).size();
    };
    CHECK(settle_after("1 uverbs0 17") == 0);
    CHECK(settle_after("1 uverbs0 0") == 0);
    CHECK(settle_after("1 /sys/devices/virtual/infiniband_verbs/uverbs0") == 0);
    CHECK(settle_after("1 /sys/devices/virtual/infiniband_verbs/uverbs0 17") == 0);
    for (const auto* record :
         {"1 uverbs0 16", "2 uverbs0 17", "1 uverbs1 17", "?1 uverbs0 17", "", "1", "x uverbs0 17",
          "1 uverbs0 x", "1 /sys/devices/virtual/infiniband_verbs/uverbs0 16"}) {
        INFO(record);
        CHECK(settle_after(record) == 1);
        CHECK(bench.run.read(std::string("ready/") + opa) == "1 uverbs0 17");
    }
}

TEST_CASE("what systemd had not taken when rdmad was killed is asked for again", "[readiness]")
{
    Bench bench;
    const List start = {"start rdma-port-ready@0011750101000001.target"};
    const List stop = {"stop rdma-port-ready@0011750101000001.target"};
    bench.pid1.answers_starts = bench.pid1.answers_stops = false;
    CHECK(bench.settle({{opa, node}}) == start);
    bench.begin();
    // the kernel cannot describe it yet
    CHECK(bench.settle({}, {1}).empty());
    CHECK(bench.settle({{opa, node}}) == start);
    // rdmad-wait-ready@.service looks for the file
    CHECK(bench.run.list("ready") == List{opa});
    bench.pid1.answer_starts(17U);
    CHECK(bench.settle({}) == stop);
    bench.begin();
    CHECK(bench.settle({}) == stop);
    bench.begin();
    SECTION("it is left")
    {
        bench.pid1.answers_stops = true;
        CHECK(bench.settle({}) == stop);
        bench.begin();
        CHECK(bench.settle({}).empty());
    }
    SECTION("it is ready again")
    {
        bench.pid1.answers_starts = true;
        CHECK(bench.settle({{opa, node}}) == start);
        CHECK(bench.run.list("ready") == List{opa});
        bench.begin();
        CHECK(bench.settle({{opa, node}}).empty());
    }
}

TEST_CASE("a target that was not reached, or not for long, is asked for again", "[readiness]")
{
    Bench bench;
    const std::string target = "rdma-port-ready@0011750101000001.target";
    const List start = {"start " + target};
    CHECK(bench.settle({{opa, node}}) == start);
    CHECK_FALSE(bench.readiness->has_due());
    SECTION("its job came to nothing")
    {
        const auto* result = GENERATE("canceled", "dependency", "timeout", "failed");
        for (int i = 0; i < 3; i++) {
            bench.readiness->on_job(target, 17, result);
            CHECK(bench.readiness->has_due());
            CHECK(bench.settle({{opa, node}}) == start);
            CHECK_FALSE(bench.readiness->has_due());
        }
        // not for ever
        bench.readiness->on_job(target, 17, result);
        CHECK(bench.settle({{opa, node}}).empty());
        // but in the next appearance
        CHECK(bench.settle({{opa, NodeId{1, "uverbs1"}}}) == start);
        bench.readiness->on_job(target, 17, result);
        CHECK(bench.settle({{opa, NodeId{1, "uverbs1"}}}) == start);
    }
    SECTION("another job follows: systemd hears late that an earlier port went")
    {
        bench.readiness->on_job(target, 17, "done");
        CHECK_FALSE(bench.readiness->has_due());
        bench.now += 29 * second;
        bench.readiness->on_job(target, 18, "done");
        CHECK(bench.settle({{opa, node}}) == start);
    }
    SECTION("but not what an administrator does later")
    {
        bench.now += 31 * second;
        bench.readiness->on_job(target, 18, "done");
        CHECK(bench.settle({{opa, node}}).empty());
    }
    SECTION("nor if it is to be left, or another one")
    {
        bench.readiness->on_job("rdma-port-ready@0002c90300000a01.target", 17, "canceled");
        CHECK(bench.settle({{opa, node}}).empty());
        bench.settle({});
        bench.readiness->on_job(target, 18, "canceled");
        CHECK(bench.settle({}).empty());
    }
    SECTION("nor before systemd has taken the request")
    {
        bench.pid1.answers_starts = false;
        CHECK(bench.settle({{opa, NodeId{1, "uverbs1"}}}) == start);
        bench.readiness->on_job(target, 18, "canceled");
        CHECK(bench.settle({{opa, NodeId{1, "uverbs1"}}}).empty());
    }
    SECTION("also after a restart of rdmad, when systemd is likely to be behind")
    {
        bench.begin();
        CHECK(bench.settle({{opa, node}}).empty());
        bench.readiness->on_job(target, 18, "done");
        CHECK(bench.settle({{opa, node}}) == start);
    }
    SECTION("also if the request got lost")
    {
        bench.pid1.job = fail(ETIMEDOUT, "PID 1");
        const ReadyPorts next = {{opa, NodeId{1, "uverbs1"}}};
        for (int i = 0; i < 4; i++) {
            CHECK(bench.settle(next) == start);
            CHECK(bench.readiness->has_due() == (i < 3));
        }
        CHECK(bench.settle(next).empty());
        // but not if it was refused
        bench.pid1.job = fail(EPERM, "PID 1");
        CHECK(bench.settle({{opa, node}}) == start);
        CHECK_FALSE(bench.readiness->has_due());
    }
    SECTION("once systemd is there")
    {
        bench.readiness->on_job(target, 17, "canceled");
        bench.pid1.is_there = false;
        CHECK_FALSE(bench.readiness->has_due());
        CHECK(bench.settle({{opa, node}}).empty());
        bench.pid1.is_there = true;
        CHECK(bench.settle({{opa, node}}) == start);
    }
}

TEST_CASE("what is not ready any more when rdmad is back is left", "[readiness]")
{
    Bench bench;
    (void)bench.settle({{opa, node}});
    bench.begin();
    CHECK(bench.settle({}) == List{"stop rdma-port-ready@0011750101000001.target"});
    CHECK(bench.run.list("ready").empty());
}

TEST_CASE("a device that the kernel cannot describe when rdmad is back keeps its targets",
          "[readiness]")
{
    Bench bench;
    (void)bench.settle({{opa, node}, {mixed, NodeId{12, "uverbs2"}}});
    bench.begin();
    CHECK(bench.settle({}, {1, 2}) == List{"stop rdma-port-ready@0002c90300000a01.target"});
    CHECK(bench.settle({{opa, node}}).empty());
    CHECK(bench.settle({}) == List{"stop rdma-port-ready@0011750101000001.target"});
}

TEST_CASE("what is no GUID is none of a target", "[readiness]")
{
    Bench bench;
    bench.run.file("ready/what", "");
    bench.run.file("ready/1", "");
    bench.run.file("ready/.leave-1", "");
    bench.run.file("ready/.new", "");
    CHECK(bench.settle({}).empty());
    CHECK(bench.run.list("ready").empty());
}

TEST_CASE("what systemd refused, or was not there for, is asked for when it is back", "[readiness]")
{
    Bench bench;
    bench.pid1.is_there = false;
    CHECK(bench.settle({{opa, node}}).empty());
    bench.pid1.is_there = true;
    bench.pid1.job = fail(EPERM, "no");
    CHECK(bench.settle({{opa, node}}).size() == 1);
    CHECK(bench.settle({{opa, node}}).empty());
    bench.pid1.job = 17U;
    bench.readiness->on_connected();
    CHECK(bench.settle({{opa, node}}).size() == 1);
    bench.readiness->on_connected();
    CHECK(bench.settle({{opa, node}}).empty());
}

TEST_CASE("what systemd did not answer before the connection changed is asked for again",
          "[readiness]")
{
    Bench bench;
    bench.pid1.answers_starts = bench.pid1.answers_stops = false;
    const List start = {"start rdma-port-ready@0011750101000001.target"};
    const List stop = {"stop rdma-port-ready@0011750101000001.target"};
    CHECK(bench.settle({{opa, node}}) == start);
    bench.readiness->on_connected();
    CHECK(bench.settle({{opa, node}}) == start);
    // nobody knows whether that got there
    bench.readiness->on_connected();
    CHECK(bench.settle({}) == stop);
    bench.readiness->on_connected();
    CHECK(bench.settle({}) == stop);
    bench.pid1.answers_stops = true;
    bench.readiness->on_connected();
    CHECK(bench.settle({}) == stop);
    bench.readiness->on_connected();
    CHECK(bench.settle({}).empty());
    // the port was back before the stop was answered
    bench.pid1.answers_starts = true;
    bench.pid1.answers_stops = false;
    CHECK(bench.settle({{opa, node}}) == start);
    CHECK(bench.settle({}) == stop);
    bench.readiness->on_connected();
    CHECK(bench.settle({{opa, node}}) == start);
}

TEST_CASE("a port is ready if it can be used and its device has settled", "[readiness]")
{
    const FixtureTree sys;
    const FixtureTree run;
    add_captured_devices(sys);
    CapturedKernel kernel{"7.2"};
    nldev::Client client{kernel};
    const auto root = sys.root();
    lifecycle::Time now = 1000 * second;
    lifecycle::Lifecycle lives(root, lifecycle::Histories(run.path("devices")), {},
                               [&] { return now; },
                               {.on_change = [](const auto&, const auto&) {},
                                .on_plan = [] {},
                                .on_trouble = [](const auto&) {}});
    Inventory inventory(client, root, [&](const DeviceChange& change) { lives.on_device(change); });
    must(inventory.resync({{.action = "add",
                            .subsystem = "infiniband",
                            .node = {"opa", "/sys/devices/virtual/infiniband/opa"},
                            .index = 1}}));
    CHECK(ready_ports(inventory, lives).empty());
    now += 2 * second;
    lives.pass_time();
    // the target hangs on the uverbs node
    CHECK(ready_ports(inventory, lives).empty());
    inventory.handle({.action = "add",
                      .subsystem = "infiniband_verbs",
                      .node = {"uverbs1", "/sys/devices/virtual/infiniband_verbs/uverbs1"},
                      .index = 1});
    CHECK(ready_ports(inventory, lives) == ReadyPorts{{opa, NodeId{1, "uverbs1"}}});
    inventory.handle({.action = "add",
                      .subsystem = "infiniband_verbs",
                      .node = {"uverbs1", "/sys/devices/virtual/infiniband_verbs/uverbs1", 17},
                      .index = 1});
    CHECK(ready_ports(inventory, lives) == ReadyPorts{{opa, NodeId{1, "uverbs1", 17}}});
}
