// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/text.hpp"
#include "core/config/folders.hpp"
#include "daemon/api/api.hpp"
#include "tests/support/captured_sysfs.hpp"
#include "tests/support/failing_allocation.hpp"
#include "tests/support/fake_pid1.hpp"
#include "tests/support/must.hpp"
#include "tests/support/replay_transport.hpp"
#include "tests/support/varlink_client.hpp"

#include <algorithm>
#include <filesystem>

using namespace rdmad;
using namespace rdmad::test;
using varlink::Json;
using Mode = recovery::Order::Mode;

namespace {

using List = std::vector<std::string>;

constexpr uint32_t opa = 1;
constexpr char opa_guid[] = "0011750101000001";
constexpr lifecycle::Time second = 1'000'000;

/// Everything of rdmad that its clients can reach, on the devices of a capture. A client is another
/// end of a socket.
struct Bench {
    FixtureTree sys;
    FixtureTree run;
    CapturedKernel kernel{"7.2"};
    nldev::Client client_of_kernel{kernel};
    sysfs::Directory root = sys.root();
    FakePid1 pid1;
    lifecycle::Time now = 1000 * second;
    int looks = 0;   ///< at the states of ports
    int reloads = 0; ///< of binding files
    int works = 0;
    List monitors = {}; ///< after each change: whether one wants to see port states
    HolderReport holders = {};
    Bindings bindings{run.path()};
    Inventory inventory{client_of_kernel, root,
                        [this](const DeviceChange& change) { on_device(change); }};
    lifecycle::Lifecycle lives{root,
                               lifecycle::Histories(run.path("devices")),
                               lifecycle::Settings(),
                               [this] { return now; },
                               {.on_change =
                                    [this](const auto& history, const auto& change) {
                                        supervisor.on_obstacle(history.life.index);
                                        api.on_life(history, change);
                                    },
                                .on_plan = [] {},
                                .on_trouble = [](const Error&) {}}};
    Supervisor supervisor{
        inventory,
        bindings,
        config::Facts(),
        {run.path("units"), run.path("bound")},
        {.on_unit = [this](const auto& name, const auto& unit) { api.on_unit(name, unit); },
         .obstacle = [this](uint32_t index, const auto&) { return lives.obstacle(index, {}); },
         .is_removing = [](uint32_t) { return false; },
         .on_work = [] {}}};
    recovery::Recovery recovery{run.path("recovery"),
                                {},
                                {.on_report = [](const auto&) {},
                                 .on_wait = [](const auto&) {},
                                 .may_have_work = [] { return true; },
                                 .on_plan = [] {}}};
    Inhibitors inhibitors;
    Preparations preparations{
        inhibitors,
        30 * second,
        {.device =
             [this](uint32_t index) {
                 const auto found = inventory.devices().find(index);
                 return found == inventory.devices().end() ? nullptr : &found->second;
             },
         .nodes = [](const Device& device) { return nodes_of(device); },
         .contexts = [](const Device&) { return Result<uint64_t>(0U); },
         .drain = [this](uint32_t index) { lives.drain(index); },
         .resume = [this](uint32_t index) { lives.resume(index); },
         .stop = [this](uint32_t index, auto& asked) { return supervisor.drain(index, asked); },
         .look = [this](uint32_t, const auto& on_found) { on_found(Users{.processes = holders}); },
         .clock = [this] { return now; }}};
    Place place;
    Event event = new_event();
    varlink::Server server{event.get(),
                           {.vendor = "V", .product = "P", .version = "1", .url = "http://u/"}};
    api::Api api{server,
                 inventory,
                 bindings,
                 supervisor,
                 lives,
                 inhibitors,
                 preparations,
                 recovery,
                 config::Facts(),
                 [this] { reload(); },
                 [this] { looks++; },
                 [this] { works++; }};

    Bench()
    {
        add_captured_devices(sys);
        run.directory("run");
        api.on_monitors_changed(
            [this] { monitors.emplace_back(api.wants_port_states() ? "polls" : "does not"); });
        supervisor.use(&pid1);
        recovery.use(&pid1);
        supervisor.on_connected();
        must(inventory.resync({}));
        tell("add", 0, "mixed");
        plug(opa);
        tell("add", 3, "siw");
        REQUIRE(server.listen(place.listening()).has_value());
    }
    ~Bench()
    {
        server.end();
    }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    void on_device(const DeviceChange& change)
    {
        lives.on_device(change);
        supervisor.on_device(change);
        api.on_device(change);
    }
    void reload()
    {
        reloads++;
        const auto changes = bindings.read();
        supervisor.on_bindings();
        for (const auto& [name, change] : changes)
            api.on_binding(name, change);
    }
    void bind(const std::string& name, const std::string& text)
    {
        run.file("etc/rdmad/binding.d/" + name, text);
        reload();
    }
    /// As udev tells of a device and its uverbs node.
    void tell(const std::string& action, uint32_t index, const std::string& name)
    {
        const auto node = "uverbs" + std::to_string(index);
        const auto function = "/sys/devices/pci0000:00/0000:0" + std::to_string(index) + ":00.0/";
        inventory.handle({.action = action,
                          .subsystem = "infiniband_verbs",
                          .node = {node, function + "infiniband_verbs/" + node, 500},
                          .index = index});
        inventory.handle({.action = action,
                          .subsystem = "infiniband",
                          .node = {name, function + "infiniband/" + name},
                          .index = index});
    }
    void plug(uint32_t index)
    {
        tell("add", index, "opa");
    }
    /// Does all that can be done now.
    void settle()
    {
        do {
            supervisor.settle();
            preparations.advance();
        } while (sd_event_run(event.get(), 0) > 0);
    }
    Client client(uid_t uid = 0)
    {
        Client client(uid == 0 ? place.connected() : place.connected_as(uid));
        settle();
        return client;
    }
    void call(const Client& client, const std::string& method, const Json& parameters,
              const std::string& flags = "")
    {
        client.call("io.rdmad." + method, ",\"parameters\":" + parameters.dump() + flags);
        settle();
    }
    void call_for_more(const Client& client, const std::string& method,
                       const Json& parameters = Json::object())
    {
        call(client, method, parameters, ",\"more\":true");
    }
    static std::vector<Json> replies(Client& client)
    {
        std::vector<Json> all;
        for (const auto& text : client.replies())
            all.push_back(Json::parse(text));
        return all;
    }
    /// What all replies carry.
    static std::vector<Json> parameters(Client& client)
    {
        std::vector<Json> all;
        for (const auto& reply : replies(client))
            all.push_back(reply.at("parameters"));
        return all;
    }
    /// The one reply to a call.
    Json ask(const std::string& method, const Json& parameters = Json::object(), uid_t uid = 0)
    {
        auto client = this->client(uid);
        call(client, method, parameters);
        const auto all = replies(client);
        REQUIRE(all.size() == 1);
        return all[0];
    }
    List names_of(const Json& parameters)
    {
        const auto reply = ask("Devices.List", parameters);
        List names;
        for (const auto& device : reply.at("parameters").at("devices"))
            names.push_back(device.at("name"));
        return names;
    }
    [[nodiscard]] std::string node_guid() const
    {
        return text::format_guid(inventory.devices().at(opa).node_guid);
    }
    List bound_files() const
    {
        List names;
        for (const auto& file : bindings.files())
            names.push_back(file.name);
        return names;
    }
};

Json error(const std::string& name, const Json& parameters = Json::object())
{
    return {{"error", name}, {"parameters", parameters}};
}

Json wrong(const std::string& parameter)
{
    return error("org.varlink.service.InvalidParameter", {{"parameter", parameter}});
}

Json reply(const Json& parameters)
{
    return {{"parameters", parameters}};
}

List kinds(const std::vector<Json>& events)
{
    List all;
    for (const auto& event : events)
        all.push_back(event.at("event"));
    return all;
}

/// Those of one kind.
std::vector<Json> only(const std::string& kind, std::vector<Json> events)
{
    std::erase_if(events, [&](const Json& event) { return event.at("event") != kind; });
    return events;
}

constexpr char opa_file[] = "[Match]\nPortGUID=0011750101000001\n[Binding]\nUnit=a.service\n";

} // namespace

TEST_CASE("devices are listed by their names and GUIDs", "[api]")
{
    Bench bench;
    CHECK(bench.names_of(Json::object()) == List{"mixed", "opa", "siw"});
    CHECK(bench.names_of({{"device", nullptr}}).size() == 3);
    for (const auto& name : {std::string("opa"), std::string(opa_guid), bench.node_guid()})
        CHECK(bench.names_of({{"device", name}}) == List{"opa"});
    // states of ports are looked at for each
    CHECK(bench.looks == 5);
    CHECK(bench.ask("Devices.List", {{"device", "none"}}) ==
          error("io.rdmad.Devices.NoSuchDevice", {{"device", "none"}}));
    CHECK(bench.ask("Devices.List", {{"device", 7}}) == wrong("device"));
    const auto device =
        bench.ask("Devices.List", {{"device", "opa"}}).at("parameters").at("devices").at(0);
    CHECK(device.at("uverbs") == "uverbs1");
    CHECK(device.at("ports").at(0).at("guid") == opa_guid);
    CHECK(device.at("life").at("device") == "opa");
}

TEST_CASE("a monitor has to want more, and says in a word whether ports are looked at", "[api]")
{
    Bench bench;
    CHECK(bench.ask("Devices.Monitor") == error("org.varlink.service.ExpectedMore"));
    auto wrong_type = bench.client();
    bench.call_for_more(wrong_type, "Devices.Monitor", {{"pollPorts", 1}});
    CHECK(Bench::replies(wrong_type) == std::vector{wrong("pollPorts")});
    CHECK(bench.monitors.empty());

    auto plain = bench.client();
    bench.call_for_more(plain, "Devices.Monitor", {{"pollPorts", nullptr}});
    CHECK_FALSE(bench.api.wants_port_states());
    auto polling = bench.client();
    bench.call_for_more(polling, "Devices.Monitor", {{"pollPorts", true}});
    CHECK(bench.api.wants_port_states());
    polling.hang_up();
    bench.settle();
    CHECK_FALSE(bench.api.wants_port_states());
    CHECK(bench.monitors == List{"does not", "polls", "does not"});
}

TEST_CASE("a monitor gets a snapshot, and then each change", "[api]")
{
    Bench bench;
    auto watcher = bench.client(stranger);
    bench.call_for_more(watcher, "Devices.Monitor");
    const auto first = Bench::parameters(watcher);
    REQUIRE(kinds(first) == List{"snapshot"});
    CHECK(first[0].at("devices").size() == 3);

    bench.bind("50-a.binding", opa_file);
    bench.supervisor.on_unit("a.service", {.load_state = "loaded", .active_state = "active"});
    bench.settle();
    auto events = Bench::parameters(watcher);
    REQUIRE(only("binding", events).size() == 1);
    CHECK(only("binding", events)[0].at("binding") == "50-a.binding");
    CHECK(only("binding", events)[0].at("change") == "added");
    REQUIRE_FALSE(only("unit", events).empty());
    CHECK(only("unit", events)[0].at("unit") == "a.service");
    CHECK(only("unit", events)[0].at("unitState") == "active");

    // what did not change is not told
    bench.supervisor.on_unit("a.service", {.load_state = "loaded", .active_state = "active"});
    bench.settle();
    CHECK(Bench::parameters(watcher).empty());

    must(bench.client_of_kernel.rename(opa, "fabric"));
    bench.sys.rename("class/infiniband/opa", "class/infiniband/fabric");
    bench.tell("move", opa, "fabric");
    bench.settle();
    const auto renames = only("rename", Bench::parameters(watcher));
    REQUIRE(renames.size() == 1);
    CHECK(renames[0].at("oldName") == "opa");
    CHECK(renames[0].at("device").at("name") == "fabric");

    bench.kernel.remove(opa);
    bench.sys.remove("class/infiniband/fabric");
    bench.tell("remove", opa, "fabric");
    bench.settle();
    events = Bench::parameters(watcher);
    REQUIRE(only("remove", events).size() == 1);
    CHECK(only("remove", events)[0].at("device").at("name") == "fabric");
    const auto lives = only("life", events);
    REQUIRE_FALSE(lives.empty());
    CHECK(lives.back().at("change") == "state");
    CHECK(lives.back().at("life").at("state") == "grace");

    bench.kernel.return_as(opa, 7);
    bench.sys.rdma_device("fabric", "fe80:0000:0000:0000:0011:7501:0100:0001");
    bench.tell("add", 7, "fabric");
    bench.settle();
    events = Bench::parameters(watcher);
    REQUIRE(only("add", events).size() == 1);
    CHECK(only("add", events)[0].at("device").at("index") == 7);

    bench.api.on_lost();
    bench.settle();
    const auto last = Bench::parameters(watcher);
    REQUIRE(kinds(last) == List{"lost"});
    CHECK(last[0].at("devices").size() == 3);
    // none was left out
    CHECK(last[0].at("sequence").get<uint64_t>() > events.back().at("sequence").get<uint64_t>());
}

TEST_CASE("events are numbered without a gap", "[api]")
{
    Bench bench;
    auto watcher = bench.client();
    bench.call_for_more(watcher, "Devices.Monitor");
    uint64_t number = Bench::parameters(watcher).at(0).at("sequence");
    for (int i = 0; i < 3; i++)
        bench.bind("50-a.binding", std::string(opa_file) + "#" + std::to_string(i) + "\n");
    bench.kernel.remove(opa);
    bench.tell("remove", opa, "opa");
    bench.settle();
    const auto events = Bench::parameters(watcher);
    CHECK(events.size() > 3);
    for (const auto& event : events)
        CHECK(event.at("sequence") == ++number);
}

TEST_CASE("a monitor that is too slow gets a snapshot when it has room", "[api]")
{
    Bench bench;
    auto watcher = bench.client();
    bench.call_for_more(watcher, "Devices.Monitor");
    constexpr int count = 200;
    for (int i = 0; i < count; i++)
        bench.api.on_binding(std::string(100'000, 'x'), "added");
    // no small one comes before the snapshot, though there may be room for it
    bench.api.on_binding("small", "added");
    bench.kernel.remove(opa);
    bench.tell("remove", opa, "opa");
    std::vector<Json> events;
    for (bool has_more = true; has_more;) {
        bench.settle();
        const auto more = Bench::parameters(watcher);
        events.insert(events.end(), more.begin(), more.end());
        has_more = !more.empty();
    }
    CHECK(events.size() < count);
    const auto is_small = [](const Json& event) { return event.value("binding", "") == "small"; };
    CHECK(std::none_of(events.begin(), events.end(), is_small));
    CHECK(only("remove", events).empty());
    CHECK(events.back().at("event") == "lost");
    CHECK(events.back().at("devices").size() == 2);
    // and follows from there
    bench.kernel.return_as(opa, 7);
    bench.plug(7);
    bench.settle();
    CHECK(only("add", Bench::parameters(watcher)).size() == 1);
}

TEST_CASE("only root changes something", "[api]")
{
    Bench bench;
    bench.bind("50-a.binding", opa_file);
    bench.settle();
    bench.pid1.take();
    bench.reloads = 0;
    for (const auto* method : {"Lifecycle.Release", "Lifecycle.Accept", "Lifecycle.Prepare",
                               "Lifecycle.Resume", "Lifecycle.Recover", "Lifecycle.Inhibit",
                               "Bindings.Add", "Bindings.Remove", "Bindings.Reload"}) {
        INFO(method);
        const Json parameters = {{"device", "opa"}, {"unit", "a.service"}, {"who", "x"},
                                 {"why", "y"},      {"mode", "block"},     {"portGuid", opa_guid}};
        CHECK(bench.ask(method, parameters, stranger) ==
              error("org.varlink.service.PermissionDenied"));
        auto client = bench.client(stranger);
        bench.call_for_more(client, method, parameters);
        CHECK(Bench::replies(client) == std::vector{error("org.varlink.service.PermissionDenied")});
    }
    CHECK(bench.reloads == 0);
    CHECK(bench.works == 0);
    CHECK(bench.pid1.take().empty());
    CHECK(bench.inhibitors.all().empty());
    CHECK(bench.lives.obstacle(opa, {}).reason.empty());
}

// What follows is for root; the kernel tells who a client is.

TEST_CASE("an order for a device names one that there is", "[api]")
{
    if (!can_be_several_users())
        return;
    Bench bench;
    for (const auto* method :
         {"Lifecycle.Release", "Lifecycle.Accept", "Lifecycle.Prepare", "Lifecycle.Resume"}) {
        INFO(method);
        CHECK(bench.ask(method) == wrong("device"));
        CHECK(bench.ask(method, {{"device", 7}}) == wrong("device"));
        CHECK(bench.ask(method, {{"device", "none"}}) ==
              error("io.rdmad.Lifecycle.NoSuchDevice", {{"device", "none"}}));
    }
    CHECK(bench.ask("Lifecycle.Release", {{"device", opa_guid}}) == reply(Json::object()));
    CHECK(bench.ask("Lifecycle.Accept", {{"device", "opa"}}) == reply(Json::object()));

    // its twin has the same GUIDs
    bench.kernel.copy(opa, 9);
    bench.tell("add", 9, "twin");
    for (const auto* method : {"Lifecycle.Prepare", "Lifecycle.Resume"})
        CHECK(bench.ask(method, {{"device", opa_guid}}).at("error") ==
              "io.rdmad.Lifecycle.Ambiguous");
    CHECK(bench.ask("Lifecycle.Release", {{"device", opa_guid}}) == reply(Json::object()));
}

TEST_CASE("a preparation tells its steps, and is undone", "[api]")
{
    if (!can_be_several_users())
        return;
    Bench bench;
    bench.bind("50-a.binding", opa_file);
    bench.supervisor.on_unit("a.service", {.load_state = "loaded", .active_state = "active"});
    bench.settle();
    CHECK(bench.ask("Lifecycle.Prepare", {{"device", "opa"}, {"ignoreInhibitors", 1}}) ==
          wrong("ignoreInhibitors"));

    auto client = bench.client();
    bench.call_for_more(client, "Lifecycle.Prepare", {{"device", "opa"}});
    CHECK(bench.works == 1);
    auto steps = Bench::parameters(client);
    REQUIRE(steps.size() == 1);
    CHECK(steps[0].at("stage") == "stopping");
    CHECK(steps[0].at("units") == Json{"a.service"});
    CHECK(bench.ask("Lifecycle.Prepare", {{"device", "opa"}}) ==
          error("io.rdmad.Lifecycle.Busy", {{"device", "opa"}}));

    bench.supervisor.on_job("a.service", 18, "done");
    bench.supervisor.on_unit("a.service", {.load_state = "loaded",
                                           .active_state = "inactive",
                                           .active_exit = 2000,
                                           .state_change = 2000});
    bench.settle();
    const auto all = Bench::replies(client);
    REQUIRE(all.size() == 1);
    CHECK(all[0].at("parameters").at("stage") == "safe");
    CHECK_FALSE(all[0].contains("continues"));
    CHECK_FALSE(bench.lives.obstacle(opa, {}).reason.empty());

    CHECK(bench.ask("Lifecycle.Resume", {{"device", opa_guid}}) == reply(Json::object()));
    CHECK(bench.lives.obstacle(opa, {}).reason.empty());
    // of one that is not prepared it does nothing
    CHECK(bench.ask("Lifecycle.Resume", {{"device", "opa"}}) == reply(Json::object()));
}

TEST_CASE("a preparation that comes to nothing has the error that says why", "[api]")
{
    if (!can_be_several_users())
        return;
    Bench bench;
    SECTION("somebody has it open")
    {
        bench.holders.holders = {{.pid = 9, .command = "sleep", .nodes = {"uverbs1"}}};
        auto client = bench.client();
        bench.call(client, "Lifecycle.Prepare", {{"device", "opa"}});
        std::vector<Json> all;
        // it is looked at several times
        for (int i = 0; i < 100 && all.empty(); i++) {
            bench.now += second;
            bench.settle();
            all = Bench::replies(client);
        }
        REQUIRE(all.size() == 1);
        CHECK(all[0].at("error") == "io.rdmad.Lifecycle.InUse");
        CHECK(all[0].at("parameters").at("holders").at(0).at("pid") == 9);
        CHECK_FALSE(all[0].at("parameters").contains("stage"));
    }
    SECTION("somebody inhibits it")
    {
        bench.inhibitors.add({"opa", "backup", "it runs", Inhibitor::Mode::block}, [](auto&) {});
        const auto refused = bench.ask("Lifecycle.Prepare", {{"device", "opa"}});
        CHECK(refused.at("error") == "io.rdmad.Lifecycle.Inhibited");
        CHECK(refused.at("parameters").at("inhibitors").at(0).at("who") == "backup");
        CHECK(bench.ask("Lifecycle.Prepare", {{"device", "opa"}, {"ignoreInhibitors", true}})
                  .at("parameters")
                  .at("stage") == "safe");
    }
    SECTION("somebody undoes it, or the device goes")
    {
        bench.inhibitors.add({"opa", "backup", "it runs", Inhibitor::Mode::delay}, [](auto&) {});
        auto client = bench.client();
        bench.call(client, "Lifecycle.Prepare", {{"device", "opa"}});
        CHECK(Bench::replies(client).empty());
        const bool is_undone = GENERATE(true, false);
        if (is_undone) {
            (void)bench.ask("Lifecycle.Resume", {{"device", "opa"}});
        } else {
            bench.kernel.remove(opa);
            bench.tell("remove", opa, "opa");
            bench.settle();
        }
        CHECK(Bench::replies(client) ==
              std::vector{error(is_undone ? "io.rdmad.Lifecycle.Resumed"
                                          : "io.rdmad.Lifecycle.NoSuchDevice",
                                {{"device", "opa"}})});
    }
    SECTION("its client hangs up before anything was stopped")
    {
        bench.inhibitors.add({"opa", "backup", "it runs", Inhibitor::Mode::delay}, [](auto&) {});
        auto client = bench.client();
        bench.call(client, "Lifecycle.Prepare", {{"device", "opa"}});
        client.hang_up();
        bench.settle();
        CHECK(bench.lives.obstacle(opa, {}).reason.empty());
        CHECK(bench.ask("Lifecycle.Prepare", {{"device", "opa"}, {"ignoreInhibitors", true}})
                  .at("parameters")
                  .at("stage") == "safe");
    }
}

TEST_CASE("an inhibitor is there as long as its client", "[api]")
{
    if (!can_be_several_users())
        return;
    Bench bench;
    const Json whole = {
        {"device", "opa"}, {"who", "backup"}, {"why", "it runs"}, {"mode", "delay"}};
    CHECK(bench.ask("Lifecycle.Inhibit", whole) == error("org.varlink.service.ExpectedMore"));
    const auto error_of = [&](const char* key, const Json& value) {
        auto changed = whole;
        changed[key] = value;
        auto client = bench.client();
        bench.call_for_more(client, "Lifecycle.Inhibit", changed);
        return Bench::replies(client).at(0);
    };
    for (const auto* key : {"who", "why", "mode"}) {
        CHECK(error_of(key, 7) == wrong(key));
        CHECK(error_of(key, nullptr) == wrong(key));
    }
    CHECK(error_of("device", 7) == wrong("device"));
    CHECK(error_of("mode", "now and then") == wrong("mode"));
    CHECK(error_of("device", "none") ==
          error("io.rdmad.Lifecycle.NoSuchDevice", {{"device", "none"}}));
    CHECK(bench.inhibitors.all().empty());

    auto client = bench.client();
    bench.call_for_more(client, "Lifecycle.Inhibit", whole);
    CHECK(Bench::parameters(client) == std::vector{Json::object()});
    CHECK(bench.ask("Lifecycle.ListInhibitors", Json::object(), stranger) ==
          reply({{"inhibitors", Json::array({whole})}}));
    auto other = bench.client();
    bench.call(other, "Lifecycle.Prepare", {{"device", opa_guid}});
    CHECK(Bench::parameters(client) == std::vector{Json{{"device", "opa"}}});
    CHECK(Bench::replies(other).empty());
    bench.works = 0;
    client.hang_up();
    bench.settle();
    CHECK(bench.works == 1);
    CHECK(Bench::replies(other).at(0).at("parameters").at("stage") == "safe");
    CHECK(bench.ask("Lifecycle.ListInhibitors") == reply({{"inhibitors", Json::array()}}));
}

TEST_CASE("targets are recovered, or looked at", "[api]")
{
    if (!can_be_several_users())
        return;
    Bench bench;
    bench.pid1.take();
    CHECK(bench.ask("Lifecycle.Recover", {{"dryRun", "yes"}}) == wrong("dryRun"));
    const Json dry = GENERATE(Json(true), Json(false), Json(nullptr));
    auto client = bench.client();
    bench.call(client, "Lifecycle.Recover", {{"dryRun", dry}});
    CHECK(bench.pid1.take() == List{"start rdmad-recovery.service"});
    const auto order = must(recovery::parse_order(bench.run.read("recovery/orders/last")));
    CHECK(order.mode == (dry == true ? Mode::look : Mode::restore));
    const recovery::Report report = {
        .targets = {{recovery::Kind::nvmet, "ports/1", "192.0.2.1:4420",
                     recovery::Target::State::waiting, "no device has its address"}},
        .order = order.number};
    bench.run.file("recovery/report", recovery::format_report(report));
    bench.recovery.on_job("rdmad-recovery.service", 17, "done");
    bench.settle();
    CHECK(Bench::replies(client) ==
          std::vector{
              reply({{"targets", Json::array({{{"kind", "nvmet"},
                                               {"name", "ports/1"},
                                               {"address", "192.0.2.1:4420"},
                                               {"state", "waiting"},
                                               {"reason", "no device has its address"}}})}})});
}

TEST_CASE("that targets could not be looked at is an error", "[api]")
{
    if (!can_be_several_users())
        return;
    Bench bench;
    bench.pid1.refused = {"rdmad-recovery.service"};
    const auto refused = bench.ask("Lifecycle.Recover");
    CHECK(refused.at("error") == "io.rdmad.Lifecycle.NotRecovered");
    CHECK_FALSE(refused.at("parameters").at("reason").get<std::string>().empty());
}

TEST_CASE("bindings are listed with what they reach and what is missing", "[api]")
{
    Bench bench;
    bench.bind("50-a.binding", opa_file);
    bench.bind("60-b.binding", "[Match]\nPortGUID=0000000000000bad\nNodeGUID=0000000000000bee\n"
                               "[Binding]\nUnit=b.service\n");
    bench.bind("70-c.binding", "[Match]\nPortGUID=x\n[Binding]\nUnit=c.service\n");
    const auto all = bench.ask("Bindings.List").at("parameters");
    CHECK(bench.looks == 1);
    REQUIRE(all.at("bindings").size() == 3);
    CHECK(all.at("bindings").at(0).at("matches") == Json{"opa/1"});
    CHECK(all.at("bindings").at(0).at("missing").empty());
    CHECK(all.at("bindings").at(1).at("matches").empty());
    CHECK(all.at("bindings").at(1).at("missing") == Json{"0000000000000bad", "0000000000000bee"});
    CHECK(all.at("bindings").at(2).at("problems").size() == 1);
    CHECK(all.at("units").size() == 2);

    const auto one = bench.ask("Bindings.List", {{"unit", "a.service"}}).at("parameters");
    REQUIRE(one.at("bindings").size() == 1);
    CHECK(one.at("bindings").at(0).at("name") == "50-a.binding");
    REQUIRE(one.at("units").size() == 1);
    CHECK(one.at("units").at(0).at("ports").at(0).at("guid") == opa_guid);
    CHECK(bench.ask("Bindings.List", {{"unit", "none.service"}}) ==
          error("io.rdmad.Bindings.NoSuchUnit", {{"unit", "none.service"}}));
    CHECK(bench.ask("Bindings.List", {{"unit", false}}) == wrong("unit"));
}

TEST_CASE("a binding is added and removed", "[api]")
{
    if (!can_be_several_users())
        return;
    Bench bench;
    const auto added = bench.ask("Bindings.Add", {{"unit", "a.service"},
                                                  {"portGuid", opa_guid},
                                                  {"device", nullptr},
                                                  {"waitFor", "active"}});
    const std::string name = added.at("parameters").at("name");
    CHECK(added.at("parameters").at("path") == "/run/rdmad/binding.d/" + name);
    CHECK(bench.bound_files() == List{name});
    CHECK(bench.bindings.files()[0].wait_for == config::WaitFor::active);
    CHECK(bench.bindings.files()[0].match.port_guids() == List{opa_guid});
    CHECK(bench.reloads == 1);

    CHECK(bench.ask("Bindings.Remove", {{"unit", "b.service"}}) ==
          reply({{"removed", Json::array()}}));
    CHECK(bench.reloads == 1);
    CHECK(bench.ask("Bindings.Remove", {{"unit", "a.service"}}) == reply({{"removed", {name}}}));
    CHECK(bench.bound_files().empty());
    CHECK(bench.reloads == 2);
}

TEST_CASE("a binding that is none is not added", "[api]")
{
    if (!can_be_several_users())
        return;
    Bench bench;
    const auto add = [&](const char* key, const Json& value) {
        Json parameters = {{"unit", "a.service"}, {"portGuid", opa_guid}};
        parameters[key] = value;
        return bench.ask("Bindings.Add", parameters);
    };
    for (const auto* key : {"unit", "portGuid", "port", "node", "stage"}) {
        INFO(key);
        CHECK(add(key, 7) == wrong(key));
    }
    CHECK(add("unit", nullptr) == wrong("unit"));
    const auto reason_of = [&](const char* key, const Json& value) {
        const auto refused = add(key, value);
        CHECK(refused.at("error") == "io.rdmad.Bindings.InvalidBinding");
        return refused.at("parameters").at("reason").get<std::string>();
    };
    CHECK(reason_of("unit", "a.device").find("'a.device' is not allowed") != std::string::npos);
    CHECK(reason_of("portGuid", "x").starts_with("PortGUID: "));
    CHECK(reason_of("stage", "last").starts_with("Stage: "));
    CHECK(reason_of("netdev", "a\nb") == "a value has a line break or a backslash");
    CHECK(bench.reloads == 0);

    // where it cannot be written
    bench.run.file("run/rdmad/binding.d", "no folder");
    CHECK(reason_of("node", "uverbs").find("binding.d") != std::string::npos);
    CHECK(bench.reloads == 0);
}

TEST_CASE("a reload reports what is wrong", "[api]")
{
    if (!can_be_several_users())
        return;
    Bench bench;
    bench.run.file("etc/rdmad/binding.d/50-a.binding", opa_file);
    bench.run.file("etc/rdmad/binding.d/60-b.binding", "[Match]\nPortGUID=x\n");
    const auto problems = bench.ask("Bindings.Reload").at("parameters").at("problems");
    CHECK(bench.reloads == 1);
    REQUIRE_FALSE(problems.empty());
    for (const auto& problem : problems)
        CHECK(problem.get<std::string>().find("60-b.binding") != std::string::npos);
}

// -- memory ---------------------------------------------------------------------------------------

namespace {

/// A call, of which an allocation fails.
class CallTrial : public Trial {
public:
    /// Sends the call: what a client allocates is not to fail.
    CallTrial(const std::string& method, const Json& parameters)
    {
        client_.call("io.rdmad." + method, ",\"parameters\":" + parameters.dump());
    }
    void run() override
    {
        for (int i = 0; i < 10; i++)
            sd_event_run(bench_.event.get(), 0);
    }
    void clean() override
    {
        std::error_code ignored;
        std::filesystem::remove_all(bench_.sys.path(), ignored);
        std::filesystem::remove_all(bench_.run.path(), ignored);
        bench_.place.remove();
    }

protected:
    Bench bench_;
    Client client_ = bench_.client();
};

class ListTrial final : public CallTrial {
public:
    ListTrial() : CallTrial("Devices.List", {{"device", "opa"}}) {}
    bool is_right() override
    {
        const auto replies = Bench::replies(client_);
        return replies.size() == 1 && tells_opa(replies[0]);
    }
    bool is_harmless() override
    {
        const auto replies = Bench::replies(client_);
        return replies.empty() || (replies.size() == 1 && tells_opa(replies[0]));
    }

private:
    static bool tells_opa(const Json& reply)
    {
        return reply.at("parameters").at("devices").at(0).at("name") == "opa";
    }
};

class AddTrial final : public CallTrial {
public:
    AddTrial() : CallTrial("Bindings.Add", {{"unit", "a.service"}, {"portGuid", opa_guid}})
    {
        // is_harmless() could not use what breaks off as it is made
        (void)config::binding_folders();
    }
    bool is_right() override
    {
        const auto replies = Bench::replies(client_);
        return replies.size() == 1 && bench_.bound_files().size() == 1 &&
               replies[0].at("parameters").at("name") == bench_.bound_files()[0] &&
               bench_.supervisor.units().contains("a.service");
    }
    /// What the client was told is there, and a file is whole or not there.
    bool is_harmless() override
    {
        const auto replies = Bench::replies(client_);
        Bindings later(bench_.run.path());
        later.read();
        const auto& files = later.files();
        const bool is_whole = files.empty() || (files.size() == 1 && files[0].problems.empty() &&
                                                files[0].units == List{"a.service"});
        return is_whole &&
               (replies.empty() || (replies.size() == 1 && files.size() == 1 &&
                                    replies[0].at("parameters").at("name") == files[0].name));
    }
};

} // namespace

TEST_CASE("without memory for any part of a call rdmad ends, and replies nothing that is wrong",
          "[api][memory]")
{
    check_each_allocation([] { return std::make_unique<ListTrial>(); }, 21);
    if (!can_be_several_users())
        return;
    check_each_allocation([] { return std::make_unique<AddTrial>(); }, 21);
}
