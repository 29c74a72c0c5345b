// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/holders/scan.hpp"
#include "daemon/holders/search.hpp"
#include "tests/support/fake_pid1.hpp"
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"

#include <cerrno>
#include <cstring>

using namespace rdmad;
using namespace rdmad::test;
using namespace std::string_literals;

namespace {

using List = std::vector<std::string>;

constexpr char unit[] = "rdmad-holders.service";

Holder perftest()
{
    return {.pid = 412,
            .command = "ib_write_bw",
            .unit = "perftest.service",
            .nodes = {"uverbs0", "uverbs1"}};
}

/// A /proc in which descriptors lead to devices that are no RDMA nodes, but have their names:
/// /dev/null is that of uverbs0, and /dev/zero that of no node that is there.
struct Processes {
    FixtureTree tree;

    Processes()
    {
        tree.link("char/1:3", "../../devices/virtual/infiniband_verbs/uverbs0");
    }
    void add(uint32_t pid, const std::string& command, const List& targets) const
    {
        const auto process = std::to_string(pid);
        tree.file(process + "/comm", command + "\n");
        for (size_t i = 0; i < targets.size(); i++)
            tree.link(process + "/fd/" + std::to_string(i), targets[i]);
    }
    [[nodiscard]] std::string node(const std::string& name,
                                   const std::string& device = "/dev/null") const
    {
        tree.link("dev/infiniband/" + name, device);
        return tree.path("dev/infiniband/" + name);
    }
    [[nodiscard]] std::vector<Holder> scan() const
    {
        return rdmad::scan(tree.path(), tree.path("char"), [](uint32_t pid) {
            return pid == 7 ? std::string() : "u" + std::to_string(pid) + ".service";
        });
    }
};

/// Asks for a look, and tells what came of it.
struct Bench {
    FixtureTree run;
    FakePid1 pid1;
    uint64_t now = 1000;
    HolderSearch search{run.path("holders"), [this](clockid_t) { return now; }};
    List told = {};

    Bench()
    {
        search.use(&pid1);
    }
    void look()
    {
        search.look([this](const auto& found) {
            told.push_back(found ? describe(*found) : found.error().message());
        });
    }
    List take()
    {
        return std::exchange(told, {});
    }
};

} // namespace

TEST_CASE("nodes are known by what a descriptor shows", "[holders]")
{
    CHECK(node_of_link("/dev/infiniband/uverbs0").name == "uverbs0");
    CHECK_FALSE(node_of_link("/dev/infiniband/uverbs0").is_gone);
    CHECK(node_of_link("/dev/infiniband/umad12 (deleted)").name == "umad12");
    CHECK(node_of_link("/dev/infiniband/umad12 (deleted)").is_gone);
    CHECK(node_of_link("/infiniband/issm3").name == "issm3");
    for (const auto* link :
         {"", "uverbs0", "/dev/uverbs0", "/dev/infiniband/rdma_cm", "/dev/infiniband/uverbs",
          "/dev/infiniband/uverbs0x", "/dev/infiniband/uverbs0 (gone)", "socket:[4711]",
          "/dev/infiniband/uverbs-1", "/dev/myinfiniband/uverbs0", "/dev/infiniband/uverbs0/x"})
        CHECK(node_of_link(link).name.empty());
}

TEST_CASE("who holds some nodes is told with these alone", "[holders]")
{
    const Holder old = {.pid = 7, .command = "a", .nodes = {"umad0"}, .gone = {"uverbs1"}};
    const std::vector<Holder> all = {perftest(), old};
    auto expected = perftest();
    expected.nodes = {"uverbs1"};
    CHECK(holders_of(all, {"uverbs1", "umad1"}, {}) == std::vector<Holder>{expected});
    // of a node that is there nobody who has an earlier one of that number
    CHECK(holders_of(all, {}, {"uverbs1", "umad0"}) ==
          std::vector<Holder>{{.pid = 7, .command = "a", .gone = {"uverbs1"}}});
    CHECK(holders_of(all, {}, {}).empty());
    CHECK(units_of(all) == std::set<std::string>{"perftest.service"});
}

TEST_CASE("holders are told in words", "[holders]")
{
    CHECK(describe(perftest()) == "ib_write_bw (PID 412) of perftest.service");
    CHECK(describe(Holder{.pid = 7, .command = "a"}) == "a (PID 7)");
    CHECK(describe(Holder{.command = "nvme_rdma"}) == "nvme_rdma of the kernel");
    CHECK(describe(Holder{.pid = 1, .unit = "b.service", .is_stored = true}) ==
          "systemd, which stores a descriptor for b.service");
    CHECK(describe(Holder{.pid = 1, .is_stored = true}) ==
          "systemd, which stores a descriptor for some service");
}

TEST_CASE("holders are read as they were written", "[holders]")
{
    const std::vector<Holder> all = {perftest(), {.pid = 1, .is_stored = true, .gone = {"umad3"}}};
    CHECK(must(parse_holders(format_holders({7, all}))) == HolderReport{7, all});
    CHECK(must(parse_holders(format_holders({}))).holders.empty());
    for (const auto* text : {"", "{}", "[]", R"({"version":2,"holders":[]})",
                             R"({"version":1,"holders":{}})", R"({"version":1})"})
        CHECK(parse_holders(text).error().code == EBADMSG);
    // what is odd in one does not lose the others
    const auto odd = must(parse_holders(
        R"({"version":1,"holders":[7,{"pid":-1,"command":3,"nodes":"x"},{"pid":9,"nodes":["a",1]}]})"));
    CHECK(odd == HolderReport{0, {{}, {}, {.pid = 9, .nodes = {"a"}}}});
}

TEST_CASE("all processes are looked at, and only devices count", "[holders]")
{
    Processes processes;
    const auto uverbs = processes.node("uverbs0");
    const auto gone = processes.node("umad1 (deleted)");
    // as a container may call it, and as one may call what is no more
    const auto other_name = processes.node("uverbs7");
    const auto stale = processes.node("uverbs8", "/dev/zero");
    processes.tree.file("tmp/infiniband/uverbs5", "a file of that name");
    processes.add(30, "b", {"/dev/null", uverbs, gone, uverbs});
    processes.add(7, "a", {other_name});
    processes.add(40, "c", {stale});
    processes.add(8, "liar", {processes.tree.path("tmp/infiniband/uverbs5")});
    processes.add(9, "idle", {});
    processes.tree.file("self/comm", "not a process");
    CHECK(processes.scan() ==
          std::vector<Holder>{
              {.pid = 7, .command = "a", .nodes = {"uverbs0"}},
              {.pid = 30,
               .command = "b",
               .unit = "u30.service",
               .nodes = {"uverbs0"},
               .gone = {"umad1"}},
              {.pid = 40, .command = "c", .unit = "u40.service", .gone = {"uverbs8"}}});
}

TEST_CASE("many holders of one node hide none of another", "[holders]")
{
    Processes processes;
    const auto uverbs = processes.node("uverbs0");
    const auto gone = processes.node("uverbs0 (deleted)");
    for (uint32_t pid = 100; pid < 200; pid++)
        processes.add(pid, "a", {uverbs});
    processes.add(300, "b", {uverbs, gone});
    const auto holders = processes.scan();
    CHECK(holders.size() == 17);
    CHECK(holders.back().gone == std::set<std::string>{"uverbs0"});
    CHECK(holders.back().nodes.empty());
}

TEST_CASE("a look is what the program wrote since it was asked for", "[holders]")
{
    Bench bench;
    bench.run.file("holders", format_holders({1000, {{.pid = 3, .command = "old"}}}));
    bench.look();
    CHECK(bench.pid1.take() == List{"start rdmad-holders.service"});
    // who comes while one is under way gets another
    bench.look();
    CHECK(bench.pid1.take().empty());
    bench.search.on_job("other.service", 17, "done");
    bench.search.on_job(unit, 16, "done");
    CHECK(bench.take().empty());
    bench.run.file("holders", format_holders({1000, {perftest()}}));
    bench.search.on_job(unit, 17, "done");
    CHECK(bench.take() == List{describe(perftest())});
    CHECK(bench.pid1.take() ==
          List{"unwatch rdmad-holders.service", "start rdmad-holders.service"});
    // it wrote nothing, twice: what it found before does not count
    bench.search.on_job(unit, 17, "done");
    CHECK(bench.take().empty());
    bench.search.on_job(unit, 17, "done");
    CHECK(bench.take() == List{bench.run.path("holders") + ": " + strerror(ENOENT)});
}

TEST_CASE("a look that began before it was asked for does not count", "[holders]")
{
    Bench bench;
    const auto finish = [&](uint64_t began) {
        bench.run.file("holders", format_holders({began, {perftest()}}));
        bench.search.on_job(unit, 17, "done");
    };
    bench.look();
    bench.pid1.take();
    bench.now = 2000;
    finish(999);
    CHECK(bench.take().empty());
    CHECK(bench.pid1.take() == List{"start rdmad-holders.service"});
    SECTION("the next one does")
    {
        finish(1000);
        CHECK(bench.take() == List{describe(perftest())});
        // each look anew
        bench.look();
        finish(1999);
        CHECK(bench.take().empty());
        finish(2000);
        CHECK(bench.take() == List{describe(perftest())});
    }
    SECTION("unless that is no better")
    {
        finish(999);
        CHECK(bench.take() ==
              List{"rdmad-holders.service reported an earlier run: "s + strerror(EBADMSG)});
    }
}

TEST_CASE("a look that cannot be had is told", "[holders]")
{
    Bench bench;
    bench.pid1.is_there = false;
    bench.look();
    CHECK(bench.take() == List{"systemd: "s + strerror(ENOTCONN)});
    bench.pid1.is_there = true;
    bench.look();
    bench.pid1.take();
    bench.search.on_job(unit, 17, "timeout");
    CHECK(bench.take() == List{"rdmad-holders.service ended as timeout: "s + strerror(EIO)});
    bench.look();
    bench.pid1.take();
    bench.search.on_connected();
    CHECK(bench.take() == List{"systemd: "s + strerror(ECONNRESET)});
}
