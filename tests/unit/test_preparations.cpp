// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/prepare/preparations.hpp"
#include "tests/catch.hpp"

#include <cerrno>
#include <utility>

using namespace rdmad;

namespace {

using List = std::vector<std::string>;
using Mode = Inhibitor::Mode;

constexpr Preparations::Time second = 1'000'000;
constexpr uint32_t mine = 3;

/// A device with one unit and one node; what is asked for is written down.
struct Bench {
    std::map<uint32_t, Device> devices;
    Inhibitors inhibitors;
    Preparations::Time now = 100 * second;
    List done = {};                    ///< "drain 3", "inhibited refused"
    Drained running = {{"a.service"}}; ///< units that are not down
    Preparations::OnUsers looking = {};
    std::set<std::string> nodes = {"uverbs0"}; ///< that the kernel has
    std::vector<Holder> holders = {};          ///< that were told last
    Result<uint64_t> contexts = 0U;
    Preparations preparations{
        inhibitors,
        30 * second,
        {.device =
             [this](uint32_t wanted) {
                 const auto found = devices.find(wanted);
                 return found == devices.end() ? nullptr : &found->second;
             },
         .nodes = [this](const Device&) { return nodes; },
         .contexts = [this](const Device&) { return contexts; },
         .drain = [this](uint32_t of) { done.push_back("drain " + std::to_string(of)); },
         .resume = [this](uint32_t of) { done.push_back("resume " + std::to_string(of)); },
         .stop = [this](uint32_t, std::map<std::string, int>&) { return running; },
         .look = [this](uint32_t, auto on_found) { looking = std::move(on_found); },
         .clock = [this] { return now; }}};

    Bench()
    {
        devices[mine] = {.index = mine,
                         .name = "mlx5_0",
                         .node_guid = 0xa,
                         .uverbs = NodeRef{"uverbs0", "/sys/devices/uverbs0"}};
    }
    [[nodiscard]] bool begin(bool ignores_inhibitors = false)
    {
        return preparations.begin(mine, ignores_inhibitors, [this](const Progress& progress) {
            holders = progress.holders;
            done.push_back(std::string(to_string(progress.stage)) +
                           (progress.is_last ? " last" : "") +
                           (progress.problem.empty() ? "" : " " + progress.problem));
        });
    }
    /// Has its unit stopped, so that its users are looked for.
    void begin_to_look()
    {
        running = {};
        CHECK(begin());
        CHECK(advance() == List{"drain 3"});
    }
    Inhibitors::Id inhibit(Mode mode, const std::string& device = "mlx5_0")
    {
        return inhibitors.add({device, "backup", "it runs", mode}, [this](const Device& about) {
            done.push_back("announced " + about.name);
        });
    }
    List advance()
    {
        preparations.advance();
        return std::exchange(done, {});
    }
    List find(const Result<Users>& found)
    {
        REQUIRE(looking);
        std::exchange(looking, {})(found);
        return std::exchange(done, {});
    }
    List wait(Preparations::Time seconds)
    {
        now += seconds * second;
        return advance();
    }
};

Users sleep_with(const std::string& node)
{
    return {.processes = {.holders = {{.pid = 9, .command = "sleep", .nodes = {node}}}}};
}

const Users held = sleep_with("uverbs0");
const Users others = sleep_with("uverbs1");

} // namespace

TEST_CASE("a device that nobody holds is safe when its units are down", "[preparations]")
{
    Bench bench;
    CHECK(bench.begin());
    CHECK(bench.advance() == List{"drain 3", "stopping"});
    CHECK(bench.advance().empty());
    CHECK_FALSE(bench.looking);
    bench.running = {};
    CHECK(bench.advance().empty());
    CHECK(bench.find(others) == List{"safe last"});
    CHECK(bench.advance().empty());
    CHECK_FALSE(bench.preparations.next_deadline().has_value());
}

TEST_CASE("a device is not safe before all files were looked at", "[preparations]")
{
    Bench bench;
    bench.begin_to_look();
    auto found = others;
    found.processes.unread = Holder{.pid = 7, .command = "crowd"};
    SECTION("nobody was found")
    {
        CHECK(bench.find(found) ==
              List{"inUse last not all open files of \"crowd\" (PID 7), and perhaps of others, "
                   "were looked at"});
    }
    SECTION("somebody was")
    {
        found.processes.holders = held.processes.holders;
        CHECK(bench.find(found) == List{"inUse"});
    }
}

TEST_CASE("a node that is made while holders are looked for counts", "[preparations]")
{
    Bench bench;
    bench.begin_to_look();
    bench.nodes.insert("uverbs1");
    CHECK(bench.find(others) == List{"inUse"});
    CHECK(bench.wait(1).empty());
    bench.nodes = {};
    CHECK(bench.find(others) == List{"safe last"});
}

TEST_CASE("a device is not safe while the kernel counts contexts of programs", "[preparations]")
{
    Bench bench;
    bench.begin_to_look();
    SECTION("it tells of one")
    {
        bench.contexts = 1U;
        for (int looks = 1; looks < 5; looks++) {
            CHECK(bench.find(others).empty());
            CHECK(bench.wait(1).empty());
        }
        CHECK(bench.find(others) == List{"inUse last programs that were not found use it: "
                                         "rdma resource show ctx dev mlx5_0"});
    }
    SECTION("it takes them from a program that has ended")
    {
        bench.contexts = 1U;
        CHECK(bench.find(others).empty());
        CHECK(bench.wait(1).empty());
        bench.contexts = 0U;
        CHECK(bench.find(others) == List{"safe last"});
    }
    SECTION("it tells nothing")
    {
        bench.contexts = fail(EPERM, "netlink");
        CHECK(bench.find(others) == List{"inUse last netlink: Operation not permitted"});
    }
    SECTION("others are known")
    {
        bench.contexts = 1U;
        CHECK(bench.find(held) == List{"inUse"});
    }
}

TEST_CASE("a part of the kernel holds all nodes of its device, and a device without nodes, too",
          "[preparations]")
{
    Bench bench;
    bench.nodes = GENERATE(std::set<std::string>(), std::set<std::string>{"umad0", "uverbs0"});
    bench.begin_to_look();
    CHECK(bench.find(Users{.kernel = {"nvme_rdma"}}) == List{"inUse"});
    CHECK(bench.holders == std::vector<Holder>{{.command = "nvme_rdma", .nodes = bench.nodes}});
}

TEST_CASE("a device that goes while holders are looked for is gone", "[preparations]")
{
    Bench bench;
    bench.begin_to_look();
    bench.devices.clear();
    CHECK(bench.find(held) == List{"gone last"});
}

TEST_CASE("only one preparation of a device is under way", "[preparations]")
{
    Bench bench;
    CHECK(bench.begin());
    CHECK_FALSE(bench.begin());
    bench.devices.clear();
    CHECK(bench.advance() == List{"gone last"});
    CHECK_FALSE(bench.begin());
}

TEST_CASE("whoever blocks a device has it refused at once", "[preparations]")
{
    Bench bench;
    const auto* device = GENERATE("mlx5_0", "000000000000000a", "");
    bench.inhibit(Mode::block, device);
    bench.inhibit(Mode::block, "mlx5_1");
    CHECK(bench.begin());
    CHECK(bench.advance() == List{"announced mlx5_0", "inhibited last"});
    CHECK(bench.begin(true));
    CHECK(bench.advance() == List{"announced mlx5_0", "drain 3", "stopping"});
}

TEST_CASE("whoever delays it is waited for, and refused at the end of patience", "[preparations]")
{
    Bench bench;
    const auto id = bench.inhibit(Mode::delay);
    CHECK(bench.begin());
    CHECK(bench.advance() == List{"announced mlx5_0", "inhibited"});
    CHECK(bench.preparations.next_deadline() == 130 * second);
    CHECK(bench.wait(29).empty());
    SECTION("gone in time")
    {
        bench.inhibitors.remove(id);
        CHECK(bench.advance() == List{"drain 3", "stopping"});
        CHECK_FALSE(bench.preparations.next_deadline().has_value());
    }
    SECTION("not gone")
    {
        CHECK(bench.wait(1) == List{"inhibited last"});
        CHECK(bench.advance().empty());
    }
}

TEST_CASE("a device that somebody holds is looked at five times", "[preparations]")
{
    Bench bench;
    bench.begin_to_look();
    CHECK(bench.find(held) == List{"inUse"});
    for (int i = 0; i < 3; i++) {
        CHECK(bench.preparations.next_deadline() == bench.now + second);
        CHECK(bench.advance().empty());
        CHECK_FALSE(bench.looking);
        CHECK(bench.wait(1).empty());
        CHECK(bench.find(held).empty());
    }
    CHECK(bench.wait(1).empty());
    const bool is_let_go = GENERATE(true, false);
    // it stays drained: what was stopped must not come back
    CHECK(bench.find(is_let_go ? others : held) == List{is_let_go ? "safe last" : "inUse last"});
}

TEST_CASE("a unit that cannot be stopped has it refused", "[preparations]")
{
    Bench bench;
    bench.running.problem = "it may not";
    CHECK(bench.begin());
    CHECK(bench.advance() == List{"drain 3", "inUse last it may not"});
    CHECK(bench.advance().empty());
}

TEST_CASE("a second try that is refused leaves the first as it is", "[preparations]")
{
    Bench bench;
    bench.begin_to_look();
    CHECK(bench.find(others) == List{"safe last"});
    bench.inhibit(Mode::block);
    CHECK(bench.begin());
    CHECK(bench.advance() == List{"announced mlx5_0", "inhibited last"});
}

TEST_CASE("a look that failed is no proof", "[preparations]")
{
    Bench bench;
    bench.begin_to_look();
    CHECK(bench.find(fail(EIO, "systemd")) == List{"inUse last systemd: Input/output error"});
}

TEST_CASE("a preparation that is resumed ends", "[preparations]")
{
    Bench bench;
    bench.begin_to_look();
    bench.preparations.resume(mine);
    CHECK(bench.advance() == List{"resumed last", "resume 3"});
    // an answer to the old one says nothing of the next
    const auto late = bench.looking;
    bench.running = {{"a.service"}};
    CHECK(bench.begin());
    CHECK(bench.advance() == List{"drain 3", "stopping"});
    late(Users());
    CHECK(bench.advance().empty());
}

TEST_CASE("one that is abandoned is undone as long as nothing was stopped", "[preparations]")
{
    Bench bench;
    const auto id = bench.inhibit(Mode::delay);
    CHECK(bench.begin());
    bench.advance();
    bench.preparations.abandon(mine);
    CHECK(bench.advance().empty());
    bench.inhibitors.remove(id);
    CHECK(bench.begin());
    CHECK(bench.advance() == List{"drain 3", "stopping"});
    bench.preparations.abandon(mine);
    bench.running = {};
    CHECK(bench.advance().empty());
    CHECK(bench.find(others).empty());
    CHECK(bench.begin());
}

TEST_CASE("inhibitors are listed until they are gone", "[preparations]")
{
    Bench bench;
    const auto first = bench.inhibit(Mode::delay);
    bench.inhibit(Mode::block, "mlx5_1");
    CHECK(bench.inhibitors.all().size() == 2);
    CHECK(bench.inhibitors.against(bench.devices[mine]).size() == 1);
    bench.inhibitors.remove(first);
    CHECK(bench.inhibitors.all() ==
          std::vector<Inhibitor>{{"mlx5_1", "backup", "it runs", Mode::block}});
    CHECK(bench.inhibitors.against(bench.devices[mine]).empty());
    CHECK(parse_mode("block") == Mode::block);
    CHECK(parse_mode("delay") == Mode::delay);
    CHECK_FALSE(parse_mode("").has_value());
}
