// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/device/target.hpp"
#include "udev-helpers/rdma_id/context.hpp"

namespace rdmad::rdma_id {

/// The RDMA device that a network device belongs to.
struct RdmaOfNetdev {
    Target target;
    nldev::Device device;
    uint32_t port = 0; ///< that an IPoIB device is on
};

/// Finds the RDMA device of an IPoIB device, also if another event renames it meanwhile. Returns
/// nullopt if the network device is not over InfiniBand (see find_ipoib()), or is gone.
[[nodiscard]] Result<std::optional<RdmaOfNetdev>> find_rdma_of_ipoib(const Context& context,
                                                                     std::string_view devpath);

/// Handles an event of a network device, except its removal. For an IPoIB device, returns the name
/// that it gets after its RDMA device, as a property for udev. For another, has udev refresh its
/// records of RDMA devices on the same parent, whose port GUIDs follow the MAC address on RoCE, and
/// returns an empty string.
///
/// gives_names: rdmad names devices. Those that waited for the network device get another event.
[[nodiscard]] Result<std::string> handle_net_event(const Context& context, std::string_view devpath,
                                                   bool gives_names);

} // namespace rdmad::rdma_id
