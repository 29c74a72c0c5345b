// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/sweep.hpp"

#include "core/device/name_records.hpp"
#include "udev-helpers/rdma_id/link_owners.hpp"

namespace rdmad::rdma_id {

void sweep(nldev::Client* client, const sysfs::Directory& root, const Paths& paths)
{
    LinkOwners(client, root, paths).sweep();
    NameRecords(paths.rdmad).forget_gone(root, [&](uint32_t index) {
        const auto device = client ? client->device(index) : Result<std::optional<nldev::Device>>();
        return device && !*device;
    });
}

} // namespace rdmad::rdma_id
