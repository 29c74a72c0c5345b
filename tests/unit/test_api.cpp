// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/folders.hpp"
#include "tests/support/failing_allocation.hpp"
#include "tests/support/served_rdmad.hpp"

#include <algorithm>
#include <filesystem>

using namespace rdmad;
using namespace rdmad::test;
using Mode = recovery::Order::Mode;

namespace {

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

} // namespace

TEST_CASE("devices are listed by their names and GUIDs", "[api]")
{
    ServedRdmad served;
    CHECK(served.names_of(Json::object()) == List{"mixed", "opa", "siw"});
    CHECK(served.names_of({{"device", nullptr}}).size() == 3);
    for (const auto& name : {std::string("opa"), std::string(opa_guid), served.node_guid()})
        CHECK(served.names_of({{"device", name}}) == List{"opa"});
    // states of ports are looked at for each
    CHECK(served.looks == 5);
    CHECK(served.ask("Devices.List", {{"device", "none"}}) ==
          error("io.rdmad.Devices.NoSuchDevice", {{"device", "none"}}));
    CHECK(served.ask("Devices.List", {{"device", 7}}) == wrong("device"));
    const auto device =
        served.ask("Devices.List", {{"device", "opa"}}).at("parameters").at("devices").at(0);
    CHECK(device.at("uverbs") == "uverbs1");
    CHECK(device.at("ports").at(0).at("guid") == opa_guid);
    CHECK(device.at("life").at("device") == "opa");
}

TEST_CASE("a monitor has to want more, and says in a word whether ports are looked at", "[api]")
{
    ServedRdmad served;
    CHECK(served.ask("Devices.Monitor") == error("org.varlink.service.ExpectedMore"));
    auto wrong_type = served.client();
    served.call_for_more(wrong_type, "Devices.Monitor", {{"pollPorts", 1}});
    CHECK(ServedRdmad::replies(wrong_type) == std::vector{wrong("pollPorts")});
    CHECK(served.monitors.empty());

    auto plain = served.client();
    served.call_for_more(plain, "Devices.Monitor", {{"pollPorts", nullptr}});
    CHECK_FALSE(served.api.wants_port_states());
    auto polling = served.client();
    served.call_for_more(polling, "Devices.Monitor", {{"pollPorts", true}});
    CHECK(served.api.wants_port_states());
    polling.hang_up();
    served.settle();
    CHECK_FALSE(served.api.wants_port_states());
    CHECK(served.monitors == List{"does not", "polls", "does not"});
}

TEST_CASE("a monitor gets a snapshot, and then each change", "[api]")
{
    ServedRdmad served;
    auto watcher = served.client(stranger);
    served.call_for_more(watcher, "Devices.Monitor");
    const auto first = ServedRdmad::parameters(watcher);
    REQUIRE(kinds(first) == List{"snapshot"});
    CHECK(first[0].at("devices").size() == 3);

    served.bind("50-a.binding", opa_file);
    served.tell_running("a.service");
    auto events = ServedRdmad::parameters(watcher);
    REQUIRE(only("binding", events).size() == 1);
    CHECK(only("binding", events)[0].at("binding") == "50-a.binding");
    CHECK(only("binding", events)[0].at("change") == "added");
    REQUIRE_FALSE(only("unit", events).empty());
    CHECK(only("unit", events)[0].at("unit") == "a.service");
    CHECK(only("unit", events)[0].at("unitState") == "active");

    // what did not change is not told
    served.tell_running("a.service");
    CHECK(ServedRdmad::parameters(watcher).empty());

    must(served.client_of_kernel.rename(opa, "fabric"));
    served.sys.rename("class/infiniband/opa", "class/infiniband/fabric");
    served.tell("move", opa, "fabric");
    served.settle();
    const auto renames = only("rename", ServedRdmad::parameters(watcher));
    REQUIRE(renames.size() == 1);
    CHECK(renames[0].at("oldName") == "opa");
    CHECK(renames[0].at("device").at("name") == "fabric");

    served.kernel.remove(opa);
    served.sys.remove("class/infiniband/fabric");
    served.tell("remove", opa, "fabric");
    served.settle();
    events = ServedRdmad::parameters(watcher);
    REQUIRE(only("remove", events).size() == 1);
    CHECK(only("remove", events)[0].at("device").at("name") == "fabric");
    const auto lives = only("life", events);
    REQUIRE_FALSE(lives.empty());
    CHECK(lives.back().at("change") == "state");
    CHECK(lives.back().at("life").at("state") == "grace");

    served.kernel.return_as(opa, 7);
    served.sys.rdma_device("fabric", "fe80:0000:0000:0000:0011:7501:0100:0001");
    served.tell("add", 7, "fabric");
    served.settle();
    events = ServedRdmad::parameters(watcher);
    REQUIRE(only("add", events).size() == 1);
    CHECK(only("add", events)[0].at("device").at("index") == 7);

    served.api.on_lost();
    served.settle();
    const auto last = ServedRdmad::parameters(watcher);
    REQUIRE(kinds(last) == List{"lost"});
    CHECK(last[0].at("devices").size() == 3);
    // none was left out
    CHECK(last[0].at("sequence").get<uint64_t>() > events.back().at("sequence").get<uint64_t>());
}

TEST_CASE("events are numbered without a gap", "[api]")
{
    ServedRdmad served;
    auto watcher = served.client();
    served.call_for_more(watcher, "Devices.Monitor");
    uint64_t number = ServedRdmad::parameters(watcher).at(0).at("sequence");
    for (int i = 0; i < 3; i++)
        served.bind("50-a.binding", std::string(opa_file) + "#" + std::to_string(i) + "\n");
    served.kernel.remove(opa);
    served.tell("remove", opa, "opa");
    served.settle();
    const auto events = ServedRdmad::parameters(watcher);
    CHECK(events.size() > 3);
    for (const auto& event : events)
        CHECK(event.at("sequence") == ++number);
}

TEST_CASE("a monitor that is too slow gets a snapshot when it has room", "[api]")
{
    ServedRdmad served;
    auto watcher = served.client();
    served.call_for_more(watcher, "Devices.Monitor");
    constexpr int count = 200;
    for (int i = 0; i < count; i++)
        served.api.on_binding(std::string(100'000, 'x'), "added");
    // no small one comes before the snapshot, though there may be room for it
    served.api.on_binding("small", "added");
    served.kernel.remove(opa);
    served.tell("remove", opa, "opa");
    std::vector<Json> events;
    for (bool has_more = true; has_more;) {
        served.settle();
        const auto more = ServedRdmad::parameters(watcher);
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
    served.kernel.return_as(opa, 7);
    served.plug(7);
    served.settle();
    CHECK(only("add", ServedRdmad::parameters(watcher)).size() == 1);
}

TEST_CASE("only root changes something", "[api]")
{
    ServedRdmad served;
    served.bind("50-a.binding", opa_file);
    served.settle();
    served.pid1.take();
    served.reloads = 0;
    for (const auto* method : {"Lifecycle.Release", "Lifecycle.Accept", "Lifecycle.Prepare",
                               "Lifecycle.Resume", "Lifecycle.Recover", "Lifecycle.Inhibit",
                               "Bindings.Add", "Bindings.Remove", "Bindings.Reload"}) {
        INFO(method);
        const Json parameters = {{"device", "opa"}, {"unit", "a.service"}, {"who", "x"},
                                 {"why", "y"},      {"mode", "block"},     {"portGuid", opa_guid}};
        CHECK(served.ask(method, parameters, stranger) ==
              error("org.varlink.service.PermissionDenied"));
        auto client = served.client(stranger);
        served.call_for_more(client, method, parameters);
        CHECK(ServedRdmad::replies(client) ==
              std::vector{error("org.varlink.service.PermissionDenied")});
    }
    CHECK(served.reloads == 0);
    CHECK(served.works == 0);
    CHECK(served.pid1.take().empty());
    CHECK(served.inhibitors.all().empty());
    CHECK(served.lives.obstacle(opa, {}).reason.empty());
}

// What follows is for root; the kernel tells who a client is.

TEST_CASE("an order for a device names one that there is", "[api]")
{
    if (!can_be_several_users())
        return;
    ServedRdmad served;
    for (const auto* method :
         {"Lifecycle.Release", "Lifecycle.Accept", "Lifecycle.Prepare", "Lifecycle.Resume"}) {
        INFO(method);
        CHECK(served.ask(method) == wrong("device"));
        CHECK(served.ask(method, {{"device", 7}}) == wrong("device"));
        CHECK(served.ask(method, {{"device", "none"}}) ==
              error("io.rdmad.Lifecycle.NoSuchDevice", {{"device", "none"}}));
    }
    CHECK(served.ask("Lifecycle.Release", {{"device", opa_guid}}) == reply(Json::object()));
    CHECK(served.ask("Lifecycle.Accept", {{"device", "opa"}}) == reply(Json::object()));

    // its twin has the same GUIDs
    served.kernel.copy(opa, 9);
    served.tell("add", 9, "twin");
    for (const auto* method : {"Lifecycle.Prepare", "Lifecycle.Resume"})
        CHECK(served.ask(method, {{"device", opa_guid}}).at("error") ==
              "io.rdmad.Lifecycle.Ambiguous");
    CHECK(served.ask("Lifecycle.Release", {{"device", opa_guid}}) == reply(Json::object()));
}

TEST_CASE("a preparation tells its steps, and is undone", "[api]")
{
    if (!can_be_several_users())
        return;
    ServedRdmad served;
    served.bind("50-a.binding", opa_file);
    served.tell_running("a.service");
    CHECK(served.ask("Lifecycle.Prepare", {{"device", "opa"}, {"ignoreInhibitors", 1}}) ==
          wrong("ignoreInhibitors"));

    auto client = served.client();
    served.call_for_more(client, "Lifecycle.Prepare", {{"device", "opa"}});
    CHECK(served.works == 1);
    auto steps = ServedRdmad::parameters(client);
    REQUIRE(steps.size() == 1);
    CHECK(steps[0].at("stage") == "stopping");
    CHECK(steps[0].at("units") == Json{"a.service"});
    CHECK(served.ask("Lifecycle.Prepare", {{"device", "opa"}}) ==
          error("io.rdmad.Lifecycle.Busy", {{"device", "opa"}}));

    served.tell_stopped("a.service");
    const auto all = ServedRdmad::replies(client);
    REQUIRE(all.size() == 1);
    CHECK(all[0].at("parameters").at("stage") == "safe");
    CHECK_FALSE(all[0].contains("continues"));
    CHECK_FALSE(served.lives.obstacle(opa, {}).reason.empty());

    CHECK(served.ask("Lifecycle.Resume", {{"device", opa_guid}}) == reply(Json::object()));
    CHECK(served.lives.obstacle(opa, {}).reason.empty());
    // of one that is not prepared it does nothing
    CHECK(served.ask("Lifecycle.Resume", {{"device", "opa"}}) == reply(Json::object()));
}

TEST_CASE("a preparation that comes to nothing has the error that says why", "[api]")
{
    if (!can_be_several_users())
        return;
    ServedRdmad served;
    SECTION("somebody has it open")
    {
        served.holders.holders = {{.pid = 9, .command = "sleep", .nodes = {"uverbs1"}}};
        auto client = served.client();
        served.call(client, "Lifecycle.Prepare", {{"device", "opa"}});
        std::vector<Json> all;
        // it is looked at several times
        for (int i = 0; i < 100 && all.empty(); i++) {
            served.now += second;
            served.settle();
            all = ServedRdmad::replies(client);
        }
        REQUIRE(all.size() == 1);
        CHECK(all[0].at("error") == "io.rdmad.Lifecycle.InUse");
        CHECK(all[0].at("parameters").at("holders").at(0).at("pid") == 9);
        CHECK_FALSE(all[0].at("parameters").contains("stage"));
    }
    SECTION("somebody inhibits it")
    {
        served.inhibitors.add({"opa", "backup", "it runs", Inhibitor::Mode::block}, [](auto&) {});
        const auto refused = served.ask("Lifecycle.Prepare", {{"device", "opa"}});
        CHECK(refused.at("error") == "io.rdmad.Lifecycle.Inhibited");
        CHECK(refused.at("parameters").at("inhibitors").at(0).at("who") == "backup");
        CHECK(served.ask("Lifecycle.Prepare", {{"device", "opa"}, {"ignoreInhibitors", true}})
                  .at("parameters")
                  .at("stage") == "safe");
    }
    SECTION("somebody undoes it, or the device goes")
    {
        served.inhibitors.add({"opa", "backup", "it runs", Inhibitor::Mode::delay}, [](auto&) {});
        auto client = served.client();
        served.call(client, "Lifecycle.Prepare", {{"device", "opa"}});
        CHECK(ServedRdmad::replies(client).empty());
        const bool is_undone = GENERATE(true, false);
        if (is_undone) {
            (void)served.ask("Lifecycle.Resume", {{"device", "opa"}});
        } else {
            served.kernel.remove(opa);
            served.tell("remove", opa, "opa");
            served.settle();
        }
        CHECK(ServedRdmad::replies(client) ==
              std::vector{error(is_undone ? "io.rdmad.Lifecycle.Resumed"
                                          : "io.rdmad.Lifecycle.NoSuchDevice",
                                {{"device", "opa"}})});
    }
    SECTION("its client hangs up before anything was stopped")
    {
        served.inhibitors.add({"opa", "backup", "it runs", Inhibitor::Mode::delay}, [](auto&) {});
        auto client = served.client();
        served.call(client, "Lifecycle.Prepare", {{"device", "opa"}});
        client.hang_up();
        served.settle();
        CHECK(served.lives.obstacle(opa, {}).reason.empty());
        CHECK(served.ask("Lifecycle.Prepare", {{"device", "opa"}, {"ignoreInhibitors", true}})
                  .at("parameters")
                  .at("stage") == "safe");
    }
}

TEST_CASE("an inhibitor is there as long as its client", "[api]")
{
    if (!can_be_several_users())
        return;
    ServedRdmad served;
    const Json whole = {
        {"device", "opa"}, {"who", "backup"}, {"why", "it runs"}, {"mode", "delay"}};
    CHECK(served.ask("Lifecycle.Inhibit", whole) == error("org.varlink.service.ExpectedMore"));
    const auto error_of = [&](const char* key, const Json& value) {
        auto changed = whole;
        changed[key] = value;
        auto client = served.client();
        served.call_for_more(client, "Lifecycle.Inhibit", changed);
        return ServedRdmad::replies(client).at(0);
    };
    for (const auto* key : {"who", "why", "mode"}) {
        CHECK(error_of(key, 7) == wrong(key));
        CHECK(error_of(key, nullptr) == wrong(key));
    }
    CHECK(error_of("device", 7) == wrong("device"));
    CHECK(error_of("mode", "now and then") == wrong("mode"));
    CHECK(error_of("device", "none") ==
          error("io.rdmad.Lifecycle.NoSuchDevice", {{"device", "none"}}));
    CHECK(served.inhibitors.all().empty());

    auto client = served.client();
    served.call_for_more(client, "Lifecycle.Inhibit", whole);
    CHECK(ServedRdmad::parameters(client) == std::vector{Json::object()});
    CHECK(served.ask("Lifecycle.ListInhibitors", Json::object(), stranger) ==
          reply({{"inhibitors", Json::array({whole})}}));
    auto other = served.client();
    served.call(other, "Lifecycle.Prepare", {{"device", opa_guid}});
    CHECK(ServedRdmad::parameters(client) == std::vector{Json{{"device", "opa"}}});
    CHECK(ServedRdmad::replies(other).empty());
    served.works = 0;
    client.hang_up();
    served.settle();
    CHECK(served.works == 1);
    CHECK(ServedRdmad::replies(other).at(0).at("parameters").at("stage") == "safe");
    CHECK(served.ask("Lifecycle.ListInhibitors") == reply({{"inhibitors", Json::array()}}));
}

TEST_CASE("targets are recovered, or looked at", "[api]")
{
    if (!can_be_several_users())
        return;
    ServedRdmad served;
    served.pid1.take();
    CHECK(served.ask("Lifecycle.Recover", {{"dryRun", "yes"}}) == wrong("dryRun"));
    const Json dry = GENERATE(Json(true), Json(false), Json(nullptr));
    auto client = served.client();
    served.call(client, "Lifecycle.Recover", {{"dryRun", dry}});
    CHECK(served.pid1.take() == List{"start rdmad-recovery.service"});
    const auto order = must(recovery::parse_order(served.run.read("recovery/orders/last")));
    CHECK(order.mode == (dry == true ? Mode::look : Mode::restore));
    const recovery::Report report = {
        .targets = {{recovery::Kind::nvmet, "ports/1", "192.0.2.1:4420",
                     recovery::Target::State::waiting, "no device has its address"}},
        .order = order.number};
    served.run.file("recovery/report", recovery::format_report(report));
    served.recovery.on_job("rdmad-recovery.service", 17, "done");
    served.settle();
    CHECK(ServedRdmad::replies(client) ==
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
    ServedRdmad served;
    served.pid1.refused = {"rdmad-recovery.service"};
    const auto refused = served.ask("Lifecycle.Recover");
    CHECK(refused.at("error") == "io.rdmad.Lifecycle.NotRecovered");
    CHECK_FALSE(refused.at("parameters").at("reason").get<std::string>().empty());
}

TEST_CASE("bindings are listed with what they reach and what is missing", "[api]")
{
    ServedRdmad served;
    served.bind("50-a.binding", opa_file);
    served.bind("60-b.binding", "[Match]\nPortGUID=0000000000000bad\nNodeGUID=0000000000000bee\n"
                                "[Binding]\nUnit=b.service\n");
    served.bind("70-c.binding", "[Match]\nPortGUID=x\n[Binding]\nUnit=c.service\n");
    const auto all = served.ask("Bindings.List").at("parameters");
    CHECK(served.looks == 1);
    REQUIRE(all.at("bindings").size() == 3);
    CHECK(all.at("bindings").at(0).at("matches") == Json{"opa/1"});
    CHECK(all.at("bindings").at(0).at("missing").empty());
    CHECK(all.at("bindings").at(1).at("matches").empty());
    CHECK(all.at("bindings").at(1).at("missing") == Json{"0000000000000bad", "0000000000000bee"});
    CHECK(all.at("bindings").at(2).at("problems").size() == 1);
    CHECK(all.at("units").size() == 2);

    const auto one = served.ask("Bindings.List", {{"unit", "a.service"}}).at("parameters");
    REQUIRE(one.at("bindings").size() == 1);
    CHECK(one.at("bindings").at(0).at("name") == "50-a.binding");
    REQUIRE(one.at("units").size() == 1);
    CHECK(one.at("units").at(0).at("ports").at(0).at("guid") == opa_guid);
    CHECK(served.ask("Bindings.List", {{"unit", "none.service"}}) ==
          error("io.rdmad.Bindings.NoSuchUnit", {{"unit", "none.service"}}));
    CHECK(served.ask("Bindings.List", {{"unit", false}}) == wrong("unit"));
}

TEST_CASE("a binding is added and removed", "[api]")
{
    if (!can_be_several_users())
        return;
    ServedRdmad served;
    const auto added = served.ask("Bindings.Add", {{"unit", "a.service"},
                                                   {"portGuid", opa_guid},
                                                   {"device", nullptr},
                                                   {"waitFor", "active"}});
    const std::string name = added.at("parameters").at("name");
    CHECK(added.at("parameters").at("path") == "/run/rdmad/binding.d/" + name);
    CHECK(served.bound_files() == List{name});
    CHECK(served.bindings.files()[0].wait_for == config::WaitFor::active);
    CHECK(served.bindings.files()[0].match.port_guids() == List{opa_guid});
    CHECK(served.reloads == 1);

    CHECK(served.ask("Bindings.Remove", {{"unit", "b.service"}}) ==
          reply({{"removed", Json::array()}}));
    CHECK(served.reloads == 1);
    CHECK(served.ask("Bindings.Remove", {{"unit", "a.service"}}) == reply({{"removed", {name}}}));
    CHECK(served.bound_files().empty());
    CHECK(served.reloads == 2);
}

TEST_CASE("a binding that is none is not added", "[api]")
{
    if (!can_be_several_users())
        return;
    ServedRdmad served;
    const auto add = [&](const char* key, const Json& value) {
        Json parameters = {{"unit", "a.service"}, {"portGuid", opa_guid}};
        parameters[key] = value;
        return served.ask("Bindings.Add", parameters);
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
    CHECK(served.reloads == 0);

    // where it cannot be written
    served.run.file("run/rdmad/binding.d", "no folder");
    CHECK(reason_of("node", "uverbs").find("binding.d") != std::string::npos);
    CHECK(served.reloads == 0);
}

TEST_CASE("a reload reports what is wrong", "[api]")
{
    if (!can_be_several_users())
        return;
    ServedRdmad served;
    served.run.file("etc/rdmad/binding.d/50-a.binding", opa_file);
    served.run.file("etc/rdmad/binding.d/60-b.binding", "[Match]\nPortGUID=x\n");
    const auto problems = served.ask("Bindings.Reload").at("parameters").at("problems");
    CHECK(served.reloads == 1);
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
            sd_event_run(served_.event.get(), 0);
    }
    void clean() override
    {
        std::error_code ignored;
        std::filesystem::remove_all(served_.sys.path(), ignored);
        std::filesystem::remove_all(served_.run.path(), ignored);
        served_.place.remove();
    }

protected:
    ServedRdmad served_;
    Client client_ = served_.client();
};

class ListTrial final : public CallTrial {
public:
    ListTrial() : CallTrial("Devices.List", {{"device", "opa"}}) {}
    bool is_right() override
    {
        const auto replies = ServedRdmad::replies(client_);
        return replies.size() == 1 && tells_opa(replies[0]);
    }
    bool is_harmless() override
    {
        const auto replies = ServedRdmad::replies(client_);
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
        const auto replies = ServedRdmad::replies(client_);
        return replies.size() == 1 && served_.bound_files().size() == 1 &&
               replies[0].at("parameters").at("name") == served_.bound_files()[0] &&
               served_.supervisor.units().contains("a.service");
    }
    /// What the client was told is there, and a file is whole or not there.
    bool is_harmless() override
    {
        const auto replies = ServedRdmad::replies(client_);
        Bindings later(served_.run.path());
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
