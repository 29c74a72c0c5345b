// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/api/json.hpp"

#include "core/base/text.hpp"

#include <algorithm>

namespace rdmad::api {

namespace {

void add(Json& json, const char* key, const std::string& value)
{
    if (!value.empty())
        json[key] = value;
}

void add(Json& json, const char* key, const std::optional<NodeRef>& node)
{
    if (node)
        json[key] = node->sysname;
}

Json bound_port(const Member& member, bool is_present)
{
    Json json = {{"device", member.device}, {"index", member.index},
                 {"port", member.port},     {"nodeGuid", member.node_guid},
                 {"isPresent", is_present}, {"isReady", is_present && member.is_ready}};
    add(json, "guid", member.guid);
    if (!is_present)
        return json;
    add(json, "node", member.node);
    add(json, "anchor", member.anchor);
    return json;
}

Json ports_of(const BoundUnit& unit)
{
    auto ports = Json::array();
    for (const auto& [key, member] : unit.present)
        ports.push_back(bound_port(member, true));
    for (const auto& member : unit.record.members)
        if (!member.is_unused &&
            std::none_of(unit.present.begin(), unit.present.end(),
                         [&](const auto& present) { return present.second.is_same_port(member); }))
            ports.push_back(bound_port(member, false));
    return ports;
}

} // namespace

Json to_json(const Port& port, const std::set<std::string>& units)
{
    Json json = {{"number", port.number},
                 {"linkType", std::string(naming::to_string(port.link_type))},
                 {"isReady", port.is_ready()},
                 {"units", units}};
    add(json, "guid", port.guid ? text::format_guid(*port.guid) : "");
    add(json, "state", port.state);
    add(json, "netdev", port.netdev);
    add(json, "umad", port.umad);
    add(json, "issm", port.issm);
    return json;
}

Json to_json(const Holder& holder)
{
    auto nodes = holder.nodes;
    nodes.insert(holder.gone.begin(), holder.gone.end());
    Json json = {{"pid", holder.pid},
                 {"command", holder.command},
                 {"isStored", holder.is_stored},
                 {"nodes", nodes}};
    add(json, "unit", holder.unit);
    return json;
}

Json to_json(const Inhibitor& inhibitor)
{
    Json json = {{"who", inhibitor.who},
                 {"why", inhibitor.why},
                 {"mode", std::string(to_string(inhibitor.mode))}};
    add(json, "device", inhibitor.device);
    return json;
}

Json to_json(const Progress& progress)
{
    Json json = {{"stage", std::string(to_string(progress.stage))}};
    const auto add_list = [&](const char* key, const auto& list) {
        for (const auto& one : list)
            json[key].push_back(to_json(one));
    };
    add_list("inhibitors", progress.inhibitors);
    add_list("holders", progress.holders);
    if (!progress.units.empty())
        json["units"] = progress.units;
    add(json, "reason", progress.problem);
    return json;
}

Json to_json(const recovery::Report& report)
{
    auto targets = Json::array();
    for (const auto& target : report.targets) {
        Json json = {{"kind", std::string(to_string(target.kind))},
                     {"name", target.name},
                     {"address", target.address},
                     {"state", std::string(to_string(target.state))}};
        add(json, "reason", target.reason);
        targets.push_back(std::move(json));
    }
    return {{"targets", std::move(targets)}};
}

Json to_json(const lifecycle::History& history)
{
    const auto& life = history.life;
    Json json = {{"device", history.name},
                 {"index", life.index},
                 {"state", std::string(to_string(life.state))},
                 {"isDegraded", life.is_degraded},
                 {"isBlocked", life.is_blocked},
                 {"isAccepted", life.is_accepted},
                 {"returns", life.returns.size()}};
    if (history.life.is_blocked && history.holders) {
        json["holders"] = Json::array();
        for (const auto& holder : *history.holders)
            json["holders"].push_back(to_json(holder));
    }
    if (life.went != 0)
        json["cause"] = std::string(to_string(life.cause));
    if (life.held_until)
        json["heldUntil"] = *life.held_until;
    return json;
}

Json to_json(const Device& device, const Supervisor::UnitsByPort& units,
             const lifecycle::History* history)
{
    std::set<std::string> all;
    for (const auto& [port, bound] : units)
        all.insert(bound.begin(), bound.end());
    Json json = {{"name", device.name},
                 {"index", device.index},
                 {"nodeGuid", text::format_guid(device.node_guid)},
                 {"sysImageGuid", text::format_guid(device.sys_image_guid)},
                 {"protocol", device.protocol},
                 {"ports", Json::array()},
                 {"units", all}};
    add(json, "driver", device.driver);
    add(json, "path", device.path);
    add(json, "firmware", device.firmware);
    add(json, "uverbs", device.uverbs);
    for (const auto& port : device.ports) {
        const auto bound = units.find(port.number);
        json["ports"].push_back(
            to_json(port, bound == units.end() ? std::set<std::string>() : bound->second));
    }
    if (history)
        json["life"] = to_json(*history);
    return json;
}

Json to_json(const Stop& stop)
{
    Json json = {{"cause", std::string(to_string(stop.cause))}, {"timestamp", stop.timestamp}};
    if (stop.cause != Stop::Cause::unplug && stop.cause != Stop::Cause::prepare)
        return json;
    json["device"] = stop.lost.device;
    json["index"] = stop.lost.index;
    json["port"] = stop.lost.port;
    add(json, "guid", stop.lost.guid);
    return json;
}

Json to_json(const std::string& name, const BoundUnit& unit)
{
    Json json = {{"unit", name},
                 {"isWanted", unit.record.memory.is_wanted && !unit.is_left_alone},
                 {"reason", unit.reason},
                 {"bindings", unit.bindings},
                 {"ports", ports_of(unit)}};
    if (unit.state) {
        json["activeState"] = unit.state->active_state;
        add(json, "loadState", unit.state->load_state);
    }
    if (unit.record.memory.stop)
        json["stop"] = to_json(*unit.record.memory.stop);
    return json;
}

Json to_json(const config::BindingFile& file, const Reach& reach)
{
    auto problems = Json::array();
    for (const auto& problem : file.problems)
        problems.push_back(problem.message());
    return {{"name", file.name},
            {"path", file.path},
            {"isRuntime", is_runtime(file)},
            {"units", file.units},
            {"node", std::string(to_string(file.node))},
            {"require", file.require == config::Require::any ? "any" : "all"},
            {"waitFor", std::string(to_string(file.wait_for))},
            {"restart", file.restart == config::Restart::no ? "no" : "return"},
            {"onReplaced", std::string(to_string(file.on_replaced))},
            {"onBlocked", std::string(to_string(file.on_blocked))},
            {"stage", std::string(to_string(file.stage))},
            {"matches", reach.matches},
            {"missing", reach.missing},
            {"problems", std::move(problems)}};
}

} // namespace rdmad::api
