// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/text.hpp"
#include "daemon/api/api.hpp"
#include "tests/support/captured_sysfs.hpp"
#include "tests/support/fake_pid1.hpp"
#include "tests/support/must.hpp"
#include "tests/support/replay_transport.hpp"
#include "tests/support/varlink_client.hpp"

#include <string>
#include <vector>

namespace rdmad::test {

using varlink::Json;
using List = std::vector<std::string>;

constexpr uint32_t opa = 1;
constexpr char opa_guid[] = "0011750101000001";
/// Binds a.service to it.
constexpr char opa_file[] = "[Match]\nPortGUID=0011750101000001\n[Binding]\nUnit=a.service\n";
constexpr lifecycle::Time second = 1'000'000;

/// Everything of rdmad that its clients can reach, on the devices of a capture. A client is another
/// end of a socket.
struct ServedRdmad {
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

    ServedRdmad()
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
    ~ServedRdmad()
    {
        server.end();
    }
    ServedRdmad(const ServedRdmad&) = delete;
    ServedRdmad& operator=(const ServedRdmad&) = delete;

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
    /// As PID 1 tells of a unit that runs.
    void tell_running(const std::string& unit)
    {
        supervisor.on_unit(unit, {.load_state = "loaded", .active_state = "active"});
        settle();
    }
    /// As PID 1 tells of a stop that it was asked for.
    void tell_stopped(const std::string& unit)
    {
        supervisor.on_job(unit, 18, "done");
        supervisor.on_unit(unit, {.load_state = "loaded",
                                  .active_state = "inactive",
                                  .active_exit = 2000,
                                  .state_change = 2000});
        settle();
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

} // namespace rdmad::test
