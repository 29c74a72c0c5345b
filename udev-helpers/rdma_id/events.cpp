// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/events.hpp"

#include "core/base/text.hpp"
#include "udev-helpers/rdma_id/claims.hpp"
#include "udev-helpers/rdma_id/ensure_name.hpp"
#include "udev-helpers/rdma_id/explanation.hpp"
#include "udev-helpers/rdma_id/index.hpp"
#include "udev-helpers/rdma_id/log.hpp"
#include "udev-helpers/rdma_id/modules.hpp"
#include "udev-helpers/rdma_id/names.hpp"
#include "udev-helpers/rdma_id/node_refresh.hpp"
#include "udev-helpers/rdma_id/state_link.hpp"

#include <ctime>
#include <unistd.h>

namespace rdmad::rdma_id {

namespace {

constexpr char module_lists[] = "/etc/rdma/modules";
/// The event that follows tells the rest, under the new name; systemd makes no unit of this one.
constexpr char renaming[] = "ID_RENAMING=1\n";

void log_failure(const Result<void>& outcome)
{
    if (!outcome)
        warn(outcome.error().message());
}

/// Returns the device of an event, or nullopt if it is gone. The event's properties tell the index
/// that an earlier event found.
Result<std::optional<nldev::Device>> device_of(const Context& context, const Subject& subject)
{
    return find_device(context.client, context.root, subject.device, subject.device_name,
                       text::parse_u32(context.property("ID_RDMA_INDEX")), context.hints);
}

/// Gives the device its name where rdmad does so; device has the name that it has then. A device
/// that cannot be named is described all the same.
void name_device(const Context& context, const Subject& subject, const NamingMode& naming,
                 nldev::Device& device, Ask ask = Ask::once)
{
    if (!naming.gives_names && !(naming.ends_swaps && naming::is_temporary(device.name)))
        return;
    const auto named = ensure_name(context, device, subject.device.inode().value_or(0), ask);
    if (!named)
        warn(named.error().message());
    else if (*named)
        device.name = (*named)->name;
}

/// Returns the links and aliases of a node.
Result<Names> links_of(const Context& context, const Identity& identity, bool is_event)
{
    Claims claims(context.client, context.root, context.paths.rdmad, is_event);
    return names_of(identity, claims);
}

/// Leaves the time of the removal where rdmad made a directory for the device. PID 1 hears of the
/// removal only after this program has ended, so what it stops for that stops later.
void note_removal(const Paths& paths, uint32_t index, std::string_view devpath)
{
    const auto directory = paths.rdmad + "/bound/" + std::to_string(index);
    timespec now = {};
    if (access(directory.c_str(), F_OK) < 0 || clock_gettime(CLOCK_MONOTONIC, &now) < 0)
        return;
    const auto usec =
        static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
    (void)replace_link(std::to_string(usec),
                       directory + "/" + std::string(sysfs::last_component(devpath)));
}

/// After a rename by somebody else, or one by rdmad that broke off before the name was recorded,
/// nodes that udev is processing may have read the old name. After any other by rdmad they waited
/// for it, or ensure_name() has refreshed them.
Result<void> follow_rename(const Context& context, const Identity& identity)
{
    const auto record = NameRecords(context.paths.rdmad).find(id_of(identity));
    const bool is_ours = record && record->given == identity.device.name;
    return refresh_nodes(context, identity, sysfs::last_component(context.property("DEVPATH_OLD")),
                         is_ours ? Unrecorded::is_right : Unrecorded::refresh);
}

/// Nodes may have come before the name, or their first events may have failed.
Result<void> refresh_stale_nodes(const Context& context, const Identity& identity)
{
    const auto record = NameRecords(context.paths.rdmad).find(id_of(identity));
    const bool is_renamed = record && record->given && record->original != identity.device.name;
    return refresh_nodes(context, identity, is_renamed ? record->original : "",
                         Unrecorded::is_right);
}

} // namespace

Result<std::string> follow_node_event(const Context& context, const Subject& node,
                                      const NamingMode& naming)
{
    auto device = device_of(context, node);
    if (!device)
        return tl::unexpected<Error>(std::move(device).error());
    if (!*device)
        return "";
    name_device(context, node, naming, **device);
    const auto identity = identify(context.client, context.root, node, std::move(**device));
    if (!identity)
        return tl::unexpected<Error>(identity.error());
    if (!*identity)
        return "";
    auto links = links_of(context, **identity, true);
    if (!links)
        return tl::unexpected<Error>(std::move(links).error());
    // for umad 91-rdmad-units.rules adds ours to what is there
    if (node.node != Node::umad)
        keep_foreign_aliases(*links, context.property("SYSTEMD_ALIAS"));
    return format_properties(**identity, *links);
}

Result<std::string> follow_device_event(const Context& context, const Subject& device,
                                        const NamingMode& naming, Load load)
{
    const auto action = context.property("ACTION");
    auto now = device_of(context, device);
    if (!now)
        return tl::unexpected<Error>(std::move(now).error());
    if (!*now)
        return "";
    // not an event of the kernel's own (kobject_synth_uevent(), lib/kobject_uevent.c): a user asks
    // again, or udev looks at what was there before it
    const bool is_asked = naming.gives_names && !context.property("SYNTH_UUID").empty();
    name_device(context, device, naming, **now, is_asked ? Ask::anew : Ask::once);
    // also if another event renamed it meanwhile: the path of this event is gone
    if (naming.gives_names && (*now)->name != device.sysname)
        return renaming;
    const auto identity = identify(context.client, context.root, device, std::move(**now));
    if (!identity)
        return tl::unexpected<Error>(identity.error());
    if (!*identity)
        return "";
    if (action == "move")
        log_failure(follow_rename(context, **identity));
    if (action == "add")
        log_failure(refresh_stale_nodes(context, **identity));
    log_failure(load_modules(context.client, context.root, **identity, load, module_lists));
    return format_properties(**identity, {});
}

void follow_removal(const sysfs::Directory& root, const Paths& paths, const EventProperties& event)
{
    const auto devpath = event("DEVPATH").value_or("");
    const auto index = text::parse_u32(event("ID_RDMA_INDEX").value_or(""));
    const auto node = node_of(event("SUBSYSTEM").value_or(""), sysfs::last_component(devpath));
    if (!index || !node)
        return;
    note_removal(paths, *index, devpath);
    std::vector<uint64_t> guids;
    for (const auto* property : {"ID_RDMA_PORT_GUID", "ID_RDMA_PORT_GUIDS"}) {
        const auto value = event(property).value_or("");
        for (const auto word : text::split(value, ' '))
            if (const auto guid = text::parse_hex_u64(word); guid)
                guids.push_back(*guid);
    }
    Claims(root, paths.rdmad)
        .release(*index, *node, guids,
                 text::parse_hex_u64(event("ID_RDMA_NODE_GUID").value_or("")));
    if (*node == Node::device)
        NameRecords(paths.rdmad).forget_gone(*index, root);
}

Result<std::string> describe(const Context& context, const Options& options, const Subject& subject)
{
    auto device = find_device(context.client, context.root, subject.device, subject.device_name,
                              std::nullopt, context.hints);
    if (!device)
        return tl::unexpected<Error>(std::move(device).error());
    if (!*device)
        return "";
    if (options.test_link)
        return explain_name(context, (*device)->index);
    const auto identity = identify(context.client, context.root, subject, std::move(**device));
    if (!identity)
        return tl::unexpected<Error>(identity.error());
    if (!*identity)
        return "";
    if (subject.node == Node::device)
        log_failure(
            load_modules(context.client, context.root, **identity, options.load, module_lists));
    const auto links = links_of(context, **identity, false);
    if (!links)
        return tl::unexpected<Error>(links.error());
    switch (options.format) {
    case Format::properties:
        return format_properties(**identity, *links);
    case Format::json:
        return format_json(**identity, *links);
    case Format::summary:
        break;
    }
    return format_summary(**identity, *links);
}

} // namespace rdmad::rdma_id
