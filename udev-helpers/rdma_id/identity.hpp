// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/naming/link_type.hpp"
#include "core/nldev/client.hpp"
#include "udev-helpers/rdma_id/subject.hpp"

#include <vector>

namespace rdmad::rdma_id {

struct PortIdentity {
    uint32_t port = 0;
    naming::LinkType link_type = naming::LinkType::unknown;
    std::optional<uint64_t> guid = {}; ///< none: not set
    std::optional<std::string> netdev = {};
    std::optional<uint8_t> state = {}; ///< enum ib_port_state
};

/// All that is known of a subject: the device, and the ports that the subject serves, in order:
/// just one for umad and issm.
struct Identity {
    Node node = Node::device;
    std::string sysname; ///< "umad0"
    nldev::Device device;
    uint64_t inode = 0; ///< of the device's directory in sysfs
    std::optional<std::string> driver;
    std::vector<PortIdentity> ports;

    [[nodiscard]] bool has_link_type(naming::LinkType type) const;
};

/// A device as sysfs and the kernel have it.
struct DeviceNow {
    Subject subject;
    Identity identity;
};

/// The device itself, by its index, in one state: who is renamed at that moment is looked at again.
/// None if it is gone.
[[nodiscard]] Result<std::optional<DeviceNow>>
look_at(nldev::Client& client, const sysfs::Directory& root, uint32_t index);

/// Asks the kernel for what it tells, and sysfs for the rest. None if the device went away
/// meanwhile.
[[nodiscard]] Result<std::optional<Identity>>
identify(nldev::Client& client, const Subject& subject, nldev::Device device);

} // namespace rdmad::rdma_id
