// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/systemd/manager.hpp"

#include "daemon/systemd/bus.hpp"
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"
#include "tests/support/socket_pid1.hpp"

#include <cerrno>
#include <chrono>
#include <sys/socket.h>
#include <sys/un.h>

using namespace rdmad;
using namespace rdmad::test;
using systemd::Anchor;
using systemd::Manager;
using systemd::UnitState;
using namespace std::chrono_literals;
using namespace std::string_literals;
using SteadyClock = std::chrono::steady_clock;

namespace {

using List = std::vector<std::string>;

constexpr char no_reply[] = "org.freedesktop.DBus.Error.NoReply";
constexpr char no_such_unit[] = "org.freedesktop.systemd1.NoSuchUnit";
constexpr char unit_exists[] = "org.freedesktop.systemd1.UnitExists";

UnitState active(const std::string& id)
{
    return {.id = id, .load_state = "loaded", .active_state = "active"};
}

/// A manager with a PID 1 that is reached directly, over a bus, or not yet.
struct Bench {
    FixtureTree run;
    CPtr<sd_event, sd_event_unref> event;
    std::optional<SocketPid1> direct;
    std::optional<SocketPid1> bus;
    List told; ///< what the manager called back
    std::unique_ptr<Manager> manager;

    Bench()
    {
        sd_event* raw = nullptr;
        REQUIRE(sd_event_new(&raw) >= 0);
        event.reset(raw);
    }
    void open_direct()
    {
        direct.emplace(event.get(), run.path("private"));
    }
    void open_bus()
    {
        bus.emplace(event.get(), run.path("bus"));
    }
    void begin()
    {
        manager = must(Manager::create(
            event.get(),
            {.on_connected = [this] { told.emplace_back("connected"); },
             .on_unit =
                 [this](const std::string& unit, const UnitState& state) {
                     told.push_back(unit + " " + state.load_state + " " + state.active_state);
                 },
             .on_job =
                 [this](const std::string& unit, uint32_t job, const std::string& result) {
                     told.push_back("job " + std::to_string(job) + " of " + unit + " " + result);
                 },
             .on_anchor_job = [this](const std::string& anchor) { told.push_back(anchor); },
             .on_trouble = [this](const Error& error) { told.push_back("! " + error.context); }},
            {.bus = run.path("bus"), .direct = run.path("private")}));
    }
    /// Connected, with nothing left to say.
    SocketPid1& connect_directly()
    {
        open_direct();
        return connect(*direct);
    }
    SocketPid1& connect_to_bus()
    {
        open_bus();
        return connect(*bus);
    }
    SocketPid1& connect(SocketPid1& pid1)
    {
        begin();
        wait_for([this] { return !told.empty(); });
        settle();
        REQUIRE(take() == List{"connected"});
        REQUIRE(pid1.take() == List{"Subscribe"});
        return pid1;
    }
    template <typename Condition>
    void wait_for(Condition is_met)
    {
        const auto deadline = SteadyClock::now() + 30s;
        while (!is_met()) {
            REQUIRE(SteadyClock::now() < deadline);
            REQUIRE(sd_event_run(event.get(), 100'000) >= 0);
        }
    }
    /// Until nobody has anything to read or to do.
    void settle()
    {
        const auto deadline = SteadyClock::now() + 30s;
        while (sd_event_run(event.get(), 10'000) > 0)
            REQUIRE(SteadyClock::now() < deadline);
    }
    List take()
    {
        return std::exchange(told, {});
    }
    /// Writes down how an order ended, after its name.
    auto note(const std::string& order)
    {
        return [this, order](const auto& outcome) {
            if (!outcome)
                told.push_back(order + " failed: " + outcome.error().context);
            else if constexpr (std::is_same_v<decltype(outcome), const Result<uint32_t>&>)
                told.push_back(order + " is job " + std::to_string(*outcome));
            else
                told.push_back(order + " is done");
        };
    }
};

constexpr char anchor_name[] = "rdmad-a.service:1:uverbs1.slice";
constexpr char group_name[] = "rdmad-a.service:any:b.slice";

Anchor anchor()
{
    return {.name = anchor_name,
            .description = "tie",
            .device_unit = "dev-uverbs1.device",
            .unit = "a.service"};
}

Anchor anchor_of_group()
{
    auto one = anchor();
    one.group = group_name;
    return one;
}

const std::string make_anchor =
    "StartTransientUnit "s + anchor_name + " replace Description=tie BindsTo=dev-uverbs1.device ";
const std::string make_member =
    make_anchor + "After=dev-uverbs1.device," + group_name + " Requires=" + group_name;
const std::string make_with_group =
    make_member + " + " + group_name +
    " Description=any port for a.service StopWhenUnneeded=yes PropagatesStopTo=a.service "
    "Before=a.service";

} // namespace

// -- connections ----------------------------------------------------------------------------------

TEST_CASE("where there is no bus, PID 1 is connected to directly", "[manager]")
{
    Bench bench;
    bench.open_direct();
    bench.begin();
    CHECK_FALSE(bench.manager->is_connected());
    bench.wait_for([&] { return !bench.told.empty(); });
    bench.settle();
    CHECK(bench.take() == List{"connected"});
    CHECK(bench.manager->is_connected());
    CHECK(bench.direct->asked == List{"Subscribe"});
}

TEST_CASE("where there is a bus, PID 1 is connected to over that alone", "[manager]")
{
    Bench bench;
    bench.open_direct();
    bench.connect_to_bus();
    CHECK(bench.direct->connections() == 0);
}

TEST_CASE("nobody on the bus can pass descriptors along", "[manager]")
{
    Bench bench;
    // PID 1 could
    CHECK(bench.connect_directly().can_pass_descriptors());
    Bench with_bus;
    CHECK_FALSE(with_bus.connect_to_bus().can_pass_descriptors());
}

TEST_CASE("a bus that hangs up again and again does not keep rdmad from PID 1", "[manager]")
{
    Bench bench;
    bench.open_direct();
    const UniqueFd bus(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
    bench.run.path("bus").copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(bind(bus.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(listen(bus.get(), 8) == 0);
    int hang_ups = 0;
    const auto source = must(EventSource::io(bench.event.get(), bus.get(), 0, [&] {
        const UniqueFd client(accept4(bus.get(), nullptr, nullptr, SOCK_CLOEXEC));
        hang_ups++;
    }));
    bench.begin();
    bench.wait_for([&] { return !bench.told.empty(); });
    bench.settle();
    CHECK(bench.take() == List{"connected"});
    CHECK(bench.direct->connections() == 1);
    CHECK(hang_ups > 1);
}

TEST_CASE("without any PID 1 an order fails, and one that comes is found", "[manager]")
{
    Bench bench;
    bench.begin();
    bench.manager->start("a.service", bench.note("start"));
    bench.manager->start_anchor(anchor(), bench.note("anchor"));
    bench.manager->list_anchors([&](const auto& anchors) {
        CHECK_FALSE(anchors.has_value());
        bench.told.emplace_back("list failed");
    });
    CHECK(bench.take() == List{"start failed: systemd", "anchor failed: systemd", "list failed"});
    bench.wait_for([&] { return !bench.told.empty(); });
    CHECK(bench.take() == List{"! neither the system bus nor " + bench.run.path("private")});
    bench.open_direct();
    bench.wait_for([&] { return bench.manager->is_connected(); });
    CHECK(bench.told.back() == "connected");
}

TEST_CASE("as soon as there is a bus, it replaces the direct connection", "[manager]")
{
    Bench bench;
    auto& direct = bench.connect_directly();
    direct.units["a.service"] = active("a.service");
    bench.manager->watch("a.service");
    bench.settle();
    CHECK(bench.take() == List{"a.service loaded active"});
    direct.answers = false;
    bench.manager->start("a.service", bench.note("start"));
    bench.manager->start_anchor(anchor(), bench.note("anchor"));
    bench.settle();
    const auto orders = direct.take();
    CHECK(std::count(orders.begin(), orders.end(), "StartUnit a.service replace") == 1);

    bench.open_bus();
    bench.wait_for([&] { return !bench.told.empty(); });
    bench.settle();
    // PID 1 has these orders, and whoever gave them asks it what became of them
    CHECK(bench.take() == List{"connected"});
    CHECK(direct.connections() == 0);
    CHECK(bench.bus->take() == List{"Subscribe"});

    bench.bus->units["a.service"] = active("a.service");
    bench.bus->tell_changed("a.service");
    bench.settle();
    CHECK(bench.bus->take() == List{"GetAll a.service"});
    CHECK(bench.take() == List{"a.service loaded active"});
    bench.bus->listed = {{anchor_name, "inactive", 30, "start"}};
    bench.manager->list_anchors([](const auto&) {});
    bench.settle();
    bench.bus->tell_job_removed(30, anchor_name, "done");
    bench.bus->tell_job_removed(31, "a.service", "done");
    bench.settle();
    CHECK(bench.take() == List{anchor_name, "job 31 of a.service done"});
}

TEST_CASE("a connection that breaks off is made anew", "[manager]")
{
    const bool is_bus = GENERATE(true, false);
    Bench bench;
    auto& pid1 = is_bus ? bench.connect_to_bus() : bench.connect_directly();
    pid1.units["a.service"] = active("a.service");
    bench.manager->watch("a.service");
    bench.manager->watch("a.service");
    bench.settle();
    bench.take();
    pid1.answers = false;
    bench.manager->refresh("a.service");
    bench.manager->start("a.service", bench.note("start"));
    bench.settle();
    pid1.take();

    pid1.drop_connections();
    pid1.answers = true;
    bench.wait_for([&] { return !bench.manager->is_connected(); });
    bench.manager->stop("a.service", bench.note("stop"));
    bench.wait_for([&] { return bench.manager->is_connected(); });
    bench.settle();
    const auto told = bench.take();
    CAPTURE(told);
    REQUIRE(told.size() == 4);
    CHECK(told.back() == "connected");
    for (const auto* once : {"! systemd: the connection broke off", "stop failed: systemd"})
        CHECK(std::count(told.begin(), told.end(), once) == 1);
    CHECK(std::count_if(told.begin(), told.end(), [](const std::string& one) {
              return one.starts_with("start failed: ");
          }) == 1);
    // what is unknown by now is asked for once, when somebody wants to know it
    CHECK(pid1.take() == List{"Subscribe"});
    bench.manager->refresh("a.service");
    bench.settle();
    CHECK(pid1.take() == List{"GetAll a.service"});
    CHECK(bench.take() == List{"a.service loaded active"});
    // and is watched as often as before
    bench.manager->unwatch("a.service");
    pid1.tell_changed("a.service");
    bench.settle();
    CHECK(pid1.take() == List{"GetAll a.service"});
    bench.manager->unwatch("a.service");
    pid1.tell_changed("a.service");
    bench.settle();
    CHECK(pid1.take().empty());
}

TEST_CASE("an order that is lost on its way is told apart from one that is refused", "[manager]")
{
    Bench bench;
    auto& pid1 = bench.connect_directly();
    int code = 0;
    const auto note_code = [&](const auto& job) { code = error_of(job); };
    SECTION("lost")
    {
        pid1.answers = false;
        bench.manager->start("a.service", note_code);
        bench.settle();
        pid1.drop_connections();
        bench.wait_for([&] { return code != 0; });
        CHECK((code == ETIMEDOUT || code == ECONNRESET));
    }
    SECTION("refused")
    {
        pid1.refused["StartUnit a.service replace"] = no_such_unit;
        bench.manager->start("a.service", note_code);
        bench.settle();
        CHECK(code == ENOENT);
    }
}

TEST_CASE("a PID 1 that was executed anew is subscribed to again, and that is told", "[manager]")
{
    Bench bench;
    auto& pid1 = bench.connect_to_bus();
    bench.manager->watch("a.service");
    bench.settle();
    bench.take();
    pid1.take();
    pid1.tell_owner("");
    bench.settle();
    CHECK(bench.take().empty());
    CHECK(pid1.take().empty());
    pid1.tell_owner(":1.9");
    bench.settle();
    CHECK(bench.take() == List{"connected"});
    CHECK(pid1.take() == List{"Subscribe"});
}

TEST_CASE("as many calls as dbus-daemon allows for are on their way", "[manager]")
{
    constexpr int limit = 64;
    Bench bench;
    auto& pid1 = bench.connect_directly();
    pid1.answers = false;
    for (int i = 0; i < limit + 6; i++)
        bench.manager->start("a.service", bench.note("start"));
    bench.settle();
    CHECK(pid1.count("StartUnit a.service replace") == limit);
    pid1.answer_kept();
    bench.settle();
    CHECK(pid1.count("StartUnit a.service replace") == limit + 6);
    CHECK(bench.told.size() == limit + 6);
}

TEST_CASE("calls that fail at once and bring others about are no deep recursion", "[manager]")
{
    Bench bench;
    auto& pid1 = bench.connect_directly();
    pid1.answers = false;
    int left = 100'000;
    int failed = 0;
    std::function<void(const Result<uint32_t>&)> on_job = [&](const auto& job) {
        failed += job.has_value() ? 0 : 1;
        if (left-- > 0)
            bench.manager->start("a.service", on_job);
    };
    bench.manager->start("a.service", on_job);
    bench.settle();
    pid1.drop_connections();
    bench.wait_for([&] { return failed == 100'001; });
}

TEST_CASE("a call for which there is no memory is lost, and not refused", "[manager]")
{
    sd_bus* bus = nullptr;
    REQUIRE(sd_bus_new(&bus) >= 0);
    systemd::Connection connection{systemd::Bus(bus)};
    int code = 0;
    connection.call(nullptr, [&](const auto& reply) { code = error_of(reply); });
    CHECK(systemd::is_lost_on_its_way(Error{code, "systemd"}));
}

// -- units ----------------------------------------------------------------------------------------

TEST_CASE("the state of a unit is told as PID 1 has it", "[manager]")
{
    Bench bench;
    bench.open_direct();
    const UnitState all = {.id = "a.service",
                           .load_state = "loaded",
                           .active_state = "activating",
                           .sub_state = "auto-restart",
                           .file_state = "enabled",
                           .has_job = true,
                           .inactive_exit = 1,
                           .active_exit = 2,
                           .state_change = 3};
    bench.direct->units["a.service"] = all;
    std::optional<UnitState> told;
    auto manager =
        must(Manager::create(bench.event.get(),
                             {.on_connected = [] {},
                              .on_unit = [&](const auto&, const UnitState& state) { told = state; },
                              .on_job = {},
                              .on_anchor_job = {},
                              .on_trouble = [](const auto&) {}},
                             {.bus = bench.run.path("bus"), .direct = bench.run.path("private")}));
    bench.wait_for([&] { return manager->is_connected(); });
    manager->watch("a.service");
    bench.wait_for([&] { return told.has_value(); });
    CHECK(told->id == all.id);
    CHECK(told->load_state == all.load_state);
    CHECK(told->active_state == all.active_state);
    CHECK(told->sub_state == all.sub_state);
    CHECK(told->file_state == all.file_state);
    CHECK(told->has_job);
    CHECK(told->inactive_exit == 1);
    CHECK(told->active_exit == 2);
    CHECK(told->state_change == 3);
}

TEST_CASE("a watched unit that changes is asked for, and one that is asked for once more",
          "[manager]")
{
    Bench bench;
    auto& pid1 = bench.connect_directly();
    bench.manager->watch("a.service");
    CHECK_FALSE(bench.manager->is_current("a.service"));
    bench.settle();
    CHECK(bench.manager->is_current("a.service"));
    CHECK_FALSE(bench.manager->is_current("b.service"));
    pid1.answers = false;
    for (int i = 0; i < 3; i++)
        pid1.tell_changed("a.service");
    pid1.tell_changed("b.service");
    bench.settle();
    CHECK_FALSE(bench.manager->is_current("a.service"));
    CHECK(pid1.take() == List{"GetAll a.service", "GetAll a.service"});
    bench.take();
    pid1.units["a.service"] = active("a.service");
    pid1.answer_kept();
    bench.wait_for([&] { return !pid1.asked.empty(); });
    CHECK_FALSE(bench.manager->is_current("a.service"));
    bench.settle();
    CHECK(bench.manager->is_current("a.service"));
    // the first reply may be older than the last change
    CHECK(pid1.take() == List{"GetAll a.service"});
    CHECK(bench.take() == List{"a.service loaded active"});
}

TEST_CASE("a change of a unit is told once, whatever its type", "[manager]")
{
    Bench bench;
    auto& pid1 = bench.connect_directly();
    const auto* const unit = GENERATE("a.service", "b.target");
    bench.manager->watch("a.service");
    bench.manager->watch("b.target");
    bench.settle();
    pid1.take();
    pid1.tell_changed(unit);
    bench.settle();
    CHECK(pid1.take() == List{"GetAll "s + unit});
}

TEST_CASE("of a bus no more changes are asked for than those of what is watched", "[manager]")
{
    Bench bench;
    auto& pid1 = bench.connect_to_bus();
    const auto changes = [&] {
        List interfaces;
        for (const auto& rule : std::exchange(pid1.matches, {}))
            if (rule.find("PropertiesChanged") != std::string::npos)
                interfaces.push_back(rule.substr(rule.find("arg0=")));
        return interfaces;
    };
    // PID 1 reports each of the many units of a device that appears
    CHECK(changes().empty());
    bench.manager->watch("a.service");
    bench.manager->watch("b.service");
    bench.settle();
    CHECK(changes() == List{"arg0='org.freedesktop.systemd1.Service'"});
    bench.manager->watch("c.target");
    bench.settle();
    CHECK(changes() == List{"arg0='org.freedesktop.systemd1.Unit'"});
}

TEST_CASE("a unit is watched until each who watched it has ended that", "[manager]")
{
    Bench bench;
    auto& pid1 = bench.connect_directly();
    bench.manager->unwatch("a.service");
    bench.manager->watch("a.service");
    bench.manager->watch("a.service");
    bench.manager->watch("b.service");
    bench.settle();
    bench.manager->unwatch("a.service");
    bench.settle();
    pid1.take();
    bench.take();
    pid1.tell_changed("a.service");
    pid1.tell_job_removed(5, "a.service", "failed");
    bench.settle();
    CHECK(pid1.take() == List{"GetAll a.service"});
    CHECK(bench.take().size() == 2);

    pid1.answers = false;
    bench.manager->refresh("a.service");
    bench.settle();
    bench.manager->unwatch("a.service");
    pid1.answer_kept();
    pid1.tell_changed("a.service");
    pid1.tell_job_removed(6, "a.service", "done");
    bench.manager->refresh("a.service");
    bench.settle();
    CHECK(pid1.take() == List{"GetAll a.service"});
    CHECK(bench.take().empty());
    pid1.tell_changed("b.service");
    bench.settle();
    CHECK(pid1.take() == List{"GetAll b.service"});
}

TEST_CASE("a unit that is watched by an alias is followed by its own name", "[manager]")
{
    Bench bench;
    auto& pid1 = bench.connect_directly();
    pid1.units["alias.service"] = active("a.service");
    bench.manager->watch("alias.service");
    bench.settle();
    // what became of it before its name was known was not told
    CHECK(pid1.take() == List{"GetAll alias.service", "GetAll alias.service"});
    bench.take();
    pid1.tell_changed("a.service");
    pid1.tell_job_removed(5, "a.service", "done");
    bench.settle();
    CHECK(pid1.take() == List{"GetAll alias.service"});
    CHECK(bench.take() == List{"job 5 of alias.service done", "alias.service loaded active"});
    bench.manager->unwatch("alias.service");
    pid1.tell_changed("a.service");
    pid1.tell_job_removed(5, "a.service", "done");
    bench.settle();
    CHECK(pid1.take().empty());
    CHECK(bench.take().empty());
}

TEST_CASE("a state that PID 1 cannot tell is asked for again, less and less often", "[manager]")
{
    Bench bench;
    auto& pid1 = bench.connect_directly();
    const auto asked_at = [&](int64_t times) {
        bench.wait_for([&] { return pid1.count("GetAll a.service") == times; });
        return SteadyClock::now();
    };
    pid1.units["a.service"] = active("a.service");
    pid1.refused["GetAll a.service"] = no_reply;
    bench.manager->watch("a.service");
    const auto first = asked_at(1);
    const auto second = asked_at(2);
    const auto third = asked_at(3);
    bench.settle();
    CHECK_FALSE(bench.manager->is_current("a.service"));
    CHECK(second - first >= 900ms);
    CHECK(third - second >= 1900ms);
    pid1.refused.clear();
    pid1.tell_changed("a.service");
    bench.settle();
    CHECK(bench.take() == List{"! a.service: PID 1 refuses", "a.service loaded active"});
    CHECK(bench.manager->is_current("a.service"));
    // and that is over, as is what is said about it
    pid1.refused["GetAll a.service"] = no_reply;
    bench.manager->refresh("a.service");
    bench.settle();
    CHECK(bench.take() == List{"! a.service: PID 1 refuses"});
}

TEST_CASE("a unit that PID 1 does not know is not found, and not asked for again", "[manager]")
{
    Bench bench;
    auto& pid1 = bench.connect_directly();
    pid1.refused = {{"GetAll a.service", "org.freedesktop.DBus.Error.UnknownObject"},
                    {"GetAll b.service", no_such_unit},
                    {"GetAll c@.service", "org.freedesktop.DBus.Error.InvalidArgs"},
                    {"GetAll d.service", no_reply}};
    for (const auto* unit : {"a.service", "b.service", "c@.service", "d.service"})
        bench.manager->watch(unit);
    bench.wait_for([&] { return pid1.count("GetAll d.service") == 2; });
    bench.settle();
    CHECK(pid1.asked.size() == 5);
    CHECK(bench.take() == List{"a.service not-found inactive", "b.service not-found inactive",
                               "c@.service not-found inactive", "! d.service: PID 1 refuses"});
    // until it is there
    pid1.refused.clear();
    pid1.units["a.service"] = active("a.service");
    pid1.tell_changed("a.service");
    bench.settle();
    CHECK(bench.take() == List{"a.service loaded active"});
}

TEST_CASE("after a daemon-reload all watched units are asked for", "[manager]")
{
    Bench bench;
    auto& pid1 = bench.connect_directly();
    bench.manager->watch("a.service");
    bench.manager->watch("b.service");
    bench.settle();
    pid1.take();
    pid1.tell_reloading(true);
    bench.settle();
    CHECK(pid1.take().empty());
    pid1.tell_reloading(false);
    bench.settle();
    CHECK(pid1.take() == List{"GetAll a.service", "GetAll b.service"});
}

TEST_CASE("a signal that is for rdmad alone is not PID 1's", "[manager]")
{
    Bench bench;
    auto& pid1 = GENERATE(true, false) ? bench.connect_to_bus() : bench.connect_directly();
    bench.manager->watch("a.service");
    bench.settle();
    bench.take();
    pid1.tell_job_removed(5, "a.service", "done", true);
    bench.settle();
    CHECK(bench.take().empty());
    pid1.tell_job_removed(5, "a.service", "done");
    bench.settle();
    CHECK(bench.take() == List{"job 5 of a.service done"});
}

// -- orders ---------------------------------------------------------------------------------------

TEST_CASE("an order gets the number of its job, or why there is none", "[manager]")
{
    Bench bench;
    auto& pid1 = bench.connect_directly();
    pid1.refused["StartUnit b.service replace"] = "org.freedesktop.systemd1.UnitMasked";
    bench.manager->start("a.service", bench.note("start"));
    bench.manager->stop("a.service", bench.note("stop"));
    bench.manager->start("b.service", bench.note("masked"));
    pid1.refused["StopUnit gone.slice ignore-requirements"] = "org.freedesktop.systemd1.NoSuchUnit";
    pid1.refused["StopUnit kept.slice ignore-requirements"] = "org.freedesktop.DBus.Error.NoMemory";
    for (const auto* name : {anchor_name, "gone.slice", "kept.slice"})
        bench.manager->drop_anchor(name, bench.note(name));
    bench.settle();
    CHECK(pid1.take() == List{"StartUnit a.service replace", "StopUnit a.service replace",
                              "StartUnit b.service replace",
                              "StopUnit "s + anchor_name + " ignore-requirements",
                              "StopUnit gone.slice ignore-requirements",
                              "StopUnit kept.slice ignore-requirements"});
    CHECK(bench.take() == List{"start is job 17", "stop is job 18", "masked failed: PID 1 refuses",
                               anchor_name + " is done"s, "gone.slice is done",
                               "kept.slice failed: PID 1 refuses"});
}

TEST_CASE("the end of a readiness target's job is told, though nobody watches it", "[manager]")
{
    Bench bench;
    auto& pid1 = bench.connect_directly();
    pid1.tell_job_removed(20, "rdma-port-ready@0002c90300000a01.target", "canceled");
    pid1.tell_job_removed(21, "other.target", "canceled");
    bench.settle();
    CHECK(bench.take() == List{"job 20 of rdma-port-ready@0002c90300000a01.target canceled"});
    // nor twice
    bench.manager->watch("rdma-port-ready@0002c90300000a01.target");
    bench.settle();
    bench.take();
    pid1.tell_job_removed(22, "rdma-port-ready@0002c90300000a01.target", "done");
    bench.settle();
    const auto told = bench.take();
    CHECK(std::count(told.begin(), told.end(),
                     "job 22 of rdma-port-ready@0002c90300000a01.target done") == 1);
}

TEST_CASE("an anchor is done when its own job is", "[manager]")
{
    Bench bench;
    auto& pid1 = bench.connect_directly();
    const auto* result = GENERATE("done", "timeout");
    bench.manager->start_anchor(anchor(), bench.note("anchor"));
    bench.settle();
    CHECK(pid1.take() == List{make_anchor + "After=dev-uverbs1.device PropagatesStopTo=a.service "
                                            "Before=a.service"});
    // that of the anchor before it, which stops
    pid1.tell_job_removed(16, anchor_name, "done");
    bench.settle();
    CHECK(bench.take().empty());
    pid1.tell_job_removed(17, anchor_name, result);
    bench.settle();
    CHECK(bench.take() == (result == "done"s
                               ? List{"anchor is done"}
                               : List{"anchor failed: "s + anchor_name + ": timeout"}));
    // and what becomes of it later is told by its name
    pid1.tell_job_removed(18, anchor_name, "done");
    bench.settle();
    CHECK(bench.take() == List{anchor_name});
}

TEST_CASE("a keeper does nothing but mention its unit", "[manager]")
{
    Bench bench;
    auto& pid1 = bench.connect_directly();
    const auto name = systemd::keeper_name("a.service");
    bench.manager->start_anchor({.name = name, .description = "bound", .unit = "a.service"},
                                bench.note("keeper"));
    bench.settle();
    CHECK(pid1.take() ==
          List{"StartTransientUnit " + name + " replace Description=bound After=a.service"});
    pid1.tell_job_removed(17, name, "done");
    pid1.tell_job_removed(18, name, "done");
    bench.settle();
    CHECK(bench.take() == List{"keeper is done", name});
}

TEST_CASE("an anchor that PID 1 refuses is told at once", "[manager]")
{
    Bench bench;
    auto& pid1 = bench.connect_directly();
    pid1.refused[make_anchor + "After=dev-uverbs1.device PropagatesStopTo=a.service "
                               "Before=a.service"] = unit_exists;
    bench.manager->start_anchor(anchor(), bench.note("anchor"));
    bench.settle();
    CHECK(bench.take() == List{"anchor failed: PID 1 refuses"});
}

TEST_CASE("an anchor makes its group, unless that is there", "[manager]")
{
    Bench bench;
    auto& pid1 = bench.connect_directly();
    SECTION("it is not there")
    {
        bench.manager->start_anchor(anchor_of_group(), bench.note("anchor"));
        bench.settle();
        CHECK(pid1.take() == List{make_with_group});
        CHECK(bench.take().empty());
    }
    SECTION("it is there")
    {
        pid1.refused[make_with_group] = unit_exists;
        bench.manager->start_anchor(anchor_of_group(), bench.note("anchor"));
        bench.settle();
        CHECK(pid1.take() == List{make_with_group, make_member});
        CHECK(bench.take().empty());
    }
    SECTION("it ends between the two")
    {
        pid1.refused[make_with_group] = unit_exists;
        pid1.refused[make_member] = no_such_unit;
        pid1.answers = false;
        bench.manager->start_anchor(anchor_of_group(), bench.note("anchor"));
        bench.settle();
        pid1.answer_kept();
        pid1.answers = false;
        bench.settle();
        pid1.refused.erase(make_with_group);
        pid1.answer_kept();
        bench.settle();
        CHECK(pid1.take() == List{make_with_group, make_member, make_with_group});
        CHECK(bench.take().empty());
    }
    pid1.tell_job_removed(17, anchor_name, "done");
    bench.settle();
    CHECK(bench.take() == List{"anchor is done"});
}

TEST_CASE("an anchor that waits is taken back by its job, known or not", "[manager]")
{
    Bench bench;
    auto& pid1 = bench.connect_directly();
    const bool is_known = GENERATE(true, false);
    bench.manager->cancel_anchor(anchor_name);
    pid1.answers = is_known;
    bench.manager->start_anchor(anchor(), bench.note("anchor"));
    bench.settle();
    bench.manager->cancel_anchor(anchor_name);
    pid1.answer_kept();
    bench.settle();
    CHECK(pid1.take().back() == "CancelJob 17");
    pid1.tell_job_removed(17, anchor_name, "canceled");
    bench.settle();
    CHECK(bench.take() == List{"anchor failed: "s + anchor_name + ": canceled"});
}

TEST_CASE("anchors are listed that are up, or start or stop, and the end of a start is told",
          "[manager]")
{
    Bench bench;
    auto& pid1 = bench.connect_directly();
    pid1.listed = {{"up.slice", "active"},
                   {"stopping.slice", "active", 20, "stop"},
                   {"restarting.slice", "active", 21, "restart"},
                   {"rdmad-a.service:2:uverbs2.slice", "inactive", 22, "start"},
                   {"gone.slice", "inactive"}};
    std::optional<Manager::Anchors> listed;
    const auto take = [&](const Result<Manager::Anchors>& anchors) { listed = must(anchors); };
    bench.manager->list_anchors(take);
    bench.settle();
    CHECK(pid1.take() == List{"ListUnitsByPatterns rdmad-*.slice"});
    using State = Manager::AnchorState;
    const Manager::Anchors expected = {{"up.slice", State::up},
                                       {"stopping.slice", State::stopping},
                                       {"restarting.slice", State::up},
                                       {"rdmad-a.service:2:uverbs2.slice", State::starting}};
    CHECK(listed == expected);
    bench.manager->cancel_anchor("rdmad-a.service:2:uverbs2.slice");
    bench.settle();
    CHECK(pid1.take() == List{"CancelJob 22"});
    pid1.tell_job_removed(22, "rdmad-a.service:2:uverbs2.slice", "canceled");
    bench.settle();
    CHECK(bench.take() == List{"rdmad-a.service:2:uverbs2.slice"});
}

TEST_CASE("an anchor that is up is not waited for, though the end of its job was not heard",
          "[manager]")
{
    Bench bench;
    auto& pid1 = bench.connect_directly();
    bench.manager->start_anchor(anchor(), bench.note("anchor"));
    bench.settle();
    pid1.listed = {{anchor_name, "active"}};
    bench.manager->list_anchors([](const auto&) {});
    bench.settle();
    pid1.take();
    bench.manager->cancel_anchor(anchor_name);
    bench.settle();
    CHECK(pid1.take().empty());
}
