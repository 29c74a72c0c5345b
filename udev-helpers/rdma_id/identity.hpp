// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/device/target.hpp"
#include "core/identity/identity.hpp"

#include <vector>

namespace rdmad::rdma_id {

using identity::PortIdentity;

/// All that is known of a target: the device, and the ports that the target serves, in order:
/// just one for umad and issm.
struct Identity : identity::DeviceIdentity {
    Node node = Node::device;
    std::string sysname; ///< "umad0"
};

/// A device as sysfs and the kernel have it.
struct DeviceNow {
    Target target;
    Identity identity;
};

/// The device itself, by its index, in one state: who is renamed at that moment is looked at again.
/// None if it is gone.
[[nodiscard]] Result<std::optional<DeviceNow>>
look_at(nldev::Client& client, const sysfs::Directory& root, uint32_t index);

/// Asks the kernel for what it tells, and sysfs for the rest. None if the device went away
/// meanwhile.
[[nodiscard]] Result<std::optional<Identity>> identify(nldev::Client& client,
                                                       const sysfs::Directory& root,
                                                       const Target& target, nldev::Device device);

} // namespace rdmad::rdma_id
