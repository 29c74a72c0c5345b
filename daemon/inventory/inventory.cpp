// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/inventory/inventory.hpp"

#include "core/base/text.hpp"
#include "core/device/snapshot.hpp"
#include "core/naming/node_type.hpp"
#include "core/sysfs/netdev.hpp"

#include <algorithm>
#include <net/if_arp.h>
#include <utility>

namespace rdmad {

namespace {

template <typename Map>
std::optional<NodeRef> find_node(const Map& nodes, uint32_t port)
{
    const auto found = nodes.find(port);
    return found == nodes.end() ? std::nullopt : std::optional(found->second);
}

Port port_of(const PortInfo& known, const sysfs::RdmaDevice& opened)
{
    Port port = {.number = known.port,
                 .link_type = known.link_type,
                 .guid = known.guid,
                 .has_guid = known.guid.has_value(),
                 .state = std::string(state_name(known.state)),
                 .netdev = known.netdev.value_or(""),
                 .netdev_index = known.netdev_index.value_or(0)};
    // what is not active is not asked: a table without an address has to be read to its end
    if (known.link_type == naming::LinkType::roce && port.state == "active")
        port.has_address = opened.has_address(known.port);
    return port;
}

/// Keeps the GUID of a port that has none at the moment, as it gets another one, or goes: what
/// lives with it does so until that is known. And of one that somebody else's address names now.
void keep_identity(Port& port, const std::vector<Port>& before)
{
    const auto known = std::find_if(before.begin(), before.end(),
                                    [&](const Port& other) { return other.number == port.number; });
    if ((port.has_guid && !port.is_elsewhere()) || known == before.end() || !known->guid)
        return;
    port.guid = known->guid;
    if (port.is_elsewhere() || !port.netdev.empty())
        return;
    port.netdev = known->netdev;
    port.netdev_index = known->netdev_index;
}

/// Returns nullptr if the device has no node of that name.
const NodeRef* node_of(const Device& device, std::string_view name)
{
    const auto is_it = [&](const std::optional<NodeRef>& node) {
        return node && node->sysname == name;
    };
    if (is_it(device.uverbs))
        return &*device.uverbs;
    for (const auto& port : device.ports)
        for (const auto* node : {&port.umad, &port.issm})
            if (is_it(*node))
                return &**node;
    return nullptr;
}

Device device_of(const Snapshot& snapshot)
{
    const auto& known = snapshot.info;
    Device device = {.index = known.device.index,
                     .name = known.device.name,
                     .driver = known.driver.value_or(""),
                     .node_guid = known.device.node_guid,
                     .sys_image_guid = known.device.sys_image_guid,
                     .node_type = std::string(naming::node_type_name(known.device.node_type)),
                     .protocol = std::string(known.protocol()),
                     .firmware = known.device.fw_version.value_or("")};
    for (const auto& port : known.ports)
        device.ports.push_back(port_of(port, snapshot.target.device));
    return device;
}

} // namespace

void Inventory::handle(const UdevEvent& event)
{
    if (event.action == "remove") {
        if (event.index && event.subsystem != "infiniband")
            doubtful_.insert(*event.index);
        remove_node(event.node);
    } else if (event.index && event.subsystem != "infiniband") {
        // the number of a node is given to the next device at once
        if (const auto owner = owner_.find(event.node.syspath);
            owner != owner_.end() && owner->second != *event.index)
            remove_node({event.node.sysname, event.node.syspath});
        add_node(*event.index, event);
    } else if (event.index && !event.is_renaming) {
        add_device(*event.index, event);
    }
    if (!event.index)
        return;
    if (auto outcome = refresh(*event.index); !outcome && !error_)
        error_ = std::move(outcome).error();
}

Result<void> Inventory::refresh(uint32_t index)
{
    auto device = look_at(index);
    if (!device) {
        unanswered_.insert(index);
        return tl::unexpected<Error>(std::move(device).error());
    }
    unanswered_.erase(index);
    if (!*device)
        doubtful_.erase(index);
    if (*device && !is_leaving(index))
        update(std::move(**device));
    else
        forget(index);
    compare_records(index);
    return {};
}

std::set<uint32_t> Inventory::unknown() const
{
    std::set<uint32_t> indexes;
    for (const auto index : unanswered_)
        if (!devices_.contains(index))
            indexes.insert(index);
    return indexes;
}

Result<void> Inventory::resync(const std::vector<UdevEvent>& events)
{
    std::set<uint32_t> indexes;
    for (const auto& [index, device] : devices_)
        indexes.insert(index);
    nodes_.clear();
    owner_.clear();
    for (const auto& event : events) {
        if (!event.index)
            continue;
        indexes.insert(*event.index);
        if (event.subsystem != "infiniband")
            add_node(*event.index, event);
        else
            add_device(*event.index, event);
    }
    // a request loads ib_core, which a machine without devices need not have
    if (indexes.empty())
        return {};
    const auto listed = client_.devices();
    auto outcome = listed ? Result<void>() : tl::unexpected<Error>(listed.error());
    for (const auto index : indexes) {
        // its removal may have begun unseen
        if (listed && !listed->contains(index))
            doubtful_.insert(index);
        if (auto one = refresh(index); !one && outcome)
            outcome = std::move(one);
    }
    return outcome;
}

Result<void> Inventory::look_for_leaving()
{
    const auto listed = client_.devices();
    if (!listed)
        return tl::unexpected<Error>(listed.error());
    std::set<uint32_t> unlisted;
    for (const auto& [index, device] : devices_)
        if (!listed->contains(index))
            unlisted.insert(index);
    for (const auto index : unlisted) {
        doubtful_.insert(index);
        if (auto outcome = refresh(index); !outcome)
            return outcome;
    }
    return {};
}

std::optional<Error> Inventory::take_error()
{
    return std::exchange(error_, std::nullopt);
}

void Inventory::add_node(uint32_t index, const UdevEvent& event)
{
    auto node = event.node;
    // one that is made anew goes before: what is there is the same, also if udev has forgotten it
    // and gives it another birth (udevadm info --cleanup-db)
    if (const auto* known = known_node(index, node.syspath); known && known->born != 0)
        node.born = known->born;
    auto& nodes = nodes_[index];
    owner_[event.node.syspath] = index;
    nodes.records[event.node.syspath] = {event.node.sysname, event.port, event.port_guids,
                                         event.netdevs};
    if (!event.path.empty())
        nodes.path = event.path;
    if (event.subsystem == "infiniband_verbs")
        nodes.uverbs = std::move(node);
    else if (event.port && node.sysname.starts_with("issm"))
        nodes.issm[*event.port] = std::move(node);
    else if (event.port)
        nodes.umad[*event.port] = std::move(node);
}

/// Returns nullptr if udev has told of none.
const NodeRef* Inventory::known_node(uint32_t index, const std::string& syspath) const
{
    const auto found = nodes_.find(index);
    if (found == nodes_.end())
        return nullptr;
    const auto& nodes = found->second;
    if (nodes.uverbs && nodes.uverbs->syspath == syspath)
        return &*nodes.uverbs;
    for (const auto* by_port : {&nodes.umad, &nodes.issm})
        for (const auto& [port, node] : *by_port)
            if (node.syspath == syspath)
                return &node;
    return nullptr;
}

void Inventory::add_device(uint32_t index, const UdevEvent& event)
{
    auto& nodes = nodes_[index];
    nodes.is_named = !event.is_renaming;
    nodes.records.erase(nodes.syspath); // a rename moves it
    nodes.syspath = event.node.syspath;
    nodes.records[event.node.syspath] = {event.node.sysname, {}, event.port_guids, event.netdevs};
    if (!event.path.empty())
        nodes.path = event.path;
}

void Inventory::remove_node(const NodeRef& gone)
{
    const auto& syspath = gone.syspath;
    const auto owner = owner_.find(syspath);
    if (owner == owner_.end())
        return;
    const auto index = owner->second;
    // a look at all may have seen the next one before the events of the one before were read
    if (const auto* there = known_node(index, syspath);
        there && gone.born != 0 && gone.born < there->born)
        return;
    owner_.erase(owner);
    auto& nodes = nodes_[index];
    nodes.records.erase(syspath);
    const auto is_it = [&](const NodeRef& node) { return node.syspath == syspath; };
    if (nodes.uverbs && is_it(*nodes.uverbs))
        nodes.uverbs.reset();
    std::erase_if(nodes.umad, [&](const auto& node) { return is_it(node.second); });
    std::erase_if(nodes.issm, [&](const auto& node) { return is_it(node.second); });
    // while the device itself is being removed, the kernel still describes it
    if (const auto device = devices_.find(index); device != devices_.end()) {
        auto changed = device->second;
        if (changed.uverbs && is_it(*changed.uverbs))
            changed.uverbs.reset();
        for (auto& port : changed.ports) {
            port.umad = find_node(nodes.umad, port.number);
            port.issm = find_node(nodes.issm, port.number);
        }
        update(std::move(changed));
    }
    compare_records(index);
}

/// Looks again at others of the same node GUID: udev may not have come to their end yet.
void Inventory::end_earlier_appearances(const Device& device)
{
    std::vector<uint32_t> earlier;
    for (const auto& [index, other] : devices_)
        if (device.node_guid != 0 && other.node_guid == device.node_guid)
            earlier.push_back(index);
    for (const auto index : earlier) {
        doubtful_.insert(index);
        if (auto outcome = refresh(index); !outcome && !error_)
            error_ = std::move(outcome).error();
    }
}

void Inventory::update(Device device)
{
    if (!devices_.contains(device.index))
        end_earlier_appearances(device);
    const auto [known, is_new] = devices_.try_emplace(device.index, device);
    if (is_new) {
        on_change_({DeviceChange::Kind::added, known->second});
        return;
    }
    const auto before = std::exchange(known->second, std::move(device));
    const auto& now = known->second;
    if (before.name != now.name)
        on_change_({DeviceChange::Kind::renamed, now, before.name});
    const size_t ports = std::min(before.ports.size(), now.ports.size());
    bool is_told = before.name != now.name;
    for (size_t i = 0; i < ports; i++) {
        if (before.ports[i] == now.ports[i])
            continue;
        on_change_({DeviceChange::Kind::port, now, "", now.ports[i].number});
        is_told = true;
    }
    if (!is_told && before != now)
        on_change_({DeviceChange::Kind::other, now});
}

void Inventory::forget(uint32_t index)
{
    if (const auto nodes = nodes_.find(index); nodes != nodes_.end()) {
        std::erase_if(owner_, [&](const auto& owner) { return owner.second == index; });
        nodes_.erase(nodes);
    }
    if (auto device = devices_.extract(index))
        on_change_({DeviceChange::Kind::removed, device.mapped()});
    known_before_.erase(index);
}

/// Lists outdated records: udev runs the helper for an event, and a MAC address may change without.
void Inventory::compare_records(uint32_t index)
{
    outdated_.erase(index);
    const auto device = devices_.find(index);
    const auto nodes = nodes_.find(index);
    if (device == devices_.end() || nodes == nodes_.end())
        return;
    for (const auto& [syspath, record] : nodes->second.records)
        if (is_outdated(record, device->second))
            outdated_[index].insert(record.sysname);
}

/// Returns true if the record differs from the kernel. A GUID that the kernel does not have at the
/// moment is no difference: it removes one before it sets another, or the port is going.
bool Inventory::is_outdated(const Record& record, const Device& device)
{
    const auto guids = text::split(record.port_guids, ' ');
    const auto netdevs = text::split(record.netdevs, ' ');
    size_t place = 0;
    for (const auto& port : device.ports) {
        if (record.port && *record.port != port.number)
            continue;
        // of very many ports the lists have the first ones
        if (place > 0 && place >= guids.size())
            return false;
        // that of a port that keeps its GUID may have gone into another network namespace
        const auto netdev = place < netdevs.size() ? netdevs[place] : std::string_view();
        const auto known = guids.empty() ? std::nullopt : text::parse_hex_u64(guids[place]);
        place++;
        if (port.guid && !port.has_guid)
            continue;
        // it may also have gone there before rdmad was started
        if ((port.has_guid || !port.netdev.empty()) &&
            (netdev.empty() ? "-" : netdev) != netdev_word(port.netdev))
            return true;
        if (port.guid && known != port.guid && !port.is_elsewhere())
            return true;
    }
    return false;
}

Result<std::optional<Device>> Inventory::look_at(uint32_t index)
{
    const auto snapshot = take_snapshot(client_, root_, index);
    if (!snapshot || !*snapshot)
        return missing(snapshot);
    auto device = device_of(**snapshot);
    for (auto& port : device.ports)
        if (port.is_elsewhere() && !was_known(index, *port.guid))
            port.guid.reset();
    if (const auto before = devices_.find(index); before != devices_.end()) {
        // one that hangs on nothing has its driver's name with ib_uverbs only: it is the same
        // without
        if (device.driver.empty())
            device.driver = before->second.driver;
        for (auto& port : device.ports)
            keep_identity(port, before->second.ports);
    }
    const auto nodes = nodes_.find(index);
    if (nodes == nodes_.end())
        return device;
    device.path = nodes->second.path;
    device.is_named = nodes->second.is_named;
    device.syspath = nodes->second.syspath;
    device.uverbs = nodes->second.uverbs;
    for (auto& port : device.ports) {
        port.umad = find_node(nodes->second.umad, port.number);
        port.issm = find_node(nodes->second.issm, port.number);
    }
    return device;
}

/// Returns true if an earlier rdmad acted on a port of that GUID: nobody else chose it.
bool Inventory::was_known(uint32_t index, uint64_t guid) const
{
    const auto known = known_before_.find(index);
    return known != known_before_.end() && known->second.contains(guid);
}

/// Returns true if two dumps lack the device: the kernel describes it by its index until its
/// holders have let go. One dump may lack a device behind one that was removed meanwhile.
bool Inventory::is_leaving(uint32_t index)
{
    if (!doubtful_.contains(index))
        return false;
    for (int i = 0; i < 2; i++) {
        const auto listed = client_.devices();
        if (listed && !listed->contains(index))
            continue;
        // a module that serves nodes was unloaded
        if (listed)
            doubtful_.erase(index);
        return false;
    }
    return true;
}

bool Inventory::has_node(const NodeId& id) const
{
    const auto device = devices_.find(id.index);
    const auto* node = device == devices_.end() ? nullptr : node_of(device->second, id.node);
    return node && id.may_be({id.index, node->sysname, node->born});
}

const NodeRef* Inventory::node_named(std::string_view node) const
{
    for (const auto& [index, device] : devices_)
        if (const auto* found = node_of(device, node))
            return found;
    return nullptr;
}

/// Takes a VLAN, bond or bridge for what is below it: its addresses are in the GID tables there.
bool Inventory::is_concerned(const std::string& netdev, uint32_t netdev_index) const
{
    const auto stack = sysfs::stack_of(root_, netdev);
    for (const auto& [index, device] : devices_)
        for (const auto& port : device.ports)
            if (port.netdev_index == netdev_index || stack.contains(port.netdev))
                return true;
    // IPoIB, which the port does not report
    return std::any_of(stack.begin(), stack.end(), [&](const std::string& name) {
        return root_.read("class/net/" + name + "/type").text == std::to_string(ARPHRD_INFINIBAND);
    });
}

bool Inventory::lacks_netdev() const
{
    const auto lacks = [](const Port& port) {
        return port.link_type == naming::LinkType::roce && (port.netdev.empty() || !port.has_guid);
    };
    return std::any_of(devices_.begin(), devices_.end(), [&](const auto& entry) {
        return std::any_of(entry.second.ports.begin(), entry.second.ports.end(), lacks);
    });
}

} // namespace rdmad
