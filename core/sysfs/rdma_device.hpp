// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/sysfs/directory.hpp"

#include <set>

namespace rdmad::sysfs {

/// Returns true if the kernel has RDMA devices at all: a request for one loads ib_core. root is
/// /sys.
[[nodiscard]] inline bool is_core_loaded(const Directory& root)
{
    return root.contains("class/infiniband");
}
/// Returns true if the module that makes these nodes is loaded: a request for one loads it. root is
/// /sys.
[[nodiscard]] inline bool is_uverbs_loaded(const Directory& root)
{
    return root.contains("class/infiniband_verbs");
}
[[nodiscard]] inline bool is_umad_loaded(const Directory& root)
{
    return root.contains("class/infiniband_mad");
}

/// Returns the names of the nodes of all devices of that name, whether udev has handled them or
/// not: "uverbs0". root is /sys.
[[nodiscard]] std::set<std::string> node_names(const Directory& root, std::string_view device);

/// Returns the low half of a GID, 0002c90300000a01 of "fe80:0000:0000:0000:0002:c903:0000:0a01";
/// nullopt for other text.
[[nodiscard]] std::optional<uint64_t> parse_gid_low_half(std::string_view gid);

/// The sysfs side of an RDMA device: what RDMA netlink does not report. One device for the life of
/// the object, whatever its name becomes.
class RdmaDevice {
public:
    /// Returns nullopt if there is no device of that name, or it cannot be one. root is /sys.
    [[nodiscard]] static Result<std::optional<RdmaDevice>> open(const Directory& root,
                                                                std::string_view name);

    /// Returns the inode of the directory of the device that has that name now.
    [[nodiscard]] static std::optional<uint64_t> inode(const Directory& root,
                                                       std::string_view name);
    /// Returns the inode of this device's directory; a rename does not change it.
    [[nodiscard]] std::optional<uint64_t> inode() const
    {
        return directory_.inode();
    }

    /// Returns the directory, for what belongs to the device's parent.
    [[nodiscard]] const Directory& directory() const
    {
        return directory_;
    }

    /// Returns true if the device and the node have the same parent, or neither has one. Since
    /// Linux 7.3 each network namespace can have a device of one name, and sysfs shows the nodes of
    /// all of them, but only the devices of its own namespace.
    [[nodiscard]] bool is_beside(const Directory& root, const std::string& node) const
    {
        return directory_.inode("device") == root.inode(node + "/device");
    }

    /// Returns the low half of GID 0, as libibumad has it. On InfiniBand and OPA that is the port
    /// GUID; on RoCE it comes from the MAC address of the network device. Returns nullopt if it is
    /// not set yet, which reads as zero, or is not there. Fails with EIO if the driver refuses.
    [[nodiscard]] Result<std::optional<uint64_t>> port_guid(uint32_t port) const;
    /// Returns "InfiniBand", "Ethernet" or "Unknown".
    [[nodiscard]] Attribute link_layer(uint32_t port) const;
    /// Returns true if any GID of the port is a RoCE GID.
    [[nodiscard]] bool has_roce_gid(uint32_t port) const;
    /// Returns true if the GID table of a RoCE port has an address that others can reach: any GID
    /// that is not link-local.
    [[nodiscard]] bool has_address(uint32_t port) const;
    /// Returns the name of the bus driver: mlx5_core. Returns nullopt for a device without a
    /// parent, such as rxe and siw.
    [[nodiscard]] std::optional<std::string> driver() const;
    /// Returns the name of the parent device: 0000:01:00.0.
    [[nodiscard]] std::optional<std::string> parent() const;

private:
    explicit RdmaDevice(Directory directory) : directory_(std::move(directory)) {}

    Directory directory_;
};

} // namespace rdmad::sysfs
