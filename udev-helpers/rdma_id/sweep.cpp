// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/sweep.hpp"

#include "core/device/name_records.hpp"
#include "core/sysfs/rdma_device.hpp"
#include "udev-helpers/rdma_id/link_owners.hpp"

namespace rdmad::rdma_id {

void sweep(nldev::Client& client, const sysfs::Directory& root, const Paths& paths)
{
    LinkOwners(client, root, paths).sweep();
    NameRecords(paths.rdmad).forget_gone(root, [&](uint32_t index) {
        if (!sysfs::is_core_loaded(root))
            return true;
        const auto device = client.device(index);
        return device && !*device;
    });
}

} // namespace rdmad::rdma_id
