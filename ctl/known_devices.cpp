// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/known_devices.hpp"

#include "ctl/words.hpp"

#include <algorithm>

namespace rdmad::ctl {

namespace {

const Port* find_port(const Device& device, uint32_t number)
{
    const auto found = std::find_if(device.ports.begin(), device.ports.end(),
                                    [&](const Port& port) { return port.number == number; });
    return found == device.ports.end() ? nullptr : &*found;
}

std::string describe(const Device& device)
{
    return "index " + std::to_string(device.index) + ", " + device.protocol + ", node GUID " +
           device.node_guid + ", " + count_of(device.ports.size(), "port");
}

std::string list_names(const std::vector<Device>& devices)
{
    auto text = count_of(devices.size(), "device");
    for (const auto& device : devices)
        text += (&device == &devices.front() ? ": " : " ") + device.name;
    return text;
}

std::string change(const char* what, const std::string& before, const std::string& now)
{
    return before == now ? "" : std::string(", ") + what + " " + before + " -> " + now;
}

std::string port_changes(const Port* before, const Port& now)
{
    const auto state = [](const Port& port) { return state_cell(port).text; };
    const auto guid = [](const Port& port) { return port.guid.value_or("none"); };
    const auto netdev = [](const Port& port) { return port.netdev.value_or("none"); };
    if (!before)
        return ", " + now.link_type + ", " + state(now);
    const auto changes = change("state", state(*before), state(now)) +
                         change("link type", before->link_type, now.link_type) +
                         change("GUID", guid(*before), guid(now)) +
                         change("network device", netdev(*before), netdev(now));
    return changes.empty() ? ", " + state(now) : changes;
}

std::string port_text(const Event& event, const Device* before)
{
    if (!event.device)
        return "";
    const auto number = event.port.value_or(0);
    const auto name = port_name(event.device->name, number);
    const auto* now = find_port(*event.device, number);
    return now ? name + port_changes(before ? find_port(*before, number) : nullptr, *now) : name;
}

std::string device_text(const Event& event)
{
    if (!event.device)
        return "";
    const auto text = event.device->name + ", ";
    return event.old_name ? text + "was " + *event.old_name : text + describe(*event.device);
}

std::string unit_text(const Event& event)
{
    auto text = event.unit.value_or("?");
    if (event.unit_state)
        text += ", " + *event.unit_state;
    if (event.reason && !event.reason->empty())
        text += ", " + *event.reason;
    return text;
}

/// Returns "mlx5_0, ready", "mlx5_0, went: hot unplug".
std::string life_text(const Event& event)
{
    const auto& life = *event.life;
    const auto change = event.change.value_or("state");
    if (change == "state")
        return life.device + ", " + life.state;
    if (change == "holders" && life.holders)
        return life.device + ", in use by " +
               (life.holders->empty() ? "no process" : describe_holders(*life.holders));
    const bool has_cause = change == "went" || change == "explained";
    return life.device + ", " + change + (has_cause ? ": " + life.cause.value_or("") : "");
}

std::string details(const Event& event, const Device* before)
{
    if (event.devices)
        return list_names(*event.devices);
    if (event.name == "port")
        return port_text(event, before);
    if (event.life)
        return life_text(event);
    if (event.name == "unit")
        return unit_text(event);
    if (event.name == "binding")
        return event.binding.value_or("?") + (event.change ? ", " + *event.change : "");
    return device_text(event);
}

} // namespace

uint64_t KnownDevices::apply(const Event& event)
{
    const bool is_gap = sequence_ && event.sequence > *sequence_ + 1 && !event.devices;
    const auto missed = is_gap ? event.sequence - *sequence_ - 1 : 0;
    sequence_ = event.sequence;
    if (event.devices)
        devices_ = *event.devices;
    if (event.device && event.name == "remove")
        std::erase_if(devices_,
                      [&](const Device& device) { return device.index == event.device->index; });
    else if (event.device)
        put(*event.device);
    if (event.life)
        put(*event.life);
    return missed;
}

const Device* KnownDevices::find(uint32_t index) const
{
    const auto found = std::find_if(devices_.begin(), devices_.end(),
                                    [&](const Device& device) { return device.index == index; });
    return found == devices_.end() ? nullptr : &*found;
}

void KnownDevices::put(const Device& device)
{
    const auto found = std::find_if(devices_.begin(), devices_.end(), [&](const Device& known) {
        return known.index == device.index;
    });
    if (found == devices_.end())
        devices_.push_back(device);
    else
        *found = device;
}

void KnownDevices::put(const Life& life)
{
    for (auto& device : devices_)
        if (device.index == life.index)
            device.life = life;
}

std::string event_text(const Event& event, const Device* before)
{
    const auto more = details(event, before);
    return more.empty() ? event.name : event.name + " " + more;
}

} // namespace rdmad::ctl
