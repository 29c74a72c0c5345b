// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/terminal.hpp"
#include "ctl/verbs.hpp"
#include "ctl/words.hpp"

namespace rdmad::ctl {

namespace {

std::vector<Cell> row(const Device& device, const Port* port)
{
    return {{device.name},
            {port ? std::to_string(port->number) : ""},
            {std::to_string(device.index)},
            {port ? port->link_type : device.protocol},
            port ? state_cell(*port) : Cell(),
            {port ? port->guid.value_or("") : ""},
            {port ? port->netdev.value_or("") : ""},
            {device.driver.value_or("")},
            {device.path.value_or("")},
            {join(port ? port->units.value_or(device.units) : device.units, ",")}};
}

Table table_of(const std::vector<Device>& devices)
{
    Table table{.columns = {{"DEVICE", true, 0, 16},
                            {"PORT"},
                            {"INDEX", false, 4},
                            {"TYPE"},
                            {"STATE"},
                            {"PORT-GUID"},
                            {"NETDEV", true, 1},
                            {"DRIVER", true, 2},
                            {"PATH", true, 3},
                            {"UNITS", true}}};
    for (const auto& device : devices) {
        for (const auto& port : device.ports)
            table.rows.push_back(row(device, &port));
        if (device.ports.empty())
            table.rows.push_back(row(device, nullptr));
    }
    return table;
}

} // namespace

Answer<int> list(const Common& common)
{
    auto client = connect(common);
    if (!client)
        return as_told(client);
    auto devices = ask_devices(*client);
    if (!devices)
        return as_told(devices);
    if (common.json)
        return finish(to_line(devices->raw));
    auto style = style_of_output();
    style.has_legend = common.has_legend;
    return finish(layout(table_of(devices->value), style));
}

} // namespace rdmad::ctl
