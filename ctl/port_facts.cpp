// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/port_facts.hpp"

#include "ctl/words.hpp"

namespace rdmad::ctl {

namespace {

config::Facts facts_of(const Device& device, const config::Facts& host)
{
    auto facts = host;
    facts.device = device.name;
    facts.driver = device.driver.value_or("");
    facts.path = device.path.value_or("");
    facts.node_guid = device.node_guid;
    facts.sys_image_guid = device.sys_image_guid;
    return facts;
}

config::Facts facts_of(const Port& port, config::Facts facts)
{
    facts.port = std::to_string(port.number);
    facts.port_guids = {port.guid.value_or("")};
    facts.link_types = {port.link_type};
    facts.netdevs = {port.netdev.value_or("")};
    return facts;
}

} // namespace

std::vector<std::string> matches_of(const config::Match& match, const std::vector<Device>& devices,
                                    const config::Facts& host)
{
    std::vector<std::string> names;
    for (const auto& device : devices) {
        const auto facts = facts_of(device, host);
        for (const auto& port : device.ports)
            if (match.why_not(facts_of(port, facts)).empty())
                names.push_back(port_name(device.name, port.number));
    }
    return names;
}

} // namespace rdmad::ctl
