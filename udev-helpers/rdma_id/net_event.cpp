// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/net_event.hpp"

#include "udev-helpers/rdma_id/index.hpp"
#include "udev-helpers/rdma_id/rename_retries.hpp"

namespace rdmad::rdma_id {

namespace {

using FoundRdma = Result<std::optional<RdmaOfNetdev>>;

/// None if no device is called so any more, or it is renamed at that moment.
FoundRdma find_by_name(nldev::Client& client, const sysfs::Directory& root, const std::string& name,
                       IndexHints& hints)
{
    auto subject = subject_of_device(root, name);
    if (!subject)
        return tl::unexpected<Error>(std::move(subject).error());
    if (!*subject)
        return std::optional<RdmaOfNetdev>();
    auto device = find_device(client, root, (*subject)->device, name, std::nullopt, hints);
    if (!device)
        return tl::unexpected<Error>(std::move(device).error());
    if (!*device)
        return std::optional<RdmaOfNetdev>();
    return RdmaOfNetdev{std::move(**subject), std::move(**device)};
}

} // namespace

FoundRdma find_rdma_of_ipoib(nldev::Client& client, const sysfs::Directory& root,
                             std::string_view devpath, IndexHints& hints)
{
    for (RenameRetries retries; retries.next();) {
        const auto ipoib = find_ipoib(root, devpath);
        if (!ipoib)
            break;
        auto found = find_by_name(client, root, ipoib->device, hints);
        if (found && *found)
            (*found)->port = ipoib->port;
        if (!found || *found)
            return found;
    }
    return std::optional<RdmaOfNetdev>();
}

Result<std::string> follow_net_event(nldev::Client& client, const sysfs::Directory& root,
                                     std::string_view devpath, IndexHints& hints,
                                     const RunPaths& run)
{
    auto ipoib = find_rdma_of_ipoib(client, root, devpath, hints);
    if (!ipoib)
        return tl::unexpected<Error>(std::move(ipoib).error());
    if (*ipoib) {
        auto& [subject, device, port] = **ipoib;
        auto called = name_ipoib(client, root, subject, std::move(device), port, run);
        return called && !called->empty() ? "ID_RDMA_IPOIB_NAME=" + *called + "\n" : called;
    }
    Result<std::string> outcome = "";
    for (const auto& name : root.names("." + std::string(devpath) + "/device/infiniband")) {
        const auto device = find_by_name(client, root, name, hints);
        if (!device)
            outcome = tl::unexpected<Error>(device.error());
        else if (*device)
            if (auto followed = follow_netdev(client, root, (*device)->device.index, run);
                !followed)
                outcome = tl::unexpected<Error>(std::move(followed).error());
    }
    return outcome;
}

} // namespace rdmad::rdma_id
