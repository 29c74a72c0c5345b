// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "udev-helpers/rdma_id/index_hints.hpp"
#include "udev-helpers/rdma_id/ipoib.hpp"
#include "udev-helpers/rdma_id/naming.hpp"

namespace rdmad::rdma_id {

/// The RDMA device that a network device belongs to.
struct RdmaOfNetdev {
    Subject subject;
    nldev::Device device;
    uint32_t port = 0; ///< that an IPoIB device is on
};

/// Another event may rename it meanwhile: then it is looked for under its new name. None if the
/// network device is not over InfiniBand (see find_ipoib()), or has gone.
[[nodiscard]] Result<std::optional<RdmaOfNetdev>> find_rdma_of_ipoib(nldev::Client& client,
                                                                     const sysfs::Directory& root,
                                                                     std::string_view devpath,
                                                                     IndexHints& hints);

/// The "add" or "move" event of a network device, where rdmad names devices. One over InfiniBand is
/// called after its RDMA device: the properties that say so; RDMA devices on the same parent as
/// another one may be called after that. Empty if there is nothing for udev to know.
[[nodiscard]] Result<std::string> follow_net_event(nldev::Client& client,
                                                   const sysfs::Directory& root,
                                                   std::string_view devpath, IndexHints& hints,
                                                   const RunPaths& run);

} // namespace rdmad::rdma_id
