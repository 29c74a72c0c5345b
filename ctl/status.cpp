// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/status_text.hpp"
#include "ctl/terminal.hpp"
#include "ctl/verbs.hpp"
#include "ctl/words.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace rdmad::ctl {

namespace {

int64_t now()
{
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

bool is_error(const Complaint& complaint, std::string_view error)
{
    return complaint.kind == Complaint::Kind::refused && complaint.error == error;
}

Answer<int> all(Client& client, const Common& common)
{
    auto devices = ask_devices(client);
    if (!devices)
        return as_told(devices);
    auto bindings = ask_bindings(client);
    if (!bindings)
        return as_told(bindings);
    auto removing = read_removing(devices->raw);
    if (!removing)
        return as_told(removing);
    if (common.json)
        return finish(to_line({{"devices", std::move(devices->raw["devices"])},
                               {"removing", devices->raw.value("removing", Json::array())},
                               {"bindings", std::move(bindings->raw["bindings"])},
                               {"units", std::move(bindings->raw["units"])}}));
    return finish(
        status_of_all(devices->value, *removing, bindings->value, now(), style_of_output()));
}

constexpr size_t max_devices_told = 8;

/// The names that somebody could ask about.
struct Names {
    std::vector<std::string> devices = {};
    std::vector<std::string> others = {}; ///< GUIDs and bound units
};

Names names_of(Client& client)
{
    Names names;
    if (const auto devices = ask_devices(client))
        for (const auto& device : devices->value) {
            names.devices.push_back(device.name);
            names.others.push_back(device.node_guid);
            for (const auto& port : device.ports)
                names.others.push_back(port.guid.value_or(device.node_guid));
        }
    if (const auto bindings = ask_bindings(client))
        for (const auto& unit : bindings->value.units)
            names.others.push_back(unit.name);
    return names;
}

/// Names what is there and like it; else the devices, unless they are many.
Complaint unknown(Client& client, const std::string& what)
{
    const auto names = names_of(client);
    auto all = names.devices;
    all.insert(all.end(), names.others.begin(), names.others.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    auto near = nearby(what.substr(0, what.rfind('/')), all);
    if (near.empty() && names.devices.size() <= max_devices_told)
        near = names.devices;
    return {.text = "'" + what + "' is no RDMA device, GUID or bound unit" +
                    (near.empty() ? "; rdmactl list shows what is there"
                                  : "; there is " + join(near, ", ")) +
                    "; if you have just written a .binding file, run rdmactl reload"};
}

/// Returns a reply of List with the devices that have a port, and nothing of their other ports.
Json narrowed(const Json& devices, uint32_t number)
{
    auto narrow = Json::array();
    for (auto device : devices) {
        const auto ports = std::exchange(device["ports"], Json::array());
        for (const auto& port : ports)
            if (port["number"] == number) {
                device["ports"].push_back(port);
                device["units"] = port.value("units", device["units"]);
                narrow.push_back(device);
            }
    }
    return {{"devices", narrow}};
}

/// Returns devices, or one port of them; nullopt if there is no such device.
Answer<std::optional<Asked<std::vector<Device>>>> find(Client& client, const Target& target)
{
    using Found = std::optional<Asked<std::vector<Device>>>;
    auto devices = ask_devices(client, target.name);
    if (!devices && is_error(devices.error(), "io.rdmad.Devices.NoSuchDevice"))
        return Found();
    if (!devices)
        return as_told(devices);
    if (!target.port)
        return Found(std::move(*devices));
    auto raw = narrowed(devices->raw["devices"], *target.port);
    auto value = read_devices(raw);
    if (!value)
        return as_told(value);
    if (value->empty())
        return failed("'" + target.name + "' has no port " + std::to_string(*target.port));
    return Found({std::move(raw), std::move(*value)});
}

/// Prints a device. Returns nullopt if there is none.
Answer<std::optional<int>> device(Client& client, const Common& common, const std::string& what)
{
    auto target = parse_target(what);
    if (!target)
        return as_told(target);
    auto found = find(client, *target);
    if (!found)
        return as_told(found);
    if (!*found)
        return std::optional<int>();
    auto& devices = *found;
    auto bindings = ask_bindings(client);
    if (!bindings)
        return as_told(bindings);
    auto removing = read_removing(devices->raw);
    if (!removing)
        return as_told(removing);
    if (common.json)
        return finish(to_line({{"devices", std::move(devices->raw["devices"])},
                               {"removing", devices->raw.value("removing", Json::array())}}));
    std::string text;
    for (const auto& life : *removing)
        text += status_of_removing(life, style_of_output());
    for (const auto& one : devices->value)
        text += status_of_device(one, bindings->value.units, now(), style_of_output());
    return finish(text);
}

/// Prints a unit. Returns nullopt if there is none.
Answer<std::optional<int>> unit(Client& client, const Common& common, const std::string& name)
{
    auto bindings = ask_bindings(client, name);
    if (!bindings && is_error(bindings.error(), "io.rdmad.Bindings.NoSuchUnit"))
        return std::optional<int>();
    if (!bindings)
        return as_told(bindings);
    const auto& units = bindings->value.units;
    if (units.empty())
        return std::optional<int>();
    const bool is_up = std::all_of(units.begin(), units.end(), is_active);
    const int exit_code = is_up ? exit_fine : exit_not_active;
    if (common.json)
        return finish(to_line(bindings->raw), exit_code);
    std::string text;
    for (const auto& one : units)
        text += status_of_unit(one, bindings->value.bindings, now(), style_of_output());
    return finish(text, exit_code);
}

} // namespace

Answer<int> status(const Common& common, const std::optional<std::string>& what)
{
    auto client = connect(common);
    if (!client)
        return as_told(client);
    if (!what)
        return all(*client, common);
    if (!is_unit(*what)) {
        auto found = device(*client, common, *what);
        if (!found)
            return as_told(found);
        if (*found)
            return **found;
    }
    // a '/' is for ports alone
    if (what->find('/') == std::string::npos) {
        auto found = unit(*client, common, with_suffix(*what));
        if (!found)
            return as_told(found);
        if (*found)
            return **found;
    }
    return tl::unexpected<Complaint>(unknown(*client, *what));
}

} // namespace rdmad::ctl
