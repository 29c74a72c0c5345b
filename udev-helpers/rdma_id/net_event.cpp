// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/net_event.hpp"

#include "core/base/text.hpp"
#include "core/device/retries.hpp"
#include "core/naming/links.hpp"
#include "core/sysfs/netdev.hpp"
#include "udev-helpers/rdma_id/ipoib.hpp"
#include "udev-helpers/rdma_id/log.hpp"
#include "udev-helpers/rdma_id/naming/ensure_name.hpp"
#include "udev-helpers/rdma_id/node_links.hpp"
#include "udev-helpers/rdma_id/node_refresh.hpp"

#include <algorithm>
#include <chrono>
#include <set>

namespace rdmad::rdma_id {

namespace {

using FoundRdma = Result<std::optional<RdmaOfNetdev>>;

/// Returns nullopt if no device has the name any more, or it is being renamed at that moment.
FoundRdma find_by_name(const Context& context, const std::string& name)
{
    auto target = find_device_target(context.root, name);
    if (!target || !*target)
        return missing(target);
    auto device = context.finder.find(**target);
    if (!device || !*device)
        return missing(device);
    return RdmaOfNetdev{std::move(**target), std::move(**device)};
}

/// Returns true if a .link file asks for names of IPoIB devices. Most hosts have none that does:
/// they need no look at the RDMA device then.
bool are_ipoib_names_wanted(const Context& context)
{
    const auto files = config::read_link_files(context.paths.root);
    return std::any_of(files.begin(), files.end(),
                       [](const config::LinkFile& file) { return file.ipoib_name; });
}

/// Returns the name of an IPoIB device after its RDMA device, which gets its own name first. Empty
/// if no .link file asks for it, or the name does not fit.
Result<std::string> name_ipoib(const Context& context, const RdmaOfNetdev& rdma)
{
    const auto ensured = ensure_name(context, rdma.device, rdma.target.device.inode().value_or(0));
    if (!ensured)
        return tl::unexpected<Error>(ensured.error());
    const auto there = take_snapshot(context.client, context.root, rdma.device.index);
    if (!there)
        return tl::unexpected<Error>(there.error());
    if (!*ensured || !*there)
        return "";
    const auto input = read_naming_input(context);
    const auto& info = (*there)->info;
    const auto decision = decide_name(input, **there, {});
    if (!decision.file || !decision.file->problems.empty() || decision.waits ||
        !decision.file->ipoib_name || naming::is_temporary(info.device.name))
        return "";
    const auto composed = naming::ipoib_name(
        {.device = info.device.name, .ports = info.device.port_count, .port = rdma.port});
    if (composed.name.empty())
        warn("rdmad does not name the IPoIB device on port " + std::to_string(rdma.port) + " of " +
             text::escape_terminal(info.device.name) + " after it: " + composed.why_not);
    return composed.name;
}

/// Returns true if the name of a device waits for an event of another device. Takes the lock: an
/// event that found no udev record of the network device holds it until it has recorded that.
bool is_waiting(const Context& context, const DeviceId& id)
{
    const NameRecords records(context.paths.rdmad);
    if (const auto record = records.find(id); record && record->given)
        return false;
    const auto lock = lock_names(context.paths);
    const auto record = records.find(id);
    return record && !record->given;
}

/// Has udev process a device again that waited for this network device: that event names it. It is
/// one of the uverbs node if there is one: an event of the device that renames it ends the unit of
/// the device until the "move" event, and what systemd runs for that unit alone. Returns false if
/// no device has the name any more.
bool wake(const Context& context, const nldev::Device& device)
{
    if (sysfs::is_uverbs_loaded(context.root))
        if (const auto uverbs = context.client.char_device("uverbs", device.index);
            uverbs && *uverbs)
            return trigger(context.root, Node::uverbs, (*uverbs)->name, "add");
    return trigger(context.root, Node::device, device.name, "add");
}

/// Returns true unless GID 0 of a RoCE port on a network device, or on one that is stacked on that,
/// is made of another address than the present one, or missing. A member of a bond may have the GID
/// of the bond.
bool has_present_guid(const sysfs::Directory& root, const PortInfo& port,
                      const std::string& changed)
{
    if (port.link_type != naming::LinkType::roce || !port.netdev ||
        !naming::is_safe_name(*port.netdev) ||
        !sysfs::stack_of(root, *port.netdev).contains(changed))
        return true;
    const auto netdev = "class/net/" + *port.netdev;
    const auto address = root.read(netdev + "/address");
    return !address || root.contains(netdev + "/master") ||
           port.guid == sysfs::eui64_of(address.text);
}

// limits the snapshots, between which each wait is twice as long as the one before
constexpr std::chrono::milliseconds first_wait{8};
constexpr int snapshots_for_change = 9;    // two seconds
constexpr int snapshots_for_first_gid = 5; // an eighth of a second

/// Returns how many snapshots to take at most until all ports have their present GUIDs. A port that
/// never had a GID may never get one: the representor of a virtual function has none, and an
/// adapter has hundreds of them.
int most_snapshots(const Context& context, const DeviceInfo& info, const std::string& changed)
{
    int most = 1;
    for (const auto& port : info.ports) {
        if (has_present_guid(context.root, port, changed))
            continue;
        if (port.guid || has_recorded_guid(context.root, info, port.port, context.paths.udev))
            return snapshots_for_change;
        most = snapshots_for_first_gid;
    }
    return most;
}

/// Takes a snapshot of a device once its GIDs follow the address of a network device, or when it
/// has waited long enough for that. The kernel updates them over one workqueue for all devices,
/// after the event of the network device (roce_gid_mgmt.c).
Result<std::optional<Snapshot>> take_present_snapshot(const Context& context, uint32_t index,
                                                      const std::string& changed)
{
    Result<std::optional<Snapshot>> now;
    Retries retries(first_wait, snapshots_for_change);
    for (int taken = 1; retries.next(); taken++) {
        now = take_snapshot(context.client, context.root, index);
        if (!now || !*now || taken >= most_snapshots(context, (*now)->info, changed))
            break;
    }
    return now;
}

/// An event of a network device that has RDMA devices beside it.
struct NetEvent {
    std::string netdev;
    bool gives_names;         ///< it wakes devices that wait for their names
    std::set<uint32_t> woken; ///< indexes of those
};

/// Has udev process an RDMA device again that waited for the name of a network device, and nodes
/// that udev has outdated records of. A name does not change when a network device is renamed
/// later. Returns false if no RDMA device has the name any more.
Result<bool> refresh_beside_netdev(const Context& context, NetEvent& event, const std::string& name)
{
    const auto rdma = find_by_name(context, name);
    if (!rdma)
        return tl::unexpected<Error>(rdma.error());
    if (!*rdma)
        return false;
    const auto& device = (*rdma)->device;
    const auto inode = (*rdma)->target.device.inode().value_or(0);
    if (event.gives_names && !event.woken.contains(device.index) &&
        is_waiting(context, {device.index, inode})) {
        if (!wake(context, device))
            return false;
        event.woken.insert(device.index);
    }
    const auto now = take_present_snapshot(context, device.index, event.netdev);
    if (!now)
        return tl::unexpected<Error>(now.error());
    if (!*now)
        return true;
    refresh_device(context, (*now)->info);
    if (const auto refreshed = refresh_nodes(context, (*now)->info, "", Unrecorded::refresh);
        !refreshed)
        return tl::unexpected<Error>(refreshed.error());
    return true;
}

/// Calls refresh_beside_netdev() for all RDMA devices beside a network device, again while one of
/// them is being renamed.
Result<std::string> refresh_all_beside_netdev(const Context& context, std::string_view devpath,
                                              bool gives_names)
{
    // udev is about to rename it: the "move" event follows
    const bool is_renaming = context.property("ID_RENAMING") == "1";
    NetEvent event{.netdev = std::string(sysfs::last_component(devpath)),
                   .gives_names = gives_names && !is_renaming,
                   .woken = {}};
    Result<std::string> outcome;
    for (RenameRetries retries; retries.next();) {
        bool has_all = true;
        outcome = "";
        for (const auto& name :
             context.root.names("." + std::string(devpath) + "/device/infiniband")) {
            const auto followed = refresh_beside_netdev(context, event, name);
            if (!followed)
                outcome = tl::unexpected<Error>(followed.error());
            has_all &= !followed || *followed;
        }
        if (has_all)
            break;
    }
    return outcome;
}

} // namespace

FoundRdma find_rdma_of_ipoib(const Context& context, std::string_view devpath)
{
    for (RenameRetries retries; retries.next();) {
        const auto ipoib = find_ipoib(context.root, devpath);
        if (!ipoib)
            break;
        auto found = find_by_name(context, ipoib->device);
        if (found && *found)
            (*found)->port = ipoib->port;
        if (!found || *found)
            return found;
    }
    return std::optional<RdmaOfNetdev>();
}

Result<std::string> handle_net_event(const Context& context, std::string_view devpath,
                                     bool gives_names)
{
    if (!gives_names || !find_ipoib(context.root, devpath))
        return refresh_all_beside_netdev(context, devpath, gives_names);
    if (!are_ipoib_names_wanted(context))
        return "";
    const auto rdma = find_rdma_of_ipoib(context, devpath);
    if (!rdma)
        return tl::unexpected<Error>(rdma.error());
    if (!*rdma)
        return "";
    auto name = name_ipoib(context, **rdma);
    return name && !name->empty() ? "ID_RDMA_IPOIB_NAME=" + *name + "\n" : name;
}

} // namespace rdmad::rdma_id
