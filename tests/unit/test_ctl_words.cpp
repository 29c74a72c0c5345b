// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/words.hpp"
#include "tests/catch.hpp"

using namespace rdmad::ctl;
using Words = std::vector<std::string>;

TEST_CASE("times are told as people do", "[words]")
{
    constexpr int64_t second = 1'000'000;
    const auto told = [](int64_t seconds) { return ago(0, seconds * second); };
    CHECK(told(0) == "just now");
    CHECK(told(2) == "2 s ago");
    CHECK(told(119) == "119 s ago");
    CHECK(told(120) == "2 min ago");
    CHECK(told(7199) == "119 min ago");
    CHECK(told(7200) == "2 h ago");
    CHECK(told(2 * 86400) == "2 d ago");
    CHECK(ago(5 * second, 0) == "just now");
}

TEST_CASE("GUIDs are taken as ibstat and ibv_devinfo print them", "[words]")
{
    for (const auto* guid : {"0002c90300000a01", "0x0002c90300000a01", "0X2C90300000A01",
                             "0002:c903:0000:0a01", "0002C90300000A01"})
        CHECK(plain_guid(guid) == "0002c90300000a01");
    for (const auto* other : {"mlx5_0", "0002c9*", "abc", "12", "", "0x", "0xzz", "!0002:c9*",
                              "00002c90300000a012", "2:c903:0:a01", "0x2:c903:0000:0a01"})
        CHECK(plain_guid(other) == other);
}

TEST_CASE("a unit without a suffix is a service", "[words]")
{
    CHECK(with_suffix("srp") == "srp.service");
    CHECK(with_suffix("srp.service") == "srp.service");
    CHECK(with_suffix("a.b") == "a.b.service");
    CHECK(with_suffix("a.target") == "a.target");
    // no service of that name is meant: whoever judges it refuses it
    for (const auto* other : {"a.device", "a.swap", "a.automount", "a.scope"})
        CHECK(with_suffix(other) == other);
    CHECK(with_suffix("srp@%d:%p.service") == "srp@%d:%p.service");
    CHECK(is_unit("srp.service"));
    CHECK_FALSE(is_unit("srp"));
    CHECK_FALSE(is_unit("mlx5_0.device"));
}

TEST_CASE("names that somebody may have meant", "[words]")
{
    const Words names = {"fabric.service", "mlx5_0", "mlx5_1", "rocep1s0"};
    CHECK(nearby("mlx5_2", names) == Words{"mlx5_0", "mlx5_1"});
    CHECK(nearby("roce", names) == Words{"rocep1s0"});
    CHECK(nearby("farbic.service", names) == Words{"fabric.service"});
    CHECK(nearby("zzzz", names).empty());
    CHECK(nearby("", names).empty());
    CHECK(nearby(std::string(1000, 'm'), names).empty());
    CHECK(nearby("a", Words(20, "aa")).size() == 8);
    // this would take an hour to compare
    CHECK(nearby(std::string(1'000'000, 'm'), {std::string(1'000'000, 'x')}).empty());
}

TEST_CASE("how a unit stands", "[words]")
{
    Unit unit{.active_state = "active", .is_wanted = true};
    CHECK(standing_of(unit) == Standing::running);
    unit.active_state = "activating";
    CHECK(standing_of(unit) == Standing::running);
    CHECK_FALSE(is_active(unit));
    unit.active_state = "inactive";
    CHECK(standing_of(unit) == Standing::waiting);
    unit.stop = Stop{.cause = "prepare"};
    CHECK(standing_of(unit) == Standing::waiting);
    unit.stop->cause = "unplug";
    CHECK(standing_of(unit) == Standing::unplugged);
    unit.active_state.reset();
    CHECK(standing_of(unit) == Standing::unplugged);
    // masked or disabled while its port is away: no return starts it
    unit.is_wanted = false;
    CHECK(standing_of(unit) == Standing::left_alone);
}

TEST_CASE("a stop tells what went", "[words]")
{
    CHECK(describe_stop({.cause = "unplug", .device = "mlx5_0", .port = 1}, 0) ==
          "last stop: unplug of mlx5_0/1, just now");
    CHECK(describe_stop({.cause = "unplug", .guid = "0002c90300000a01"}, 0) ==
          "last stop: unplug of port 0002c90300000a01, just now");
    CHECK(describe_stop({.cause = "failure"}, 0) == "last stop: failure, just now");
    CHECK(describe_stop({.cause = "condition"}, 0) == "last start: condition not met, just now");
    CHECK(describe_stop({.cause = "dependency"}, 0) == "last start: dependency failed, just now");
}

TEST_CASE("a process that uses a device cannot pass for another", "[words]")
{
    CHECK(describe_holder({.pid = 412, .command = "ib_write_bw", .unit = "perftest.service"}) ==
          R"("ib_write_bw" (PID 412) of perftest.service)");
    CHECK(describe_holder({.pid = 7, .command = "x (PID 812), y"}) ==
          R"("x (PID 812), y" (PID 7))");
    CHECK(describe_holder({.pid = 7, .command = R"(x" (PID 812)\)"}) ==
          R"("x\" (PID 812)\\" (PID 7))");
    CHECK(describe_holder({.command = "nvme_rdma"}) == "nvme_rdma of the kernel");
    CHECK(
        describe_holder({.pid = 1, .command = "systemd", .unit = "a.service", .is_stored = true}) ==
        "systemd, which stores a descriptor for a.service");
    CHECK(describe_holder({.pid = 1, .command = "systemd", .is_stored = true}) ==
          "systemd, which stores a descriptor for some service");
}

TEST_CASE("what matters in the life of a device is told", "[words]")
{
    const Life ready{.device = "mlx5_0", .index = 1, .state = "ready"};
    CHECK(describe_life(ready).empty());
    auto life = ready;
    life.state = "settling";
    CHECK(describe_life(life) == "settling");
    life.state = "draining";
    CHECK(describe_life(life) == "prepared for removal: nothing is started with it; "
                                 "rdmactl resume mlx5_0 undoes that");
    life.is_degraded = true;
    CHECK(describe_life(life) == "degraded: none of its ports could be used in time");

    life = ready;
    life.held_until = 1;
    life.returns = 3;
    CHECK(describe_life(life) == "held, as it came back 3 times: nothing is started with it; "
                                 "rdmactl release mlx5_0 ends that");
    life.held_until.reset();
    life.is_accepted = false;
    life.cause = "hot unplug";
    CHECK(describe_life(life) == "in place of another device: some wait for rdmactl accept "
                                 "mlx5_0; went last: hot unplug");
}

TEST_CASE("who keeps a device from going is told, as far as that is known", "[words]")
{
    Life life{.device = "mlx5_0", .state = "leaving", .is_blocked = true};
    CHECK(describe_life(life) == "its removal waits: it is in use");
    life.holders = std::vector<Holder>();
    CHECK(describe_life(life) ==
          "its removal waits: it is in use by a part of the kernel, or by mapped memory");
    life.holders = {{.pid = 7, .command = "a"}, {.command = "nvme_rdma"}};
    CHECK(describe_life(life) ==
          "its removal waits: it is in use by \"a\" (PID 7), nvme_rdma of the kernel");
}
