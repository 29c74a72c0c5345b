// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/naming/link_type.hpp"
#include "core/nldev/client.hpp"
#include "core/sysfs/rdma_device.hpp"

#include <vector>

// What an RDMA device is: what the kernel tells over netlink and what only sysfs has, put together.

namespace rdmad::identity {

struct PortIdentity {
    uint32_t port = 0;
    naming::LinkType link_type = naming::LinkType::unknown;
    std::optional<uint64_t> guid = {}; ///< none: not set
    std::optional<std::string> netdev = {};
    std::optional<uint32_t> netdev_index = {};
    std::optional<uint8_t> state = {}; ///< enum ib_port_state
};

struct DeviceIdentity {
    nldev::Device device;
    uint64_t inode = 0; ///< of the device's directory in sysfs
    std::optional<std::string> driver;
    std::vector<PortIdentity> ports; ///< those that were asked for, in order

    [[nodiscard]] bool has_link_type(naming::LinkType type) const;
};

/// Asks the kernel for what it tells, and sysfs for the rest: of one port, or of all. None if the
/// device went away meanwhile. A device that hangs on nothing has a driver's name only where
/// ib_uverbs is loaded, as the question would load it. root is /sys.
[[nodiscard]] Result<std::optional<DeviceIdentity>>
identify(nldev::Client& client, const sysfs::Directory& root, const sysfs::RdmaDevice& opened,
         nldev::Device device, std::optional<uint32_t> port = {});

/// A device as sysfs and the kernel have it in one state.
struct Found {
    sysfs::RdmaDevice opened;
    nldev::Device device;
};

/// By its index: one that is renamed at that moment is looked at again. root is /sys. None if it
/// is gone.
[[nodiscard]] Result<std::optional<Found>>
find_by_index(nldev::Client& client, const sysfs::Directory& root, uint32_t index);

/// enum ib_port_state, include/rdma/ib_verbs.h: "active"; empty if it is not known.
[[nodiscard]] std::string_view state_name(std::optional<uint8_t> state);
/// In words of the kernel (fill_dev_info()), but for EFA, for which it has none.
[[nodiscard]] std::string_view protocol_of(const DeviceIdentity& identity);
/// enum rdma_node_type, include/rdma/ib_verbs.h: "ca"; empty if it is not known.
[[nodiscard]] std::string_view node_type_name(std::optional<uint8_t> type);

} // namespace rdmad::identity
