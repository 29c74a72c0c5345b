// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/events.hpp"

#include "core/base/state_link.hpp"
#include "core/base/text.hpp"
#include "core/device/removal_note.hpp"
#include "core/device/retries.hpp"
#include "udev-helpers/rdma_id/link_owners.hpp"
#include "udev-helpers/rdma_id/log.hpp"
#include "udev-helpers/rdma_id/modules.hpp"
#include "udev-helpers/rdma_id/naming/ensure_name.hpp"
#include "udev-helpers/rdma_id/node_links.hpp"
#include "udev-helpers/rdma_id/node_refresh.hpp"
#include "udev-helpers/rdma_id/sweep.hpp"

#include <ctime>
#include <unistd.h>

namespace rdmad::rdma_id {

namespace {

/// The event that follows has the rest, under the new name; systemd makes no unit of this one.
constexpr char renaming[] = "ID_RENAMING=1\n";

void log_failure(const Result<void>& outcome)
{
    if (!outcome)
        warn(outcome.error().message());
}

/// Returns the device of an event, or nullopt if it is gone. The event's properties hold the index
/// that an earlier event found.
Result<std::optional<nldev::Device>> find_device(const Context& context, const Target& target)
{
    return context.finder.find(target, text::parse_u32(context.property("ID_RDMA_INDEX")));
}

/// Names the device if rdmad is to; device has the resulting name then. Logs a failure: a device
/// that cannot be named is described all the same. Returns what this had to read of the device.
std::optional<DeviceInfo> name_device(const Context& context, const Target& target,
                                      const NamingMode& naming, nldev::Device& device,
                                      Ask ask = Ask::once)
{
    if (!naming.gives_names && !(naming.ends_swaps && naming::is_temporary(device.name)))
        return std::nullopt;
    auto named = ensure_name(context, device, target.device.inode().value_or(0), ask);
    if (!named)
        warn(named.error().message());
    if (!named || !*named)
        return std::nullopt;
    device.name = (*named)->name;
    return std::move((*named)->info);
}

/// Returns the info of a target, taken from known if the whole device was read already.
Result<std::optional<DeviceInfo>> read_info(const Context& context, const Target& target,
                                            nldev::Device device, std::optional<DeviceInfo> known)
{
    if (!known)
        return read_device_info(context.client, context.root, target, std::move(device));
    known->node = target.node;
    known->sysname = target.sysname;
    std::erase_if(known->ports, [&](const PortInfo& port) {
        return port.port != target.port.value_or(port.port);
    });
    return known;
}

/// Reads the info of a target again while GIDs are missing that udev has on record.
Result<std::optional<DeviceInfo>> read_settled_info(const Context& context, const Target& target,
                                                    nldev::Device device,
                                                    std::optional<DeviceInfo> known)
{
    auto info = read_info(context, target, std::move(device), std::move(known));
    for (GidRetries retries; info && *info &&
                             is_guid_missing(context.root, **info, context.paths.udev) &&
                             retries.next();)
        info = read_device_info(context.client, context.root, target, (*info)->device);
    return info;
}

/// Records the time of the removal if rdmad made a directory for the device. PID 1 hears of the
/// removal only after this program has ended, so what it stops for that stops later. The node may
/// be made anew at once, under the same name: udev tells them apart by their first events.
void note_removal(const Paths& paths, uint32_t index, const std::string& sysname,
                  const EventProperties& event)
{
    const auto directory = paths.rdmad + "/bound/" + std::to_string(index);
    timespec now = {};
    if (access(directory.c_str(), F_OK) < 0 || clock_gettime(CLOCK_MONOTONIC, &now) < 0)
        return;
    const auto usec =
        static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
    const auto born = text::parse_u64(event("USEC_INITIALIZED").value_or(""));
    const auto note = note_name({sysname, born.value_or(0)});
    (void)replace_link(std::to_string(usec), directory + "/" + note);
}

/// Refreshes nodes that came before the name, or whose first events failed. After a rename by
/// somebody else, or one by rdmad that broke off before the name was recorded, nodes that udev is
/// processing may have read the old name, too. After any other rename by rdmad they waited for it,
/// or ensure_name() has refreshed them.
void refresh_stale_nodes(const Context& context, const DeviceInfo& info, bool is_renamed)
{
    const auto record = NameRecords(context.paths.rdmad).find(info.id());
    const auto& name = info.device.name;
    std::string old_name(sysfs::last_component(context.property("DEVPATH_OLD")));
    if (!is_renamed && record && record->given && record->original != name)
        old_name = record->original;
    const bool is_ours = record && record->given == name;
    log_failure(refresh_nodes(context, info, old_name,
                              is_renamed && !is_ours ? Unrecorded::refresh : Unrecorded::is_right));
}

} // namespace

Result<std::string> handle_node_event(const Context& context, const Target& node,
                                      const NamingMode& naming)
{
    auto device = find_device(context, node);
    if (!device || !*device)
        return missing(device);
    auto known = name_device(context, node, naming, **device);
    const auto info = read_settled_info(context, node, std::move(**device), std::move(known));
    if (!info || !*info)
        return missing(info);
    LinkOwners owners(context.client, context.root, context.paths);
    auto links = claim_links(**info, owners);
    if (!links)
        return tl::unexpected<Error>(std::move(links).error());
    // not with each change of the node
    if (const auto why = why_ports_lack_links(**info);
        !why.empty() && context.property("ACTION") == "add")
        warn(why);
    release_past_links(context.root, **info, owners, context.paths.udev);
    // for umad 91-rdmad-units.rules adds ours to what is there
    if (node.node != Node::umad)
        keep_foreign_aliases(*links, context.property("SYSTEMD_ALIAS"));
    return format_properties(**info, *links);
}

Result<std::string> handle_device_event(const Context& context, const Target& target,
                                        const NamingMode& naming, Load load)
{
    auto device = find_device(context, target);
    if (!device || !*device)
        return missing(device);
    // not an event of the kernel's own (kobject_synth_uevent(), lib/kobject_uevent.c): a user asks
    // again, or udev looks at what was there before it
    const bool is_asked = naming.gives_names && !context.property("SYNTH_UUID").empty();
    auto known = name_device(context, target, naming, **device, is_asked ? Ask::anew : Ask::once);
    // also if another event renamed it meanwhile: the path of this event is gone
    if (naming.gives_names && (*device)->name != target.sysname)
        return renaming;
    const auto info = read_settled_info(context, target, std::move(**device), std::move(known));
    if (!info || !*info)
        return missing(info);
    const auto action = context.property("ACTION");
    if (action == "move" || action == "add")
        refresh_stale_nodes(context, **info, action == "move");
    log_failure(load_modules(context.client, context.root, **info, load));
    return format_properties(**info, {});
}

void handle_removal(const Context& context)
{
    const auto& paths = context.paths;
    const std::string sysname(sysfs::last_component(context.property("DEVPATH")));
    const auto node = node_of(context.property("SUBSYSTEM"), sysname);
    if (!node)
        return;
    const auto past = read_past_links(*node, sysname, context.event);
    if (!past) {
        if (*node == Node::device)
            if (const auto swept = sweep(context.client, context.root, paths); !swept)
                warn("records of devices that are gone may be left: " + swept.error().message());
        return;
    }
    note_removal(paths, past->index, sysname, context.event);
    LinkOwners(context.client, context.root, paths).release(*past);
    if (*node == Node::device)
        NameRecords(paths.rdmad).forget_gone(context.root, [&](uint32_t index) {
            return index == past->index;
        });
}

Result<std::string> describe_target(const Context& context, const Options& options,
                                    const Target& target)
{
    auto device = context.finder.find(target);
    if (!device || !*device)
        return missing(device);
    const auto info = read_device_info(context.client, context.root, target, std::move(**device));
    if (!info || !*info)
        return missing(info);
    if (target.node == Node::device)
        log_failure(load_modules(context.client, context.root, **info, options.load));
    LinkOwners owners(context.client, context.root, context.paths, false);
    const auto links = claim_links(**info, owners);
    if (!links)
        return tl::unexpected<Error>(links.error());
    switch (options.format) {
    case Format::properties:
        return format_properties(**info, *links);
    case Format::json:
        return format_json(**info, *links);
    case Format::summary:
        break;
    }
    return format_summary(**info, *links);
}

} // namespace rdmad::rdma_id
