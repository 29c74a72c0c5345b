// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/naming/link_type.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

// RDMA devices as the daemon knows them. Names change; an index belongs to one appearance of a
// device and is not given to another (xa_alloc_cyclic(), drivers/infiniband/core/device.c).

namespace rdmad {

/// A device node that udev has processed.
struct NodeRef {
    std::string sysname; ///< "umad0"
    std::string syspath; ///< "/sys/devices/.../umad0"
    uint64_t born = 0;   ///< see NodeId

    friend bool operator==(const NodeRef&, const NodeRef&) = default;
};

struct Port {
    uint32_t number = 0;
    naming::LinkType link_type = naming::LinkType::unknown;
    /// The last that it had. While the network device of a RoCE port is in another network
    /// namespace, the last that it had before; none if rdmad knows of none.
    std::optional<uint64_t> guid = {};
    bool has_guid = false;     ///< now: the kernel takes one away before it gives another
    std::string state = {};    ///< "active"; empty: the kernel did not say
    bool has_address = true;   ///< RoCE: the GID table has one; others need none
    std::string netdev = {};   ///< without a GUID, the last that it had
    uint32_t netdev_index = 0; ///< of that; 0: there is none
    std::optional<NodeRef> umad = {};
    std::optional<NodeRef> issm = {};

    /// Returns true if its network device is in another network namespace, where somebody else
    /// chooses the MAC address that the GUID is made of.
    [[nodiscard]] bool is_elsewhere() const
    {
        return link_type == naming::LinkType::roce && has_guid && netdev.empty();
    }
    /// Returns true if it has always been there, as far as rdmad knows: what a container makes of
    /// its own network device (rdma link add) is so.
    [[nodiscard]] bool is_foreign() const
    {
        return is_elsewhere() && !guid;
    }
    /// Returns true if traffic can flow.
    [[nodiscard]] bool is_ready() const
    {
        return state == "active" && has_address;
    }

    /// Returns true if a subnet manager has yet to make it active: the kernel does not report when
    /// that happens, except by the network device of IPoIB.
    [[nodiscard]] bool is_silent() const
    {
        return naming::is_managed(link_type) && !is_ready();
    }

    friend bool operator==(const Port&, const Port&) = default;
};

struct Device {
    uint32_t index = 0;
    std::string name = {};
    std::string driver = {};
    std::string path = {};    ///< udev's ID_PATH
    std::string syspath = {}; ///< empty: udev has not reported the device itself yet
    uint64_t node_guid = 0;
    uint64_t sys_image_guid = 0;
    std::string node_type = {};
    std::string protocol = {};
    std::string firmware = {};
    std::optional<NodeRef> uverbs = {};
    std::vector<Port> ports = {};
    /// Udev has processed the device itself: its first name, the kernel's, may be replaced before.
    bool is_named = false;

    friend bool operator==(const Device&, const Device&) = default;
};

/// Returns the names of all its nodes: "uverbs0".
[[nodiscard]] std::set<std::string> nodes_of(const Device& device);

/// Returns true if that is its name, its node GUID, or the GUID of a port, as a person may call it.
[[nodiscard]] bool is_called(const Device& device, const std::string& name);

/// Returns those, by index, of which a port may become active without an event.
[[nodiscard]] std::set<uint32_t> with_silent_port(const std::map<uint32_t, Device>& devices);

/// A change of a device, which is as it is now; if it went, as it was.
struct DeviceChange {
    enum class Kind { added, removed, renamed, port, other };
    Kind kind;
    const Device& device;
    std::string old_name = {}; ///< renamed
    uint32_t port = 0;         ///< port
};

} // namespace rdmad
