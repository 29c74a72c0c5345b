// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/net_event.hpp"

#include "udev-helpers/rdma_id/index.hpp"

namespace rdmad::rdma_id {

namespace {

Result<std::optional<nldev::Device>> find_by_name(nldev::Client& client,
                                                  const sysfs::Directory& root,
                                                  const std::string& name, IndexHints& hints)
{
    const auto subject = subject_of_device(root, name);
    if (!subject)
        return tl::unexpected<Error>(subject.error());
    if (!*subject)
        return std::optional<nldev::Device>();
    return find_device(client, root, (*subject)->device, name, std::nullopt, hints);
}

} // namespace

Result<std::string> follow_net_event(nldev::Client& client, const sysfs::Directory& root,
                                     std::string_view devpath, IndexHints& hints,
                                     const RunPaths& run)
{
    const auto ipoib = find_ipoib(root, devpath);
    const auto parent = root.open_below("." + std::string(devpath) + "/device/infiniband");
    if (!parent || !*parent)
        return "";
    const auto names = ipoib ? std::vector{ipoib->device} : (*parent)->names(".");
    for (const auto& name : names) {
        auto device = find_by_name(client, root, name, hints);
        if (!device)
            return tl::unexpected<Error>(std::move(device).error());
        if (!*device)
            continue;
        if (ipoib) {
            auto called = name_ipoib(client, root, std::move(**device), *ipoib, run);
            return called && !called->empty() ? "ID_RDMA_IPOIB_NAME=" + *called + "\n" : called;
        }
        if (auto followed = follow_netdev(client, root, std::move(**device), run); !followed)
            return tl::unexpected<Error>(std::move(followed).error());
    }
    return "";
}

} // namespace rdmad::rdma_id
