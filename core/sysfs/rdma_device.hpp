// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/sysfs/directory.hpp"

namespace rdmad::sysfs {

/// Returns true if the kernel has RDMA devices at all: to ask it for one loads ib_core. root is
/// /sys.
[[nodiscard]] inline bool is_core_loaded(const Directory& root)
{
    return root.contains("class/infiniband");
}
/// Whether the module that makes nodes is there: to ask the kernel for a node of it loads it. root
/// is /sys.
[[nodiscard]] inline bool is_uverbs_loaded(const Directory& root)
{
    return root.contains("class/infiniband_verbs");
}
[[nodiscard]] inline bool is_umad_loaded(const Directory& root)
{
    return root.contains("class/infiniband_mad");
}

/// The low half of a GID, "fe80:0000:0000:0000:0002:c903:0000:0a01" gives 0002c90300000a01. None if
/// it is no GID.
[[nodiscard]] std::optional<uint64_t> parse_gid_low_half(std::string_view gid);

/// The sysfs side of an RDMA device: what RDMA netlink does not tell. One device for the life of
/// the object, whatever its name becomes.
class RdmaDevice {
public:
    /// root is /sys. None if there is no device of that name, or it cannot be one.
    [[nodiscard]] static Result<std::optional<RdmaDevice>> open(const Directory& root,
                                                                std::string_view name);

    /// Of the directory of the device that has that name now.
    [[nodiscard]] static std::optional<uint64_t> inode(const Directory& root,
                                                       std::string_view name);
    /// Of this device's directory; the same after a rename.
    [[nodiscard]] std::optional<uint64_t> inode() const
    {
        return directory_.inode();
    }

    /// For what belongs to the device's parent.
    [[nodiscard]] const Directory& directory() const
    {
        return directory_;
    }

    /// Returns true if the device hangs on what a node hangs on, or both on nothing. Since
    /// Linux 7.3 each network namespace can have a device of one name, and sysfs shows the nodes of
    /// all of them, but only the devices of its own namespace.
    [[nodiscard]] bool is_beside(const Directory& root, const std::string& node) const
    {
        return directory_.inode("device") == root.inode(node + "/device");
    }

    /// The low half of GID 0, as libibumad has it. On InfiniBand and OPA that is the port GUID; on
    /// RoCE it comes from the MAC address of the network device. None if it is not set yet, which
    /// reads as zero, or cannot be read.
    /// An error where the driver refuses.
    [[nodiscard]] Result<std::optional<uint64_t>> port_guid(uint32_t port) const;
    /// "InfiniBand", "Ethernet" or "Unknown".
    [[nodiscard]] Attribute link_layer(uint32_t port) const;
    /// Whether any GID of the port is a RoCE GID.
    [[nodiscard]] bool has_roce_gid(uint32_t port) const;
    /// Whether the GID table has an address that others can reach: any GID that is not link-local.
    /// Of a RoCE port.
    [[nodiscard]] bool has_address(uint32_t port) const;
    /// Name of the bus driver: mlx5_core. None for a device without a parent, such as rxe and siw.
    [[nodiscard]] std::optional<std::string> driver() const;
    /// Name of the parent device: 0000:01:00.0.
    [[nodiscard]] std::optional<std::string> parent() const;

private:
    explicit RdmaDevice(Directory directory) : directory_(std::move(directory)) {}

    Directory directory_;
};

} // namespace rdmad::sysfs
