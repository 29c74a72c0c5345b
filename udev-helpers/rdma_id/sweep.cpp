// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/sweep.hpp"

#include "core/device/name_records.hpp"
#include "core/sysfs/rdma_device.hpp"
#include "udev-helpers/rdma_id/link_owners.hpp"

namespace rdmad::rdma_id {

Result<void> sweep(nldev::Client& client, const sysfs::Directory& root, const Paths& paths)
{
    auto outcome = LinkOwners(client, root, paths).sweep();
    NameRecords(paths.rdmad).forget_gone(root, [&](uint32_t index) {
        if (!sysfs::is_core_loaded(root))
            return true;
        auto device = client.device(index);
        const bool is_gone = device && !*device;
        if (!device && outcome)
            outcome = tl::unexpected<Error>(std::move(device).error());
        return is_gone;
    });
    return outcome;
}

} // namespace rdmad::rdma_id
