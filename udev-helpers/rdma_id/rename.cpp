// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/rename.hpp"

#include "core/base/c_ptr.hpp"
#include "core/naming/links.hpp"
#include "udev-helpers/rdma_id/claims.hpp"

#include <dirent.h>
#include <fcntl.h>

namespace rdmad::rdma_id {

namespace {

void forget_old_name(const sysfs::Directory& root, const std::string& name,
                     const std::string& udev_run)
{
    if (!naming::is_safe_name(name) || root.contains("class/infiniband/" + name))
        return;
    // the entry of a device without a number (device_get_device_id(), libsystemd/sd-device)
    const std::string entry = "+infiniband:" + name;
    unlink((udev_run + "/data/" + entry).c_str());
    const CPtr<DIR, closedir> tags(opendir((udev_run + "/tags").c_str()));
    while (const dirent* tag = tags ? readdir(tags.get()) : nullptr)
        if (tag->d_name[0] != '.')
            unlink((udev_run + "/tags/" + tag->d_name + "/" + entry).c_str());
}

/// issm nodes bear the number of the umad node of their port (ib_umad_init_port(),
/// drivers/infiniband/core/user_mad.c); the kernel does not tell of them over netlink.
void trigger_management_nodes(const sysfs::Directory& root, const std::string& umad)
{
    trigger(root, Node::umad, umad);
    trigger(root, Node::issm, "issm" + umad.substr(std::string_view("umad").size()));
}

} // namespace

Result<void> follow_rename(nldev::Client& client, const sysfs::Directory& root,
                           const Identity& identity, std::string_view old_devpath,
                           const std::string& udev_run)
{
    forget_old_name(root, std::string(sysfs::last_component(old_devpath)), udev_run);
    // the classes exist once their modules are loaded; to ask earlier would load them. One node
    // that cannot be asked for does not keep the others from following.
    Result<void> outcome;
    if (root.contains("class/infiniband_verbs")) {
        auto uverbs = client.char_device("uverbs", identity.device.index);
        if (!uverbs)
            outcome = tl::unexpected<Error>(std::move(uverbs).error());
        else if (*uverbs)
            trigger(root, Node::uverbs, (*uverbs)->name);
    }
    if (!root.contains("class/infiniband_mad"))
        return outcome;
    for (const auto& port : identity.ports) {
        auto umad = client.char_device("umad", identity.device.index, port.port);
        if (!umad)
            outcome = tl::unexpected<Error>(std::move(umad).error());
        else if (*umad && (*umad)->name.starts_with("umad"))
            trigger_management_nodes(root, (*umad)->name);
    }
    return outcome;
}

} // namespace rdmad::rdma_id
