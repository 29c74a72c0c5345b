// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "udev-helpers/rdma_id/context.hpp"
#include "udev-helpers/rdma_id/subject.hpp"

namespace rdmad::rdma_id {

/// The RDMA device that a network device belongs to.
struct RdmaOfNetdev {
    Subject subject;
    nldev::Device device;
    uint32_t port = 0; ///< that an IPoIB device is on
};

/// Finds the RDMA device of an IPoIB device, also if another event renames it meanwhile. Returns
/// nullopt if the network device is not over InfiniBand (see find_ipoib()), or is gone.
[[nodiscard]] Result<std::optional<RdmaOfNetdev>> find_rdma_of_ipoib(const Context& context,
                                                                     std::string_view devpath);

/// Follows the "add" or "move" event of a network device where rdmad names devices. Returns the
/// name that an IPoIB device gets after its RDMA device, as a property for udev. RDMA devices that
/// waited for the name of another network device get theirs; then it returns an empty string.
[[nodiscard]] Result<std::string> follow_net_event(const Context& context,
                                                   std::string_view devpath);

} // namespace rdmad::rdma_id
