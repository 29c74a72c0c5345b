// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/net_event.hpp"

#include "core/base/text.hpp"
#include "core/device/rename_retries.hpp"
#include "core/naming/links.hpp"
#include "core/sysfs/netdev.hpp"
#include "udev-helpers/rdma_id/ipoib.hpp"
#include "udev-helpers/rdma_id/log.hpp"
#include "udev-helpers/rdma_id/naming/ensure_name.hpp"
#include "udev-helpers/rdma_id/node_refresh.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

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
        warn("the IPoIB device on port " + std::to_string(rdma.port) + " of " +
             text::escape_terminal(info.device.name) +
             " is not called after it: " + composed.why_not);
    return composed.name;
}

/// Returns true if the name of a device waits for an event of another device. An event that saw
/// udev without a record of the network device, and has yet to record that, has the lock.
bool is_waiting(const Context& context, const DeviceId& id)
{
    const auto lock = lock_names(context.paths);
    const auto record = NameRecords(context.paths.rdmad).find(id);
    return record && !record->given;
}

/// Has udev process an RDMA device again that waited for this: its own event names it. A name does
/// not change when a network device is renamed later. Returns false if the device did not wait.
bool wake_waiting(const Context& context, const RdmaOfNetdev& rdma)
{
    const auto inode = rdma.target.device.inode().value_or(0);
    if (!is_waiting(context, {rdma.device.index, inode}))
        return false;
    trigger(context.root, Node::device, rdma.device.name, "add");
    return true;
}

/// Returns true if GID 0 of each RoCE port on a network device, or on one that is stacked on that,
/// is made of the present address. A member of a bond may have the GID of the bond.
bool has_present_guids(const sysfs::Directory& root, const DeviceInfo& info,
                       const std::string& changed)
{
    return std::all_of(info.ports.begin(), info.ports.end(), [&](const PortInfo& port) {
        if (port.link_type != naming::LinkType::roce || !port.netdev ||
            !naming::is_safe_name(*port.netdev) ||
            !sysfs::stack_of(root, *port.netdev).contains(changed))
            return true;
        const auto netdev = "class/net/" + *port.netdev;
        const auto address = root.read(netdev + "/address");
        return !address || root.contains(netdev + "/master") ||
               port.guid == sysfs::eui64_of(address.text);
    });
}

/// Takes a snapshot of a device once its GIDs follow the address of a network device, or after two
/// seconds. The kernel updates them over one workqueue for all devices, after it told of the
/// network device (roce_gid_mgmt.c).
Result<std::optional<Snapshot>> take_present_snapshot(const Context& context, uint32_t index,
                                                      const std::string& changed)
{
    constexpr int steps = 8;
    for (int i = 0;; i++) {
        auto now = take_snapshot(context.client, context.root, index);
        if (!now || !*now || i == steps || has_present_guids(context.root, (*now)->info, changed))
            return now;
        std::this_thread::sleep_for(std::chrono::milliseconds(8 << i));
    }
}

/// Has udev process again what waited for a network device beside it, and what udev has outdated
/// records of. Returns false if no device has the name any more.
Result<bool> follow_netdev(const Context& context, const std::string& netdev,
                           const std::string& name, bool gives_names)
{
    const auto rdma = find_by_name(context, name);
    if (!rdma)
        return tl::unexpected<Error>(rdma.error());
    if (!*rdma)
        return false;
    const bool is_woken = gives_names && wake_waiting(context, **rdma);
    const auto now = take_present_snapshot(context, (*rdma)->device.index, netdev);
    if (!now)
        return tl::unexpected<Error>(now.error());
    if (!*now)
        return true;
    if (!is_woken)
        refresh_device(context, (*now)->info);
    if (const auto refreshed = refresh_nodes(context, (*now)->info, "", Unrecorded::refresh);
        !refreshed)
        return tl::unexpected<Error>(refreshed.error());
    return true;
}

/// Does so for all RDMA devices beside a network device; again where one was being renamed.
Result<std::string> follow_netdev(const Context& context, std::string_view devpath,
                                  bool gives_names)
{
    const std::string netdev(sysfs::last_component(devpath));
    Result<std::string> outcome;
    for (RenameRetries retries; retries.next();) {
        bool has_all = true;
        outcome = "";
        for (const auto& name :
             context.root.names("." + std::string(devpath) + "/device/infiniband")) {
            const auto followed = follow_netdev(context, netdev, name, gives_names);
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
    const auto ipoib = gives_names ? find_rdma_of_ipoib(context, devpath) : FoundRdma();
    if (!ipoib)
        return tl::unexpected<Error>(ipoib.error());
    if (*ipoib) {
        auto name = name_ipoib(context, **ipoib);
        return name && !name->empty() ? "ID_RDMA_IPOIB_NAME=" + *name + "\n" : name;
    }
    return follow_netdev(context, devpath, gives_names);
}

} // namespace rdmad::rdma_id
