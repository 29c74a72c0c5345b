// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/api/json.hpp"
#include "interfaces/descriptions.hpp"
#include "tests/catch.hpp"
#include "tests/support/sample_device.hpp"

#include <map>
#include <set>
#include <sstream>

using namespace rdmad;
using namespace rdmad::api;
using namespace rdmad::test;

namespace {

/// "?[]string" by field.
using Fields = std::map<std::string, std::string>;

/// The types of both interfaces. Each field has a line of its own.
std::map<std::string, Fields> read_types()
{
    std::map<std::string, Fields> types;
    std::istringstream text(std::string(interfaces::devices) + interfaces::bindings);
    std::string type;
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with("type "))
            type = line.substr(5, line.find(" (") - 5);
        else if (line.starts_with(")"))
            type.clear();
        else if (const auto colon = line.find(": ");
                 !type.empty() && line[0] == '\t' && line[1] != '#')
            types[type][line.substr(1, colon - 1)] =
                line.substr(colon + 2, line.find_last_not_of(',') - colon - 1);
    }
    return types;
}

const Fields& fields_of(const std::string& type)
{
    static const auto types = read_types();
    return types.at(type);
}

std::string complaint(const Json& value, std::string_view type);

/// What is wrong with an object, empty if nothing is. What is not there is left out.
std::string complaint_of_object(const Json& object, const std::string& type)
{
    const auto& fields = fields_of(type);
    if (!object.is_object())
        return "no " + type;
    for (const auto& [key, value] : object.items())
        if (!fields.contains(key))
            return type + " has no " + key;
    for (const auto& [key, of] : fields) {
        const bool is_nullable = of.starts_with('?');
        if (!object.contains(key)) {
            if (!is_nullable)
                return type + " lacks " + key;
            continue;
        }
        if (auto wrong = complaint(object.at(key), of.substr(is_nullable ? 1 : 0)); !wrong.empty())
            return type + "." + key + ": " + wrong;
    }
    return {};
}

std::string complaint(const Json& value, std::string_view type)
{
    if (type == "string")
        return value.is_string() ? "" : "no string";
    if (type == "int")
        return value.is_number_integer() ? "" : "no int";
    if (type == "bool")
        return value.is_boolean() ? "" : "no bool";
    if (!type.starts_with("[]"))
        return complaint_of_object(value, std::string(type));
    if (!value.is_array())
        return "no list";
    for (const auto& element : value)
        if (auto wrong = complaint(element, type.substr(2)); !wrong.empty())
            return wrong;
    return {};
}

std::set<std::string> keys_of(const Json& object)
{
    std::set<std::string> keys;
    for (const auto& [key, value] : object.items())
        keys.insert(key);
    return keys;
}

std::set<std::string> all_of(const std::string& type, bool with_nullable)
{
    std::set<std::string> keys;
    for (const auto& [key, of] : fields_of(type))
        if (with_nullable || !of.starts_with('?'))
            keys.insert(key);
    return keys;
}

Member member(uint32_t index)
{
    return {.binding = "50-a.binding",
            .device = "mlx5_0",
            .index = index,
            .port = 1,
            .guid = "0002c90300000a01",
            .node_guid = "0002c90300000a00",
            .path = "pci-0000:c1:00.0",
            .node = "umad0",
            .syspath = "/sys/devices/umad0",
            .anchor = "rdmad-a.service:3:umad0.slice"};
}

BoundUnit bound()
{
    BoundUnit unit = {.bindings = {"50-a.binding"},
                      .present = {{{"50-a.binding", 3, 1}, member(3)}}};
    unit.state = systemd::UnitState{.load_state = "loaded", .active_state = "active"};
    unit.reason = "runs";
    return unit;
}

Json port_of(const BoundUnit& unit)
{
    const auto json = to_json("a.service", unit);
    CHECK(complaint(json, "Unit").empty());
    REQUIRE(json["ports"].size() == 1);
    return json["ports"][0];
}

} // namespace

TEST_CASE("a port is one of the interface", "[api]")
{
    const auto full = to_json(sample_device().ports[0], {"a.service"});
    CHECK(complaint(full, "Port").empty());
    CHECK(keys_of(full) == all_of("Port", true));
    CHECK(full == Json{{"number", 1},
                       {"guid", "0002c90300000a01"},
                       {"linkType", "infiniband"},
                       {"state", "active"},
                       {"isReady", true},
                       {"netdev", "ib0"},
                       {"umad", "umad0"},
                       {"issm", "issm0"},
                       {"units", {"a.service"}}});
    const auto empty = to_json(Port{.number = 1}, {});
    CHECK(complaint(empty, "Port").empty());
    CHECK(keys_of(empty) == all_of("Port", false));
    CHECK(empty["isReady"] == false);
}

TEST_CASE("a device is one of the interface", "[api]")
{
    const lifecycle::History history = {};
    const auto full =
        to_json(sample_device(), {{1, {"b.service"}}, {2, {"a.service", "b.service"}}}, &history);
    CHECK(complaint(full, "Device").empty());
    CHECK(keys_of(full) == all_of("Device", true));
    CHECK(full["nodeGuid"] == "0002c90300000a00");
    CHECK(full["sysImageGuid"] == "0002c90300000aff");
    CHECK(full["uverbs"] == "uverbs0");
    CHECK(full["ports"].size() == 2);
    CHECK(full["ports"][0]["units"] == Json{"b.service"});
    CHECK(full["ports"][1]["units"] == Json{"a.service", "b.service"});
    CHECK(full["units"] == Json{"a.service", "b.service"});
    const auto empty = to_json(Device{}, {}, nullptr);
    CHECK(complaint(empty, "Device").empty());
    CHECK(keys_of(empty) == all_of("Device", false));
}

TEST_CASE("a life is one of the interface", "[api]")
{
    lifecycle::History history = {.name = "mlx5_0"};
    history.holders = {{.pid = 412, .command = "sleep", .unit = "a.service", .nodes = {"umad0"}},
                       {.pid = 1, .is_stored = true}};
    history.life = {.state = lifecycle::State::settling,
                    .index = 3,
                    .went = 5,
                    .cause = lifecycle::Cause::hot_unplug,
                    .is_blocked = true,
                    .returns = {6, 7, 8},
                    .held_until = 9};
    const auto full = to_json(history);
    CHECK(complaint(full, "Life").empty());
    CHECK(keys_of(full) == all_of("Life", true));
    for (const auto& holder : full["holders"])
        CHECK(complaint(holder, "Holder").empty());
    CHECK(keys_of(full["holders"][0]) == all_of("Holder", true));
    CHECK(keys_of(full["holders"][1]) == all_of("Holder", false));
    CHECK(full ==
          Json{{"device", "mlx5_0"},
               {"holders",
                {{{"pid", 412},
                  {"command", "sleep"},
                  {"unit", "a.service"},
                  {"isStored", false},
                  {"nodes", {"umad0"}}},
                 {{"pid", 1}, {"command", ""}, {"isStored", true}, {"nodes", Json::array()}}}},
               {"index", 3},
               {"state", "settling"},
               {"isDegraded", false},
               {"isBlocked", true},
               {"isAccepted", true},
               {"cause", "hot unplug"},
               {"returns", 3},
               {"heldUntil", 9}});
    const auto empty = to_json(lifecycle::History());
    CHECK(complaint(empty, "Life").empty());
    CHECK(keys_of(empty) == all_of("Life", false));
}

TEST_CASE("a stop is one of the interface", "[api]")
{
    const Stop unplug = {Stop::Cause::unplug, 12, 1700000000000000, member(3)};
    const auto full = to_json(unplug);
    CHECK(complaint(full, "Stop").empty());
    CHECK(keys_of(full) == all_of("Stop", true));
    CHECK(full == Json{{"cause", "unplug"},
                       {"timestamp", 1700000000000000},
                       {"device", "mlx5_0"},
                       {"index", 3},
                       {"port", 1},
                       {"guid", "0002c90300000a01"}});
    for (const auto cause : {Stop::Cause::failure, Stop::Cause::dependency, Stop::Cause::condition,
                             Stop::Cause::other}) {
        const auto stop = to_json(Stop{.cause = cause});
        CHECK(complaint(stop, "Stop").empty());
        CHECK(keys_of(stop) == all_of("Stop", false));
    }
    CHECK(to_json(Stop{.cause = Stop::Cause::failure})["cause"] == "failure");
    CHECK(to_json(Stop{.cause = Stop::Cause::dependency})["cause"] == "dependency");
    CHECK(to_json(Stop{.cause = Stop::Cause::condition})["cause"] == "condition");
    CHECK(to_json(Stop{})["cause"] == "other");
}

TEST_CASE("a unit is one of the interface", "[api]")
{
    auto unit = bound();
    unit.record.memory.stop = Stop{.cause = Stop::Cause::other};
    const auto full = to_json("a.service", unit);
    CHECK(complaint(full, "Unit").empty());
    CHECK(keys_of(full) == all_of("Unit", true));
    CHECK(full["unit"] == "a.service");
    CHECK(full["activeState"] == "active");
    CHECK(full["loadState"] == "loaded");
    CHECK(full["bindings"] == Json{"50-a.binding"});
    const auto empty = to_json("a.service", BoundUnit());
    CHECK(complaint(empty, "Unit").empty());
    CHECK(keys_of(empty) == all_of("Unit", false));
    CHECK(empty["isWanted"] == true);
    unit.is_left_alone = true;
    CHECK(to_json("a.service", unit)["isWanted"] == false);
}

TEST_CASE("a port that is bound is one of the interface", "[api]")
{
    const auto full = port_of(bound());
    CHECK(keys_of(full) == all_of("BoundPort", true));
    CHECK(full["node"] == "umad0");
    CHECK(full["anchor"] == "rdmad-a.service:3:umad0.slice");
    CHECK(full["isPresent"] == true);
    CHECK(full["isReady"] == true);
}

TEST_CASE("a port that is not tied has no anchor", "[api]")
{
    auto unit = bound();
    unit.present.begin()->second.anchor.clear();
    CHECK_FALSE(port_of(unit).contains("anchor"));
}

TEST_CASE("a port that is gone is told as it was last", "[api]")
{
    auto unit = bound();
    unit.present.clear();
    unit.record.members = {member(2)};
    unit.record.members[0].guid.clear();
    const auto gone = port_of(unit);
    CHECK(keys_of(gone) == all_of("BoundPort", false));
    CHECK(gone["isPresent"] == false);
    CHECK(gone["isReady"] == false);
    CHECK(gone["index"] == 2);
}

TEST_CASE("a port that is back is told once", "[api]")
{
    auto unit = bound();
    unit.record.members = {member(2)};
    CHECK(port_of(unit)["index"] == 3);
}

TEST_CASE("a port that is not ready is told as such", "[api]")
{
    auto unit = bound();
    unit.present.begin()->second.is_ready = false;
    CHECK(port_of(unit)["isReady"] == false);
}

TEST_CASE("a binding is one of the interface", "[api]")
{
    config::BindingFile file = {.name = "50-a.binding",
                                .path = "/run/rdmad/binding.d/50-a.binding",
                                .units = {"a@%d.service"},
                                .node = config::BindingNode::issm,
                                .require = config::Require::any,
                                .wait_for = config::WaitFor::active,
                                .restart = config::Restart::no,
                                .on_replaced = config::OnReplaced::wait,
                                .on_blocked = config::OnBlocked::stop,
                                .stage = config::Stage::targets};
    CHECK(to_json(file, {{"mlx5_0/1"}, {"0002c90300000a02"}}) ==
          Json{{"name", "50-a.binding"},
               {"path", "/run/rdmad/binding.d/50-a.binding"},
               {"isRuntime", true},
               {"units", {"a@%d.service"}},
               {"node", "issm"},
               {"require", "any"},
               {"waitFor", "active"},
               {"restart", "no"},
               {"onReplaced", "wait"},
               {"onBlocked", "stop"},
               {"stage", "targets"},
               {"matches", {"mlx5_0/1"}},
               {"missing", {"0002c90300000a02"}},
               {"problems", Json::array()}});
    config::BindingFile wrong = {.path = "/etc/rdmad/binding.d/50-b.binding"};
    wrong.problems.push_back({.file = wrong.path, .line = 7, .key = "Unit", .what = "is odd"});
    const auto json = to_json(wrong, {});
    CHECK(json["isRuntime"] == false);
    CHECK(json["node"] == "uverbs");
    CHECK(json["require"] == "all");
    CHECK(json["waitFor"] == "present");
    CHECK(json["restart"] == "return");
    CHECK(json["problems"] == Json{"/etc/rdmad/binding.d/50-b.binding:7: Unit: is odd"});
    for (const auto& one : {to_json(file, {{"mlx5_0/1"}, {}}), json}) {
        CHECK(complaint(one, "Binding").empty());
        CHECK(keys_of(one) == all_of("Binding", true));
    }
}
