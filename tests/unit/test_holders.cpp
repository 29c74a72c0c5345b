// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/holders/scan.hpp"
#include "daemon/holders/search.hpp"
#include "tests/support/fake_pid1.hpp"
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"
#include "tests/support/socket_pid1.hpp"
#include "tests/support/varlink_client.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <future>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

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

/// A device whose node was removed while it is open: the terminal of a program that ended.
class DeletedDevice {
public:
    DeletedDevice()
    {
        UniqueFd controller(posix_openpt(O_RDWR | O_NOCTTY));
        REQUIRE(controller);
        REQUIRE(unlockpt(controller.get()) == 0);
        fd_ = UniqueFd(ioctl(controller.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY));
        REQUIRE(fd_);
    }
    [[nodiscard]] std::string path() const
    {
        return "/proc/self/fd/" + std::to_string(fd_.get());
    }
    [[nodiscard]] std::string number() const
    {
        struct stat status = {};
        REQUIRE(fstat(fd_.get(), &status) == 0);
        return std::to_string(major(status.st_rdev)) + ":" + std::to_string(minor(status.st_rdev));
    }

private:
    UniqueFd fd_;
};

/// A /proc in which descriptors lead to devices that are no RDMA nodes, but have their names:
/// /dev/null is that of uverbs0, and /dev/zero that of no node that is there.
struct Processes {
    FixtureTree tree;

    Processes()
    {
        tree.link("char/1:3", "../../devices/virtual/infiniband_verbs/uverbs0");
        tree.file("devices", "Character devices:\n  1 infiniband_verbs\n136 infiniband_mad\n"
                             "\nBlock devices:\n  8 sd\n");
    }
    void add(uint32_t pid, const std::string& command, const List& targets) const
    {
        const auto process = std::to_string(pid);
        tree.file(process + "/comm", command + "\n");
        tree.directory(process + "/fd");
        for (size_t i = 0; i < targets.size(); i++)
            tree.link(process + "/fd/" + std::to_string(i), targets[i]);
    }
    [[nodiscard]] std::string node(const std::string& name,
                                   const std::string& device = "/dev/null") const
    {
        tree.link("dev/infiniband/" + name, device);
        return tree.path("dev/infiniband/" + name);
    }
    /// As if the kernel kept nodes where it keeps terminals, see DeletedDevice.
    [[nodiscard]] ScanSetup setup() const
    {
        return {.proc = tree.path(),
                .devices = tree.path("char"),
                .dev = "/dev/pts",
                .nodes = tree.path("nodes"),
                .unit_of = [](uint32_t pid) {
                    return pid == 7 ? std::string() : "u" + std::to_string(pid) + ".service";
                }};
    }
    /// Looks, until so many descriptors were looked at.
    [[nodiscard]] HolderReport report(int patience = 20'000) const
    {
        auto limited = setup();
        limited.is_time_over = [patience]() mutable { return patience-- <= 0; };
        return must(rdmad::scan(limited));
    }
    [[nodiscard]] std::vector<Holder> scan() const
    {
        return report().holders;
    }
};

/// PID 1 with a store of descriptors. Who asks it does so in a mount namespace, whose /run and
/// names of character devices are others.
struct StoreBench {
    FixtureTree run;
    FixtureTree numbers;
    Event event = new_event();
    std::optional<SocketPid1> pid1;
    bool was_connected = false;
    bool could_pass_descriptors = false;

    StoreBench()
    {
        numbers.link("231:192", "../../devices/virtual/infiniband_verbs/uverbs0");
        numbers.link("1:3", "../../devices/virtual/mem/null");
    }
    /// socket: in /run.
    SocketPid1& listen(const std::string& socket)
    {
        run.directory(socket.substr(0, socket.find('/')));
        auto& made = pid1.emplace(event.get(), run.path(socket));
        made.listed = {{"a.service", "active"}, {"b.service", "active"}, {"c.service", "active"}};
        constexpr uint32_t device = S_IFCHR | 0600;
        made.stores = {{"a.service", {{device, 231, 192, "/dev/infiniband/uverbs0"}}},
                       {"b.service",
                        {{device, 231, 1, "/dev/infiniband/umad1 (deleted)"},
                         {S_IFSOCK | 0600, 231, 192, "socket:[4711]"}}},
                       {"c.service", {{device, 1, 3, "/dev/null"}}}};
        return made;
    }
    /// Returns nullopt where this process may not make namespaces.
    std::optional<std::vector<Holder>> resolve(const std::vector<Holder>& holders)
    {
        int failure = 0;
        auto resolved = std::async(std::launch::async, [&]() -> std::optional<std::vector<Holder>> {
            if (!enter()) {
                failure = errno;
                return std::nullopt;
            }
            return resolve_stored(holders);
        });
        while (resolved.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
            REQUIRE(sd_event_run(event.get(), 1000) >= 0);
            was_connected |= pid1 && pid1->connections() > 0;
            could_pass_descriptors |= pid1 && pid1->can_pass_descriptors();
        }
        auto result = resolved.get();
        if (!result) {
            REQUIRE((failure == EPERM || failure == EACCES));
            WARN("only who may mount can test this");
        }
        return result;
    }

private:
    [[nodiscard]] bool enter() const
    {
        return unshare(CLONE_NEWNS) == 0 &&
               mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               mount(numbers.path().c_str(), "/sys/dev/char", nullptr, MS_BIND, nullptr) == 0 &&
               mount(run.path().c_str(), "/run", nullptr, MS_BIND, nullptr) == 0;
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
            told.push_back(found ? describe(found->holders) : found.error().message());
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
          "/dev/infiniband/uverbs-1", "/dev/infiniband/uverbs01", "/dev/myinfiniband/uverbs0",
          "/dev/infiniband/uverbs0/x"})
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
    CHECK(describe(perftest()) == R"("ib_write_bw" (PID 412) of perftest.service)");
    CHECK(describe(Holder{.pid = 7, .command = "a"}) == R"("a" (PID 7))");
    // a process may give itself the name of others
    CHECK(describe(Holder{.pid = 7, .command = "x (PID 812), y"}) == R"("x (PID 812), y" (PID 7))");
    CHECK(describe(Holder{.pid = 7, .command = R"(x" (PID 812)\)"}) ==
          R"("x\" (PID 812)\\" (PID 7))");
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
    for (const auto* text : {"", "{}", "[]", R"({"version":1,"holders":[]})",
                             R"({"version":2,"holders":{}})", R"({"version":2})"})
        CHECK(parse_holders(text).error().code == EBADMSG);
    // what is odd in one does not lose the others
    const auto odd = must(parse_holders(
        R"({"version":2,"holders":[7,{"pid":-1,"command":3,"nodes":"x"},{"pid":9,"nodes":["a",1]}]})"));
    CHECK_FALSE(
        must(parse_holders(R"({"version":2,"holders":[],"unread":null})")).unread.has_value());
    CHECK(odd == HolderReport{0, {{}, {}, {.pid = 9, .nodes = {"a"}}}});
}

TEST_CASE("all processes are looked at, and only devices count", "[holders]")
{
    Processes processes;
    const auto uverbs = processes.node("uverbs0");
    const DeletedDevice deleted;
    const auto gone = processes.node("umad1 (deleted)", deleted.path());
    // a later node has its number
    processes.tree.link("char/" + deleted.number(), "../../devices/virtual/infiniband_mad/umad4");
    processes.tree.file("nodes/umad4", "");
    // one that is there, and the same of a foreign major number
    const auto forged = processes.node("uverbs1 (deleted)");
    const auto foreign = processes.node("uverbs2 (deleted)", "/dev/tty");
    // as a container may call it, and as one may call what is no more
    const auto other_name = processes.node("uverbs7");
    const auto stale = processes.node("uverbs8", "/dev/zero");
    const auto terminal = processes.node("uverbs9", "/dev/tty");
    processes.tree.file("tmp/infiniband/uverbs5", "a file of that name");
    processes.add(30, "b", {"/dev/null", uverbs, gone, uverbs});
    processes.add(7, "a", {other_name});
    processes.add(40, "c", {stale});
    processes.add(41, "d", {foreign, forged});
    processes.add(8, "liar", {processes.tree.path("tmp/infiniband/uverbs5"), terminal});
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
              {.pid = 40, .command = "c", .unit = "u40.service", .gone = {"uverbs8"}},
              {.pid = 41, .command = "d", .unit = "u41.service", .nodes = {"uverbs0"}}});
}

TEST_CASE("a node is known by its number, whatever it is called", "[holders]")
{
    const Processes processes;
    processes.tree.link("dev/rdma0", "/dev/null");
    processes.add(30, "container", {processes.tree.path("dev/rdma0")});
    processes.add(31, "bare", {"/dev/null"});
    // of one that is gone nobody knows what it was called
    processes.add(40, "stale", {"/dev/zero"});
    const auto report = processes.report();
    CHECK(report.holders ==
          std::vector<Holder>{
              {.pid = 30, .command = "container", .unit = "u30.service", .nodes = {"uverbs0"}},
              {.pid = 31, .command = "bare", .unit = "u31.service", .nodes = {"uverbs0"}}});
    CHECK(report.unread == Holder{.pid = 40, .command = "stale", .unit = "u40.service"});
}

TEST_CASE("a node that the kernel did not remove is that of the device", "[holders]")
{
    const Processes processes;
    const DeletedDevice deleted;
    processes.tree.link("char/" + deleted.number(), "../../devices/virtual/infiniband_mad/umad4");
    processes.add(30, "a", {processes.node("umad1 (deleted)", deleted.path())});
    auto setup = processes.setup();
    const auto is_of_the_device = [&] {
        const auto holder = must(scan(setup)).holders.at(0);
        return holder.nodes == std::set<std::string>{"umad4"} && holder.gone.empty();
    };
    // somebody else unlinked it: there is no later one
    CHECK(is_of_the_device());
    processes.tree.file("nodes/umad4", "");
    CHECK(must(scan(setup)).holders.at(0).gone == std::set<std::string>{"umad1"});
    // somebody made it elsewhere, and unlinked it
    for (const auto& dev : {processes.tree.path(), processes.tree.path("nowhere")}) {
        setup.dev = dev;
        CHECK(is_of_the_device());
    }
}

TEST_CASE("whoever only names a node holds nothing", "[holders]")
{
    const Processes processes;
    // the last is of one that is gone, and of which nobody knows what it was called
    processes.add(30, "a", {processes.node("uverbs0"), "/dev/zero"});
    processes.tree.file("30/fdinfo/0", "pos:\t0\nflags:\t012000000\nmnt_id:\t25\n");
    processes.tree.file("30/fdinfo/1", "pos:\t0\nflags:\t0112000000\nmnt_id:\t25\n");
    CHECK(processes.report().holders.empty());
    CHECK_FALSE(processes.report().unread.has_value());
    // open for nothing, as for ioctl() alone, is open
    for (const auto* flags : {"02100002", "0100003", "00", "0", "x", ""}) {
        processes.tree.file("30/fdinfo/0", std::string("flags:\t") + flags + "\n");
        INFO(flags);
        CHECK(processes.scan().at(0).nodes == std::set<std::string>{"uverbs0"});
    }
}

TEST_CASE("a process has so many gone nodes and no more", "[holders]")
{
    const Processes processes;
    List links = {"/dev/null"};
    for (int i = 0; i < 65; i++)
        links.push_back(processes.node("uverbs" + std::to_string(100 + i), "/dev/zero"));
    processes.add(30, "a", links);
    const auto cut = processes.report();
    CHECK(cut.holders.at(0).gone.size() == 64);
    CHECK(cut.holders.at(0).nodes == std::set<std::string>{"uverbs0"});
    CHECK(cut.unread == Holder{.pid = 30, .command = "a", .unit = "u30.service"});
    processes.tree.remove("30/fd/65");
    const auto all = processes.report();
    CHECK(all.holders.at(0).gone.size() == 64);
    CHECK_FALSE(all.unread.has_value());
}

TEST_CASE("gone nodes of many processes do not hide those of others", "[holders]")
{
    const Processes processes;
    const auto stale = processes.node("uverbs0", "/dev/zero");
    List links;
    for (uint32_t pid = 100; pid < 165; pid++) {
        // each node has 16 holders at most
        if (pid % 16 == 4) {
            links.clear();
            for (uint32_t i = 0; i < 64; i++)
                links.push_back(
                    processes.node("umad" + std::to_string(pid * 100 + i), "/dev/zero"));
        }
        processes.add(pid, "crowd", links);
    }
    processes.add(200, "client", {stale});
    const auto report = processes.report();
    CHECK(report.holders.size() == 64);
    CHECK(report.holders.back().command == "client");
    CHECK(report.unread == Holder{.pid = 163, .command = "crowd", .unit = "u163.service"});
    CHECK(must(parse_holders(format_holders(report))) == report);
}

TEST_CASE("many processes or sessions of a user hide no service", "[holders]")
{
    const Processes processes;
    const auto uverbs = processes.node("uverbs0");
    for (uint32_t pid = 100; pid < 140; pid++)
        processes.add(pid, "a", {uverbs});
    processes.add(300, "b", {uverbs});
    const bool has_many_sessions = GENERATE(false, true);
    auto setup = processes.setup();
    setup.unit_of = [&](uint32_t pid) {
        const auto session = has_many_sessions ? std::to_string(pid) : "1"s;
        return pid == 300 ? "bound.service"s : "session-" + session + ".scope";
    };
    const auto holders = must(scan(setup)).holders;
    CHECK(holders.size() == 16);
    CHECK(units_of(holders).contains("bound.service"));
}

TEST_CASE("many holders of one node hide none of another", "[holders]")
{
    Processes processes;
    const auto uverbs = processes.node("uverbs0");
    const DeletedDevice deleted;
    const auto gone = processes.node("uverbs0 (deleted)", deleted.path());
    for (uint32_t pid = 100; pid < 200; pid++)
        processes.add(pid, "a", {uverbs});
    processes.add(300, "b", {uverbs, gone});
    const auto holders = processes.scan();
    CHECK(holders.size() == 17);
    CHECK(holders.back().gone == std::set<std::string>{"uverbs0"});
    CHECK(holders.back().nodes.empty());
}

TEST_CASE("whoever has much open hides nobody who has little", "[holders]")
{
    Processes processes;
    const auto uverbs = processes.node("uverbs0");
    List many(500, "/nowhere");
    for (uint32_t pid = 10; pid < 13; pid++)
        processes.add(pid, "crowd", many);
    processes.add(20, "client", {uverbs});
    const Holder client = {
        .pid = 20, .command = "client", .unit = "u20.service", .nodes = {"uverbs0"}};
    const Holder crowd = {.pid = 10, .command = "crowd", .unit = "u10.service"};
    // three times 64, and the client
    const auto some = processes.report(400);
    CHECK(some.holders == std::vector{client});
    CHECK(some.unread == crowd);
    CHECK(describe_unread(some) == "not all open files of \"crowd\" (PID 10) of u10.service, and "
                                   "perhaps of others, were looked at");
    CHECK(must(parse_holders(format_holders(some))) == some);
    // nobody is looked at when time is over
    CHECK(processes.report(0).unread == crowd);
    CHECK(processes.report(0).holders.empty());
    // who has as much open has a turn, too
    many.push_back(uverbs);
    processes.add(13, "server", many);
    const auto all = processes.report();
    CHECK(all.holders.size() == 2);
    CHECK_FALSE(all.unread.has_value());
}

TEST_CASE("a process that cannot be looked at is told unless it has ended", "[holders]")
{
    Processes processes;
    processes.add(9, "idle", {"/nowhere"});
    processes.add(11, "short", {"/nowhere"});
    auto setup = processes.setup();
    setup.is_time_over = [&] {
        std::filesystem::remove_all(processes.tree.path("11"));
        return false;
    };
    CHECK_FALSE(must(scan(setup)).unread.has_value());
    // it has a name that it may give itself
    processes.tree.file("12/fd", "not a directory");
    processes.tree.file("12/comm", "\n");
    CHECK(processes.report().unread == Holder{.pid = 12, .unit = "u12.service"});
}

TEST_CASE("a process that ends while others are looked at is left out", "[holders]")
{
    Processes processes;
    const auto uverbs = processes.node("uverbs0");
    processes.add(10, "a", {uverbs});
    processes.add(11, "b", {uverbs});
    processes.add(12, "many", List(100, "/nowhere"));
    int left = 100;
    auto setup = processes.setup();
    setup.is_time_over = [&] {
        if (--left == 0)
            std::filesystem::remove_all(processes.tree.path("10"));
        return false;
    };
    CHECK(must(scan(setup)).holders ==
          std::vector<Holder>{
              {.pid = 11, .command = "b", .unit = "u11.service", .nodes = {"uverbs0"}}});
}

TEST_CASE("a process that ends and leaves all to a child, again and again, is not missed",
          "[holders]")
{
    const Processes processes;
    processes.add(9, "idle", {});
    processes.add(100, "hopper", {processes.node("uverbs0")});
    uint32_t pid = 100;
    uint32_t last = 110;
    auto setup = processes.setup();
    // it has another number whenever it is to be looked at
    setup.is_time_over = [&] {
        if (pid < last) {
            processes.tree.rename(std::to_string(pid), std::to_string(pid + 1));
            pid++;
        }
        return false;
    };
    SECTION("it stays in the end")
    {
        const auto report = must(scan(setup));
        CHECK(report.holders ==
              std::vector<Holder>{
                  {.pid = 110, .command = "hopper", .unit = "u110.service", .nodes = {"uverbs0"}}});
        CHECK_FALSE(report.unread.has_value());
    }
    SECTION("it does not")
    {
        last = 10'000;
        const auto report = must(scan(setup));
        CHECK(report.holders.empty());
        REQUIRE(report.unread.has_value());
        CHECK(report.unread->command == "hopper");
    }
}

TEST_CASE("what a process leaves to a child as it ends is seen with the child", "[holders]")
{
    const Processes processes;
    const auto uverbs = processes.node("uverbs0");
    // so that there is a second turn
    processes.add(9, "many", List(100, "/nowhere"));
    processes.add(150, "idle", {});
    const auto child =
        Holder{.pid = 200, .command = "child", .unit = "u200.service", .nodes = {"uverbs0"}};
    auto setup = processes.setup();
    int looks = 0;
    SECTION("after it was looked at")
    {
        processes.add(100, "parent", {uverbs});
        // 65 looks at the first, 4 at the parent
        setup.is_time_over = [&] {
            if (++looks == 70) {
                processes.add(200, "child", {uverbs});
                std::filesystem::remove_all(processes.tree.path("100"));
            }
            return false;
        };
    }
    SECTION("and waits for its own parent, who never asks")
    {
        processes.add(100, "parent", {});
        processes.tree.file("100/stat", "100 (a) b) Z 1 100");
        setup.is_time_over = [&] {
            if (++looks == 70)
                processes.add(200, "child", {uverbs});
            return false;
        };
    }
    const auto report = must(scan(setup));
    CHECK(report.holders == std::vector<Holder>{child});
    CHECK_FALSE(report.unread.has_value());
}

TEST_CASE("other threads are looked at where the first shows no descriptors", "[holders]")
{
    const Processes processes;
    const auto uverbs = processes.node("uverbs0");
    processes.add(20, "a", {});
    processes.tree.directory("20/task/20/fd");
    processes.tree.link("20/task/21/fd/3", uverbs);
    processes.tree.file("30/fd", "not a directory");
    processes.tree.file("30/comm", "b\n");
    processes.tree.link("30/task/31/fd/3", uverbs);
    const std::vector<Holder> both = {
        {.pid = 20, .command = "a", .unit = "u20.service", .nodes = {"uverbs0"}},
        {.pid = 30, .command = "b", .unit = "u30.service", .nodes = {"uverbs0"}}};
    CHECK(processes.report() == HolderReport{.holders = both});
    // none has anything open
    processes.add(40, "c", {});
    processes.tree.directory("40/task/40/fd");
    processes.tree.directory("40/task/41/fd");
    CHECK(processes.report() == HolderReport{.holders = both});
    // one has ended when it is to be looked at, and may have made another
    processes.tree.remove("40/task/41");
    processes.tree.directory("40/task/41");
    CHECK(processes.report() ==
          HolderReport{.holders = both,
                       .unread = Holder{.pid = 40, .command = "c", .unit = "u40.service"}});
}

TEST_CASE("a look fails where processes cannot be listed", "[holders]")
{
    const Processes processes;
    const ScanSetup setup = {.proc = processes.tree.path()};
    CHECK(scan(setup).error().code == ESRCH);
    processes.add(9, "idle", {});
    CHECK(scan(setup).has_value());
    processes.tree.remove("devices");
    CHECK(scan(setup).error().code == ENOENT);
}

TEST_CASE("major numbers of nodes are those of their drivers", "[holders]")
{
    // nodes beyond the fixed numbers have majors of their own
    constexpr auto devices = "Character devices:\n  1 mem\n231 infiniband_mad\n"
                             "231 infiniband_verbs\n238 infiniband_verbs\n239 infiniband_mad\n"
                             "240 infinitely\nx infiniband_mad\n241 infiniband_mad x\n\n"
                             "Block devices:\n  8 infiniband_verbs\n";
    CHECK(node_majors(devices) == std::set<uint32_t>{231, 238, 239});
    CHECK(node_majors("").empty());
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

TEST_CASE("a look that is repeated waits for its own end", "[holders]")
{
    Bench bench;
    bench.look();
    bench.pid1.answers_starts = false;
    bench.run.file("holders", format_holders({999, {}}));
    bench.search.on_job(unit, 17, "done");
    CHECK(bench.take().empty());
    bench.run.file("holders", format_holders({1000, {perftest()}}));
    SECTION("which is not that of the first")
    {
        bench.search.on_job(unit, 17, "done");
        CHECK(bench.take().empty());
        bench.pid1.answer_starts(18U);
        bench.search.on_job(unit, 18, "done");
        CHECK(bench.take() == List{describe(perftest())});
    }
    SECTION("unless systemd is gone")
    {
        bench.search.on_connected();
        CHECK(bench.take() == List{"systemd: "s + strerror(ECONNRESET)});
    }
    CHECK(bench.pid1.watchers[unit] == 0);
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

TEST_CASE("what PID 1 stores is of the services that it stores it for", "[holders]")
{
    StoreBench bench;
    // as systemctl reaches it, and as clients of the bus do
    auto& pid1 = bench.listen(GENERATE("systemd/private", "dbus/system_bus_socket"));
    const Holder systemd = {.pid = 1,
                            .command = "systemd",
                            .unit = "init.scope",
                            .nodes = {"uverbs0", "uverbs2"},
                            .gone = {"umad1", "umad3"}};
    const auto named = bench.resolve({perftest(), systemd});
    if (!named)
        return;
    const Holder a = {.pid = 1,
                      .command = "systemd",
                      .unit = "a.service",
                      .is_stored = true,
                      .nodes = {"uverbs0"}};
    const Holder b = {
        .pid = 1, .command = "systemd", .unit = "b.service", .is_stored = true, .gone = {"umad1"}};
    const Holder rest = {
        .pid = 1, .command = "systemd", .is_stored = true, .nodes = {"uverbs2"}, .gone = {"umad3"}};
    CHECK(*named == std::vector<Holder>{perftest(), a, b, rest});
    CHECK(bench.was_connected);
    CHECK_FALSE(bench.could_pass_descriptors);
    CHECK(pid1.take() ==
          List{"ListUnitsByPatterns *.service", "DumpUnitFileDescriptorStore a.service",
               "DumpUnitFileDescriptorStore b.service", "DumpUnitFileDescriptorStore c.service"});

    // nothing is left that is of nobody
    const Holder known = {.pid = 1, .nodes = {"uverbs0"}, .gone = {"umad1"}};
    CHECK(bench.resolve({known})->size() == 2);
    // PID 1 is not asked in vain
    (void)pid1.take();
    CHECK(bench.resolve({perftest()}) == std::vector<Holder>{perftest()});
    CHECK(pid1.take().empty());
}

TEST_CASE("what PID 1 stores has no name if it does not tell", "[holders]")
{
    StoreBench bench;
    const Holder systemd = {.pid = 1, .command = "systemd", .nodes = {"uverbs0"}};
    auto unnamed = systemd;
    unnamed.is_stored = true;
    std::vector<Holder> expected = {unnamed};
    SECTION("as it is not there") {}
    SECTION("as it lists no units")
    {
        bench.listen("systemd/private").refused["ListUnitsByPatterns *.service"] =
            "org.freedesktop.DBus.Error.AccessDenied";
    }
    SECTION("as it is older than 254")
    {
        auto& pid1 = bench.listen("systemd/private");
        for (const auto& [unit, store] : pid1.stores)
            pid1.refused["DumpUnitFileDescriptorStore " + unit] =
                "org.freedesktop.DBus.Error.UnknownMethod";
    }
    SECTION("of one unit")
    {
        bench.listen("systemd/private").refused["DumpUnitFileDescriptorStore b.service"] =
            "org.freedesktop.systemd1.NoSuchUnit";
        expected = {{.pid = 1,
                     .command = "systemd",
                     .unit = "a.service",
                     .is_stored = true,
                     .nodes = {"uverbs0"}}};
    }
    if (const auto found = bench.resolve({systemd}))
        CHECK(*found == expected);
}
