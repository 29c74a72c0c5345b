// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/api/api.hpp"

#include "core/base/text.hpp"
#include "daemon/clock.hpp"
#include "interfaces/descriptions.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace rdmad::api {

namespace {

using Keys = std::vector<std::pair<std::string, std::string>>;

constexpr std::array<std::pair<const char*, const char*>, 8> match_keys = {
    {{"portGuid", "PortGUID"},
     {"nodeGuid", "NodeGUID"},
     {"linkType", "LinkType"},
     {"driver", "Driver"},
     {"device", "Device"},
     {"path", "Path"},
     {"netdev", "NetDev"},
     {"port", "Port"}}};
constexpr std::array<std::pair<const char*, const char*>, 7> binding_keys = {
    {{"node", "Node"},
     {"require", "Require"},
     {"waitFor", "WaitFor"},
     {"restart", "Restart"},
     {"onReplaced", "OnReplaced"},
     {"onBlocked", "OnBlocked"},
     {"stage", "Stage"}}};

/// Takes a parameter that is a string, null or left out. Returns false if it is something else.
bool take(const Json& parameters, const char* name, std::optional<std::string>& target)
{
    const auto found = parameters.find(name);
    if (found == parameters.end() || found->is_null())
        return true;
    if (!found->is_string())
        return false;
    target = found->get<std::string>();
    return true;
}

template <size_t N>
bool take_keys(const std::shared_ptr<varlink::Call>& call,
               const std::array<std::pair<const char*, const char*>, N>& known, Keys& keys)
{
    for (const auto& [parameter, key] : known) {
        std::optional<std::string> value;
        if (!take(call->parameters(), parameter, value)) {
            call->fail_parameter(parameter);
            return false;
        }
        if (value)
            keys.emplace_back(key, *value);
    }
    return true;
}

bool is_called(const lifecycle::History& history, const std::string& name)
{
    return history.name == name || text::format_guid(history.node_guid) == name;
}

bool refuse_others(const std::shared_ptr<varlink::Call>& call)
{
    if (call->peer_uid() == 0)
        return false;
    call->fail_permission();
    return true;
}

/// Replies to Prepare(): with a step, or the end.
void answer(varlink::Call& call, const std::string& device, const Progress& progress)
{
    auto parameters = to_json(progress);
    if (!progress.is_last) {
        if (call.wants_more())
            (void)call.notify(parameters);
        return;
    }
    const std::string prefix = "io.rdmad.Lifecycle.";
    parameters.erase("stage");
    switch (progress.stage) {
    case Progress::Stage::inhibited:
        return call.fail(prefix + "Inhibited", std::move(parameters));
    case Progress::Stage::in_use:
        return call.fail(prefix + "InUse", std::move(parameters));
    case Progress::Stage::resumed:
        return call.fail(prefix + "Resumed", {{"device", device}});
    case Progress::Stage::gone:
        return call.fail(prefix + "NoSuchDevice", {{"device", device}});
    default:
        return call.reply(to_json(progress));
    }
}

/// Returns what a call of root is about; nullopt if it got its reply already.
std::optional<std::string> take_subject(const std::shared_ptr<varlink::Call>& call, const char* key)
{
    if (refuse_others(call))
        return std::nullopt;
    std::optional<std::string> subject;
    if (!take(call->parameters(), key, subject) || !subject)
        call->fail_parameter(key);
    return subject;
}

/// Adds the words that are not known.
void add_others(std::vector<std::string>& all, const std::vector<std::string>& words,
                const std::set<std::string>& known)
{
    std::copy_if(words.begin(), words.end(), std::back_inserter(all),
                 [&](const std::string& word) { return !known.contains(word); });
}

/// The facts that binding files are matched with, computed once for all, as there may be many.
struct Present {
    std::vector<config::Facts> ports = {};
    std::set<std::string> port_guids = {};
    std::set<std::string> node_guids = {};
};

Present present_of(const Inventory& inventory, const config::Facts& host)
{
    Present present;
    for (const auto& [index, device] : inventory.devices()) {
        present.node_guids.insert(text::format_guid(device.node_guid));
        for (const auto& port : device.ports) {
            present.ports.push_back(facts_of(device, port, host));
            if (port.guid)
                present.port_guids.insert(text::format_guid(*port.guid));
        }
    }
    return present;
}

Reach reach_of(const config::BindingFile& file, const Present& present)
{
    Reach reach;
    for (const auto& port : present.ports)
        if (matches(file, port))
            reach.matches.push_back(port.device + "/" + port.port);
    add_others(reach.missing, file.match.port_guids(), present.port_guids);
    add_others(reach.missing, file.match.node_guids(), present.node_guids);
    return reach;
}

const char* name_of_change(DeviceChange::Kind kind)
{
    switch (kind) {
    case DeviceChange::Kind::added:
        return "add";
    case DeviceChange::Kind::removed:
        return "remove";
    case DeviceChange::Kind::renamed:
        return "rename";
    case DeviceChange::Kind::port:
        return "port";
    case DeviceChange::Kind::other:
        break;
    }
    return "change";
}

} // namespace

Api::Api(varlink::Server& server, const Inventory& inventory, Bindings& bindings,
         const Supervisor& supervisor, lifecycle::Lifecycle& lives, Inhibitors& inhibitors,
         Preparations& preparations, recovery::Recovery& recovery, config::Facts host,
         std::function<void()> reload, std::function<void()> look_at_ports,
         std::function<void()> on_work)
    : inventory_(inventory),
      bindings_(bindings),
      supervisor_(supervisor),
      lives_(lives),
      inhibitors_(inhibitors),
      preparations_(preparations),
      recovery_(recovery),
      host_(std::move(host)),
      reload_(std::move(reload)),
      look_at_ports_(std::move(look_at_ports)),
      on_work_(std::move(on_work))
{
    const auto method = [this](auto member) {
        return [this, member](const CallPtr& call) { (this->*member)(call); };
    };
    server.add_interface(
        "io.rdmad.Devices", interfaces::devices,
        {{"List", method(&Api::list_devices)}, {"Monitor", method(&Api::monitor)}});
    server.add_interface("io.rdmad.Bindings", interfaces::bindings,
                         {{"List", method(&Api::list_bindings)},
                          {"Add", method(&Api::add_binding)},
                          {"Remove", method(&Api::remove_bindings)},
                          {"Reload", method(&Api::reload_bindings)}});
    server.add_interface("io.rdmad.Lifecycle", interfaces::lifecycle,
                         {{"Release", method(&Api::release_device)},
                          {"Accept", method(&Api::accept_device)},
                          {"Prepare", method(&Api::prepare_device)},
                          {"Resume", method(&Api::resume_device)},
                          {"Recover", method(&Api::recover)},
                          {"Inhibit", method(&Api::inhibit)},
                          {"ListInhibitors", method(&Api::list_inhibitors)}});
}

// -- io.rdmad.Devices -----------------------------------------------------------------------------

void Api::list_devices(const CallPtr& call) const
{
    std::optional<std::string> name;
    if (!take(call->parameters(), "device", name))
        return call->fail_parameter("device");
    look_at_ports_();
    auto devices = Json::array();
    for (const auto& [index, known] : inventory_.devices())
        if (!name || is_called(known, *name))
            devices.push_back(device(known));
    auto removing = Json::array();
    for (const auto* history : lives_.removing())
        if (!name || is_called(*history, *name))
            removing.push_back(to_json(*history));
    if (name && devices.empty() && removing.empty())
        return call->fail("io.rdmad.Devices.NoSuchDevice", {{"device", *name}});
    call->reply({{"devices", std::move(devices)}, {"removing", std::move(removing)}});
}

void Api::monitor(const CallPtr& call)
{
    if (!call->wants_more())
        return call->fail("org.varlink.service.ExpectedMore");
    const auto polls = call->parameters().find("pollPorts");
    const bool has_polls = polls != call->parameters().end() && !polls->is_null();
    if (has_polls && !polls->is_boolean())
        return call->fail_parameter("pollPorts");
    look_at_ports_();
    monitors_.push_back({call, has_polls && polls->get<bool>()});
    const auto position = std::prev(monitors_.end());
    call->on_close([this, position] {
        monitors_.erase(position);
        on_monitors_changed_();
    });
    send(*position, varlink::format_reply(snapshot("snapshot"), true));
    on_monitors_changed_();
}

bool Api::wants_port_states() const
{
    return std::any_of(monitors_.begin(), monitors_.end(),
                       [](const Monitor& monitor) { return monitor.polls_ports; });
}

void Api::on_device(const DeviceChange& change)
{
    if (monitors_.empty())
        return;
    auto event = event_of(name_of_change(change.kind));
    event["device"] = device(change.device);
    if (change.kind == DeviceChange::Kind::renamed)
        event["oldName"] = change.old_name;
    if (change.kind == DeviceChange::Kind::port)
        event["port"] = change.port;
    broadcast(std::move(event));
}

void Api::on_life(const lifecycle::History& history, const lifecycle::Change& change)
{
    if (monitors_.empty())
        return;
    auto event = event_of("life");
    event["life"] = to_json(history);
    event["change"] = std::string(to_string(change.kind));
    broadcast(std::move(event));
}

void Api::on_unit(const std::string& name, const BoundUnit& unit)
{
    if (!unit.state)
        return;
    auto now = std::pair(unit.state->active_state, unit.reason);
    if (std::exchange(told_[name], now) == now)
        return;
    auto event = event_of("unit");
    event["unit"] = name;
    event["unitState"] = now.first;
    event["reason"] = now.second;
    broadcast(std::move(event));
}

void Api::on_binding(const std::string& name, const std::string& change)
{
    auto event = event_of("binding");
    event["change"] = change;
    event["binding"] = name;
    broadcast(std::move(event));
}

void Api::on_lost()
{
    broadcast(snapshot("lost"));
}

void Api::broadcast(Json event)
{
    event["sequence"] = ++sequence_;
    if (monitors_.empty())
        return;
    const auto message = varlink::format_reply(event, true);
    for (auto& monitor : monitors_)
        send(monitor, message);
}

/// Sends an event. A monitor that is too slow misses some, and gets a snapshot once it has read
/// all.
void Api::send(Monitor& monitor, const std::string& message)
{
    if (monitor.has_lost || monitor.call->notify_formatted(message))
        return;
    monitor.has_lost = true;
    monitor.call->on_room([this, &monitor] {
        monitor.has_lost = false;
        send(monitor, varlink::format_reply(snapshot("lost"), true));
    });
}

Json Api::event_of(const char* kind) const
{
    return {{"sequence", sequence_}, {"timestamp", now_usec(CLOCK_REALTIME)}, {"event", kind}};
}

Json Api::snapshot(const char* kind) const
{
    auto event = event_of(kind);
    event["devices"] = Json::array();
    for (const auto& [index, known] : inventory_.devices())
        event["devices"].push_back(device(known));
    return event;
}

Json Api::device(const Device& device) const
{
    return to_json(device, supervisor_.units_of(device.index), lives_.find(device.index));
}

// -- io.rdmad.Lifecycle ---------------------------------------------------------------------------

void Api::release_device(const CallPtr& call)
{
    steer(call, &lifecycle::Lifecycle::release);
}

void Api::accept_device(const CallPtr& call)
{
    steer(call, &lifecycle::Lifecycle::accept);
}

void Api::steer(const CallPtr& call, bool (lifecycle::Lifecycle::*order)(uint32_t))
{
    const auto name = take_subject(call, "device");
    if (!name)
        return;
    bool is_known = false;
    for (const auto& [index, known] : inventory_.devices())
        if (is_called(known, *name))
            is_known = (lives_.*order)(index) || is_known;
    if (!is_known)
        return call->fail("io.rdmad.Lifecycle.NoSuchDevice", {{"device", *name}});
    call->reply({});
}

const Device* Api::only_device(const CallPtr& call, const std::string& name) const
{
    std::vector<const Device*> found;
    auto names = Json::array();
    for (const auto& [index, device] : inventory_.devices())
        if (is_called(device, name)) {
            found.push_back(&device);
            names.push_back(device.name);
        }
    if (found.size() == 1)
        return found.front();
    if (found.empty())
        call->fail("io.rdmad.Lifecycle.NoSuchDevice", {{"device", name}});
    else
        call->fail("io.rdmad.Lifecycle.Ambiguous", {{"devices", std::move(names)}});
    return nullptr;
}

void Api::prepare_device(const CallPtr& call)
{
    const auto name = take_subject(call, "device");
    if (!name)
        return;
    const auto ignores = call->parameters().find("ignoreInhibitors");
    const bool has_ignores = ignores != call->parameters().end() && !ignores->is_null();
    if (has_ignores && !ignores->is_boolean())
        return call->fail_parameter("ignoreInhibitors");
    const auto* device = only_device(call, *name);
    if (!device)
        return;
    const auto index = device->index;
    const bool has_begun = preparations_.begin(
        index, has_ignores && ignores->get<bool>(),
        [call, name = device->name](const Progress& progress) { answer(*call, name, progress); });
    if (!has_begun)
        return call->fail("io.rdmad.Lifecycle.Busy", {{"device", device->name}});
    call->on_close([this, index] { preparations_.abandon(index); });
    on_work_();
}

void Api::resume_device(const CallPtr& call)
{
    const auto name = take_subject(call, "device");
    if (!name)
        return;
    const auto* device = only_device(call, *name);
    if (!device)
        return;
    preparations_.resume(device->index);
    call->reply({});
}

void Api::inhibit(const CallPtr& call)
{
    if (refuse_others(call))
        return;
    if (!call->wants_more())
        return call->fail("org.varlink.service.ExpectedMore");
    std::optional<std::string> device;
    std::optional<std::string> who;
    std::optional<std::string> why;
    std::optional<std::string> mode;
    for (const auto& [key, target] : {std::pair("device", &device), std::pair("who", &who),
                                      std::pair("why", &why), std::pair("mode", &mode)})
        if (!take(call->parameters(), key, *target) || (!*target && target != &device))
            return call->fail_parameter(key);
    const auto known_mode = parse_mode(*mode);
    if (!known_mode)
        return call->fail_parameter("mode");
    if (device && !only_device(call, *device))
        return;
    // this keeps the call, for as long as the client stays
    const auto tell = [call](const Device& about) { (void)call->notify({{"device", about.name}}); };
    const auto id = inhibitors_.add({device.value_or(""), *who, *why, *known_mode}, tell);
    call->on_close([this, id] {
        inhibitors_.remove(id);
        on_work_();
    });
    (void)call->notify(Json::object());
}

void Api::list_inhibitors(const CallPtr& call) const
{
    auto list = Json::array();
    for (const auto& inhibitor : inhibitors_.all())
        list.push_back(to_json(inhibitor));
    call->reply({{"inhibitors", std::move(list)}});
}

void Api::recover(const CallPtr& call)
{
    if (refuse_others(call))
        return;
    const auto dry = call->parameters().find("dryRun");
    const bool has_dry = dry != call->parameters().end() && !dry->is_null();
    if (has_dry && !dry->is_boolean())
        return call->fail_parameter("dryRun");
    using Mode = recovery::Order::Mode;
    recovery_.ask(has_dry && dry->get<bool>() ? Mode::look : Mode::restore,
                  [call](const Result<recovery::Report>& report) {
                      if (!report)
                          return call->fail("io.rdmad.Lifecycle.NotRecovered",
                                            {{"reason", report.error().message()}});
                      call->reply(to_json(*report));
                  });
}

// -- io.rdmad.Bindings ----------------------------------------------------------------------------

void Api::list_bindings(const CallPtr& call) const
{
    std::optional<std::string> name;
    if (!take(call->parameters(), "unit", name))
        return call->fail_parameter("unit");
    look_at_ports_();
    auto units = Json::array();
    std::set<std::string> named;
    for (const auto& [unit, bound] : supervisor_.units()) {
        if (name && unit != *name)
            continue;
        units.push_back(to_json(unit, bound));
        named.insert(bound.bindings.begin(), bound.bindings.end());
    }
    if (name && units.empty())
        return call->fail("io.rdmad.Bindings.NoSuchUnit", {{"unit", *name}});
    auto files = Json::array();
    const auto present = present_of(inventory_, host_);
    for (const auto& file : bindings_.files())
        if (!name || named.contains(file.name))
            files.push_back(to_json(file, reach_of(file, present)));
    call->reply({{"bindings", std::move(files)}, {"units", std::move(units)}});
}

void Api::add_binding(const CallPtr& call)
{
    const auto unit = take_subject(call, "unit");
    if (!unit)
        return;
    Keys match;
    Keys binding;
    if (!take_keys(call, match_keys, match) || !take_keys(call, binding_keys, binding))
        return;
    const auto name = bindings_.add(*unit, match, binding);
    if (!name)
        return call->fail("io.rdmad.Bindings.InvalidBinding",
                          {{"reason", name.error().code == EINVAL ? name.error().context
                                                                  : name.error().message()}});
    reload_();
    call->reply({{"name", *name}, {"path", "/run/rdmad/binding.d/" + *name}});
}

void Api::remove_bindings(const CallPtr& call)
{
    const auto unit = take_subject(call, "unit");
    if (!unit)
        return;
    const auto removed = bindings_.remove(*unit);
    if (!removed)
        return call->fail("io.rdmad.Bindings.InvalidBinding",
                          {{"reason", removed.error().message()}});
    if (!removed->empty())
        reload_();
    call->reply({{"removed", *removed}});
}

void Api::reload_bindings(const CallPtr& call)
{
    if (refuse_others(call))
        return;
    reload_();
    auto problems = Json::array();
    for (const auto& file : bindings_.files())
        for (const auto& problem : file.problems)
            problems.push_back(problem.message());
    call->reply({{"problems", std::move(problems)}});
}

} // namespace rdmad::api
