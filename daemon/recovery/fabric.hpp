// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/socket_address.hpp"
#include "core/nldev/client.hpp"
#include "core/sysfs/directory.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace rdmad::recovery {

/// The RDMA devices, their addresses, and who waits for connections there.
struct Fabric {
    struct Device {
        std::string name = {};
        std::set<IpAddress> gids = {};     ///< RoCE: its addresses, too
        std::vector<IpAddress> first = {}; ///< GID 0 of each port, which names it
        std::set<std::string> netdevs = {};
        /// What in the kernel has connections over it: "nvme_rdma".
        std::set<std::string> users = {};
    };
    std::map<uint32_t, Device> devices = {}; ///< by index
    /// Who waits for connections, and on which device.
    std::map<SocketAddress, uint32_t> listening = {};
    /// The network devices that have an address, and what is below them.
    std::multimap<IpAddress, std::string> local = {};
    std::set<uint32_t> ready = {}; ///< devices that are better than others

    /// Returns the device that has an address: through a network device for InfiniBand and iWARP,
    /// whose GIDs are no addresses. Prefers one that is ready.
    [[nodiscard]] std::optional<uint32_t> device_with(const IpAddress& address) const;
};

/// Records which parts of the kernel wait for connections over the device, and which have some. A
/// process that listens where a target should is no target.
void take_connections(uint32_t index, const std::vector<nldev::CmId>& ids, Fabric& fabric);

/// Reads all devices that are listed, and so not being removed. A port of RoCE or iWARP whose
/// network device is in another network namespace has no addresses for us. root: /sys
[[nodiscard]] Result<Fabric> look_at_fabric(nldev::Client& client, const sysfs::Directory& root);

} // namespace rdmad::recovery
