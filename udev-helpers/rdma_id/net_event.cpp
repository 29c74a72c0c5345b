// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/net_event.hpp"

#include "udev-helpers/rdma_id/index.hpp"
#include "udev-helpers/rdma_id/ipoib.hpp"

namespace rdmad::rdma_id {

namespace {

/// Of an RDMA device on the same parent: what udev gets to know.
Result<std::string> follow_for(nldev::Client& client, const sysfs::Directory& root,
                               const std::string& name, const std::optional<Ipoib>& ipoib,
                               IndexHints& hints, const RunPaths& run)
{
    const auto subject = subject_of_device(root, name);
    if (!subject)
        return tl::unexpected<Error>(subject.error());
    if (!*subject)
        return "";
    auto device = find_device(client, root, (*subject)->device, name, std::nullopt, hints);
    if (!device)
        return tl::unexpected<Error>(std::move(device).error());
    if (!*device)
        return "";
    if (!ipoib) {
        auto followed = follow_netdev(client, root, (*device)->index, run);
        return followed ? Result<std::string>("")
                        : tl::unexpected<Error>(std::move(followed).error());
    }
    auto called = name_ipoib(client, root, **subject, std::move(**device), ipoib->port, run);
    return called && !called->empty() ? "ID_RDMA_IPOIB_NAME=" + *called + "\n" : called;
}

} // namespace

Result<std::string> follow_net_event(nldev::Client& client, const sysfs::Directory& root,
                                     std::string_view devpath, IndexHints& hints,
                                     const RunPaths& run)
{
    if (const auto ipoib = find_ipoib(root, devpath); ipoib)
        return follow_for(client, root, ipoib->device, ipoib, hints, run);
    Result<std::string> outcome = "";
    for (const auto& name : root.names("." + std::string(devpath) + "/device/infiniband"))
        if (auto followed = follow_for(client, root, name, std::nullopt, hints, run); !followed)
            outcome = std::move(followed);
    return outcome;
}

} // namespace rdmad::rdma_id
