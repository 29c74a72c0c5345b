// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/wait_condition.hpp"

#include "core/base/text.hpp"
#include "ctl/words.hpp"

#include <algorithm>
#include <set>

namespace rdmad::ctl {

namespace {

/// The ports of a device that are meant.
struct Found {
    const Device* device;
    bool is_whole; ///< the device is meant; not: the port with a GUID
    std::vector<const Port*> ports;
};

/// Returns the ports that are meant: all for a name or a node GUID, its own for a port GUID.
std::optional<Found> ports_meant(const Target& target, const Device& device)
{
    const bool is_whole = target.name == device.name || target.name == device.node_guid;
    Found found{&device, is_whole, {}};
    for (const auto& port : device.ports)
        if ((is_whole || port.guid == target.name) &&
            port.number == target.port.value_or(port.number))
            found.ports.push_back(&port);
    if (found.ports.empty() && (!is_whole || target.port))
        return std::nullopt;
    return found;
}

std::vector<Found> find(const Target& target, const std::vector<Device>& devices)
{
    std::vector<Found> all;
    for (const auto& device : devices)
        if (auto found = ports_meant(target, device))
            all.push_back(std::move(*found));
    return all;
}

std::string describe(const Device& device, const Port& port)
{
    const auto state = port.state.value_or("unknown");
    const auto what = port.guid ? *port.guid : std::to_string(port.number);
    return "port " + what + " of " + device.name + " is " +
           (state == "active" && !port.is_ready ? "active, but has no address yet" : state);
}

Look look_at_activity(const Found& found)
{
    if (found.ports.empty())
        return {.seen = found.device->name + " has no ports"};
    const auto idle = std::find_if(found.ports.begin(), found.ports.end(),
                                   [](const Port* port) { return !port->is_ready; });
    if (idle != found.ports.end())
        return {.seen = describe(*found.device, **idle)};
    return {.holds = true};
}

/// Returns what a device that has an active port lacks to be ready; empty if nothing.
std::string unsettled(const Device& device)
{
    if (device.life && device.life->held_until)
        return device.name + " is held, as it came back " + count_of(device.life->returns, "time") +
               "; rdmactl release " + device.name + " ends that";
    if (device.life && device.life->state == "ready" && !device.life->is_degraded)
        return {};
    if (device.life && device.life->state == "draining")
        return device.name + " is prepared for removal; rdmactl resume " + device.name +
               " undoes that";
    return device.name + (device.life && device.life->state == "removing" ? " is being removed"
                                                                          : " has yet to settle");
}

Look look_at_readiness(const Found& found)
{
    if (auto look = look_at_activity(found); !look.holds)
        return look;
    auto why_not = unsettled(*found.device);
    return {.holds = why_not.empty(), .seen = std::move(why_not)};
}

/// Looks at all devices. Of those with a port GUID in common, as some kinds of bonding make them,
/// one is enough: rdmad reaches rdma-port-ready@GUID.target with any of them.
Look look_at_each(const std::vector<Found>& all, Look (*look_at_one)(const Found&))
{
    const bool is_one_enough =
        std::any_of(all.begin(), all.end(), [](const Found& found) { return !found.is_whole; });
    Look look;
    for (const auto& found : all) {
        look = look_at_one(found);
        if (look.holds == is_one_enough)
            break;
    }
    return look;
}

/// Returns all names by which a device or a port can be called.
std::vector<std::string> names_of(const std::vector<Device>& devices)
{
    std::set<std::string> names;
    for (const auto& device : devices) {
        names.insert({device.name, device.node_guid});
        for (const auto& port : device.ports)
            names.insert(
                {port_name(device.name, port.number), port.guid.value_or(device.node_guid)});
    }
    return {names.begin(), names.end()};
}

} // namespace

Answer<Target> parse_target(const std::string& word)
{
    const auto slash = word.rfind('/');
    Target target{.word = word, .name = plain_guid(word.substr(0, slash))};
    if (slash != std::string::npos) {
        target.port = text::parse_u32(word.substr(slash + 1));
        if (!target.port || *target.port == 0)
            return complaint(Complaint::Kind::usage,
                             "'" + word + "': behind the / stands the number of a port, from 1 on");
    }
    if (target.name.empty())
        return complaint(Complaint::Kind::usage, "'" + word + "' is neither a device nor a GUID");
    return target;
}

Look look_at(const Target& target, WaitGoal goal, const std::vector<Device>& devices)
{
    const auto all = find(target, devices);
    if (goal == WaitGoal::absent)
        return {.holds = all.empty(), .seen = "'" + target.word + "' is there"};
    if (all.empty())
        return {.seen = "'" + target.word + "' is not there"};
    if (goal == WaitGoal::present)
        return {.holds = true};
    return look_at_each(all, goal == WaitGoal::ready ? look_at_readiness : look_at_activity);
}

std::string note_of_missing(const Target& target, const std::vector<Device>& devices)
{
    if (!find(target, devices).empty())
        return {};
    const auto near = nearby(port_name(target.name, target.port.value_or(0)), names_of(devices));
    return "'" + target.word + "' is not there now" +
           (near.empty() ? "" : "; there is " + join(near, ", "));
}

} // namespace rdmad::ctl
