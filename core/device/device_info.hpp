// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/device/target.hpp"
#include "core/naming/link_type.hpp"
#include "core/nldev/client.hpp"

#include <vector>

namespace rdmad {

/// Identifies one appearance of a device. The kernel reuses an index after ib_core was unloaded,
/// but then the device has another inode in sysfs (sysfs::Directory::inode()).
struct DeviceId {
    uint32_t index = 0;
    uint64_t inode = 0;
};

struct PortInfo {
    uint32_t port = 0;
    naming::LinkType link_type = naming::LinkType::unknown;
    std::optional<uint64_t> guid = {}; ///< nullopt: not set
    std::optional<std::string> netdev = {};
    std::optional<uint32_t> netdev_index = {};
    std::optional<uint8_t> state = {}; ///< enum ib_port_state
};

/// A target as the kernel reports it over netlink, and what only sysfs has.
struct DeviceInfo {
    Node node = Node::device;
    std::string sysname; ///< "umad0"
    nldev::Device device;
    uint64_t inode = 0; ///< of the device's directory in sysfs
    std::optional<std::string> driver;
    std::vector<PortInfo> ports; ///< those that the target serves, in order: one for umad and issm

    [[nodiscard]] DeviceId id() const
    {
        return {device.index, inode};
    }
    [[nodiscard]] bool has_link_type(naming::LinkType type) const;
    /// Returns the kernel's word (fill_dev_info()), but "efa" for EFA, for which it has none.
    [[nodiscard]] std::string_view protocol() const;
};

/// Reads the device from the kernel, and the rest from sysfs. Returns nullopt if the device went
/// away meanwhile. A device without a parent has a driver's name only where ib_uverbs is loaded, as
/// the request would load it. root is /sys.
[[nodiscard]] Result<std::optional<DeviceInfo>> read_device_info(nldev::Client& client,
                                                                 const sysfs::Directory& root,
                                                                 const Target& target,
                                                                 nldev::Device device);

/// Returns the word for a network device in ID_RDMA_NETDEVS of rdma_id(8): escaped; "-" for none.
[[nodiscard]] std::string netdev_word(const std::optional<std::string>& netdev);

/// Returns the name in enum ib_port_state, include/rdma/ib_verbs.h: "active"; empty if the state is
/// not known.
[[nodiscard]] std::string_view state_name(std::optional<uint8_t> state);

} // namespace rdmad
