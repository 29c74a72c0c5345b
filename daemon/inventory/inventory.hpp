// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/nldev/client.hpp"
#include "core/sysfs/directory.hpp"
#include "daemon/inventory/model.hpp"
#include "daemon/inventory/node_id.hpp"
#include "daemon/known_guids.hpp"

#include <functional>
#include <map>
#include <set>

namespace rdmad {

/// An event of udev about an RDMA device or a node of one, or about what they hang on.
struct UdevEvent {
    std::string action;    ///< empty: found by enumeration
    std::string subsystem; ///< infiniband, infiniband_verbs or infiniband_mad
    NodeRef node;
    std::optional<uint32_t> index = {}; ///< ID_RDMA_INDEX
    std::optional<uint32_t> port = {};  ///< of umad and issm
    std::string path = {};              ///< ID_PATH
    std::string port_guids = {};        ///< ID_RDMA_PORT_GUIDS; of umad and issm ID_RDMA_PORT_GUID
    std::string netdevs = {};           ///< ID_RDMA_NETDEVS; of umad and issm ID_RDMA_NETDEV
    bool is_renaming = false;           ///< ID_RENAMING: another event is to come
    std::string error_event = {};       ///< ERROR_EVENT, of a PCI device
    bool is_synthetic = false;          ///< requested: udevadm trigger
};

/// Every RDMA device and port. Udev reports nodes and that something happened; the kernel is asked
/// by index what a device is, and whether it is still there. When a node has gone, two dumps show
/// whether the device is being removed, too, and so gone for everybody who would use it.
class Inventory {
public:
    using OnChange = std::function<void(const DeviceChange&)>;

    /// Takes client and root (/sys), which must outlive the inventory.
    Inventory(nldev::Client& client, const sysfs::Directory& root, OnChange on_change)
        : client_(client), root_(root), on_change_(std::move(on_change))
    {
    }

    /// Takes the GUIDs that ports keep which the first look finds in another network namespace:
    /// what was tied before rdmad was started stays tied.
    void remember(KnownGuids known)
    {
        known_before_ = std::move(known);
    }

    void handle(const UdevEvent& event);
    /// Asks the kernel about a device that something happened to. If that fails, the device stays
    /// as it was and is one of unanswered().
    Result<void> refresh(uint32_t index);
    /// Looks anew after events were lost: at the devices in events, all of udev's, and those known.
    Result<void> resync(const std::vector<UdevEvent>& events);

    /// Looks for removals that wait before anything reports them.
    Result<void> look_for_leaving();

    [[nodiscard]] const std::map<uint32_t, Device>& devices() const
    {
        return devices_;
    }
    /// Returns the indexes whose last look failed: the caller is to refresh them.
    [[nodiscard]] const std::set<uint32_t>& unanswered() const
    {
        return unanswered_;
    }
    /// Returns those of them that are not in devices(), as no look ever succeeded: they may be
    /// there.
    [[nodiscard]] std::set<uint32_t> unknown() const;
    /// Returns, by index, the nodes (and the device itself) of which udev's database has other port
    /// GUIDs or another network device than the kernel.
    [[nodiscard]] const std::map<uint32_t, std::set<std::string>>& outdated() const
    {
        return outdated_;
    }
    /// Returns true if the device is there and has the node; any of that name, if born is 0.
    [[nodiscard]] bool has_node(const NodeId& id) const;
    /// Returns the node of that name, or nullptr: if there is one, udev is done with an earlier
    /// one.
    [[nodiscard]] const NodeRef* node_named(std::string_view node) const;
    /// Returns true if a change of the network device may be one of a port. It may have been
    /// renamed.
    [[nodiscard]] bool is_concerned(const std::string& netdev, uint32_t netdev_index) const;
    /// Returns true if the network device of a RoCE port is in another network namespace: any that
    /// appears may be that one.
    [[nodiscard]] bool lacks_netdev() const;
    /// Returns the first error since the last call; an event has nobody to return one to.
    [[nodiscard]] std::optional<Error> take_error();

private:
    /// The entry of a node or device in udev's database.
    struct Record {
        std::string sysname;
        std::optional<uint32_t> port; ///< none: it is of all ports
        std::string port_guids;
        std::string netdevs;
    };
    struct Nodes {
        std::optional<NodeRef> uverbs = {};
        std::map<uint32_t, NodeRef> umad = {}; ///< by port
        std::map<uint32_t, NodeRef> issm = {};
        std::string path = {};
        std::string syspath = {};                   ///< of the device itself
        std::map<std::string, Record> records = {}; ///< by syspath
        bool is_named = false;
    };

    void add_node(uint32_t index, const UdevEvent& event);
    [[nodiscard]] const NodeRef* known_node(uint32_t index, const std::string& syspath) const;
    void add_device(uint32_t index, const UdevEvent& event);
    void remove_node(const NodeRef& gone);
    void end_earlier_appearances(const Device& device);
    void update(Device device);
    void forget(uint32_t index);
    void compare_records(uint32_t index);
    [[nodiscard]] static bool is_outdated(const Record& record, const Device& device);
    [[nodiscard]] Result<std::optional<Device>> look_at(uint32_t index);
    [[nodiscard]] bool was_known(uint32_t index, uint64_t guid) const;
    [[nodiscard]] bool is_leaving(uint32_t index);

    nldev::Client& client_;
    const sysfs::Directory& root_;
    OnChange on_change_;
    std::map<uint32_t, Device> devices_;
    std::map<uint32_t, Nodes> nodes_;
    std::map<std::string, uint32_t> owner_; ///< of a node, by its syspath
    std::set<uint32_t> doubtful_;           ///< a node of theirs has gone
    std::set<uint32_t> unanswered_;
    std::map<uint32_t, std::set<std::string>> outdated_;
    KnownGuids known_before_; ///< to an earlier rdmad
    std::optional<Error> error_;
};

} // namespace rdmad
