// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/node_refresh.hpp"

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/device/udev_record.hpp"
#include "core/naming/links.hpp"
#include "udev-helpers/rdma_id/output.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <unistd.h>

namespace rdmad::rdma_id {

namespace {

// the properties that links, units and bindings go by, and that change while a device lives
// (the driver of a software device is known once ib_uverbs has it)
constexpr std::array volatile_keys = {"ID_RDMA_INDEX",     "ID_RDMA_NAME",   "ID_RDMA_DRIVER",
                                      "ID_RDMA_PORT_GUID", "ID_RDMA_NETDEV", "ID_RDMA_PORT_GUIDS",
                                      "ID_RDMA_NETDEVS"};

std::optional<std::string> value_of(const Properties& properties, std::string_view key)
{
    for (const auto& [name, value] : properties)
        if (name == key)
            return value;
    return std::nullopt;
}

/// Returns true if udev's record is of this very device and as rdma_id would describe it now. Links
/// and aliases of other rules in it may have been made of the old name just before a rename.
bool is_current(const UdevRecord& record, const DeviceInfo& info, std::string_view old_name)
{
    const auto now = properties(info, {});
    return std::all_of(
               volatile_keys.begin(), volatile_keys.end(),
               [&](const char* key) { return record.property(key) == value_of(now, key); }) &&
           (old_name.empty() || !record.mentions(old_name, info.device.name));
}

} // namespace

bool trigger(const sysfs::Directory& root, Node node, const std::string& sysname,
             std::string_view action)
{
    const auto path = class_path(node, sysname) + "/uevent";
    const UniqueFd file(openat(root.fd(), path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    return file &&
           write(file.get(), action.data(), action.size()) == static_cast<ssize_t>(action.size());
}

void forget_old_name(const sysfs::Directory& root, std::string_view old_devpath,
                     const std::string& udev_run)
{
    const std::string name(sysfs::last_component(old_devpath));
    if (!naming::is_safe_name(name) || root.contains("class/infiniband/" + name))
        return;
    const auto entry = UdevRecord::id_of_device(name);
    unlink((udev_run + "/data/" + entry).c_str());
    const auto tags = udev_run + "/tags";
    for (const auto& tag : names_in(tags))
        unlink((tags + "/" + tag + "/" + entry).c_str());
}

Result<void> refresh_nodes(const Context& context, const DeviceInfo& info,
                           std::string_view old_name, Unrecorded unrecorded)
{
    auto& client = context.client;
    const auto& root = context.root;
    const auto refresh = [&](Node node, const std::string& sysname, std::vector<PortInfo> ports) {
        auto now = info;
        now.node = node;
        now.ports = std::move(ports);
        const auto record = UdevRecord::read_node(context.paths.udev, root, node, sysname);
        if (record ? !is_current(*record, now, old_name) : unrecorded == Unrecorded::refresh)
            trigger(root, node, sysname);
    };
    // a failed request for one node does not keep the others from a refresh
    Result<void> outcome;
    if (sysfs::is_uverbs_loaded(root)) {
        const auto uverbs = client.char_device("uverbs", info.device.index);
        if (!uverbs)
            outcome = tl::unexpected<Error>(uverbs.error());
        else if (*uverbs)
            refresh(Node::uverbs, (*uverbs)->name, info.ports);
    }
    if (!sysfs::is_umad_loaded(root))
        return outcome;
    constexpr std::string_view prefix = "umad";
    for (const auto& port : info.ports) {
        const auto umad = client.char_device("umad", info.device.index, port.port);
        if (!umad)
            outcome = tl::unexpected<Error>(umad.error());
        if (!umad || !*umad || !(*umad)->name.starts_with(prefix))
            continue;
        refresh(Node::umad, (*umad)->name, {port});
        // the issm node bears the number of the umad node (ib_umad_init_port(),
        // drivers/infiniband/core/user_mad.c); the kernel does not report it over netlink
        refresh(Node::issm, "issm" + (*umad)->name.substr(prefix.size()), {port});
    }
    return outcome;
}

void refresh_device(const Context& context, const DeviceInfo& info)
{
    const auto& name = info.device.name;
    const auto record = UdevRecord::read(context.paths.udev, UdevRecord::id_of_device(name));
    // without a record its event is being processed, and may have read what was before
    if (!record || !is_current(*record, info, ""))
        trigger(context.root, Node::device, name);
}

} // namespace rdmad::rdma_id
