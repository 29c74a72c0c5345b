// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/node_refresh.hpp"

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/naming/links.hpp"
#include "udev-helpers/rdma_id/claims.hpp"
#include "udev-helpers/rdma_id/udev_record.hpp"

#include <unistd.h>

namespace rdmad::rdma_id {

namespace {

/// Compares udev's records of a device's nodes with the device.
class Records {
public:
    Records(const std::string& udev_run, const Identity& identity, std::string_view old_name,
            Unrecorded unrecorded)
        : udev_run_(udev_run),
          old_name_(old_name),
          unrecorded_(unrecorded),
          index_(std::to_string(identity.device.index)),
          name_(text::escape_property(identity.device.name))
    {
    }

    /// Returns true if the record is of this very device and contains no other name of it. Links and
    /// aliases of other rules in it may have been made of the old name just before a rename.
    [[nodiscard]] bool is_current(const std::string& number) const
    {
        const auto record = UdevRecord::read(udev_run_, "c" + number);
        if (!record)
            return unrecorded_ == Unrecorded::is_right;
        return record->property("ID_RDMA_INDEX") == index_ &&
               record->property("ID_RDMA_NAME") == name_ &&
               (old_name_.empty() || !record->mentions(old_name_));
    }

private:
    const std::string& udev_run_;
    std::string_view old_name_;
    Unrecorded unrecorded_;
    std::string index_;
    std::string name_;
};

void refresh(const sysfs::Directory& root, const Records& records, Node node,
             const std::string& sysname)
{
    if (!records.is_current(root.read(class_path(node, sysname) + "/dev").text))
        trigger(root, node, sysname);
}

/// issm nodes bear the number of the umad node of their port (ib_umad_init_port(),
/// drivers/infiniband/core/user_mad.c); the kernel does not tell of them over netlink.
void refresh_management_nodes(const sysfs::Directory& root, const Records& records,
                              const std::string& umad)
{
    refresh(root, records, Node::umad, umad);
    refresh(root, records, Node::issm, "issm" + umad.substr(std::string_view("umad").size()));
}

} // namespace

void forget_old_name(const sysfs::Directory& root, std::string_view old_devpath,
                     const std::string& udev_run)
{
    const std::string name(sysfs::last_component(old_devpath));
    if (!naming::is_safe_name(name) || root.contains("class/infiniband/" + name))
        return;
    // the entry of a device without a number (device_get_device_id(), libsystemd/sd-device)
    const std::string entry = "+infiniband:" + name;
    unlink((udev_run + "/data/" + entry).c_str());
    const auto tags = udev_run + "/tags";
    for (const auto& tag : names_in(tags))
        unlink((tags + "/" + tag + "/" + entry).c_str());
}

Result<void> refresh_nodes(const Context& context, const Identity& identity,
                           std::string_view old_name, Unrecorded unrecorded)
{
    auto& client = context.client;
    const auto& root = context.root;
    const Records records(context.paths.udev, identity, old_name, unrecorded);
    // one node that cannot be asked for does not keep the others from following
    Result<void> outcome;
    if (sysfs::is_uverbs_loaded(root)) {
        auto uverbs = client.char_device("uverbs", identity.device.index);
        if (!uverbs)
            outcome = tl::unexpected<Error>(std::move(uverbs).error());
        else if (*uverbs)
            refresh(root, records, Node::uverbs, (*uverbs)->name);
    }
    if (!sysfs::is_umad_loaded(root))
        return outcome;
    for (const auto& port : identity.ports) {
        auto umad = client.char_device("umad", identity.device.index, port.port);
        if (!umad)
            outcome = tl::unexpected<Error>(std::move(umad).error());
        else if (*umad && (*umad)->name.starts_with("umad"))
            refresh_management_nodes(root, records, (*umad)->name);
    }
    return outcome;
}

} // namespace rdmad::rdma_id
