// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/socket_address.hpp"

#include <cstdint>
#include <optional>
#include <string>

// What the kernel says over RDMA netlink (drivers/infiniband/core/nldev.c). An optional is empty
// where the kernel left the attribute out; each comment says when it does. Strings are bytes from
// hardware or from whoever renamed the device.

namespace rdmad::nldev {

/// RDMA_NLDEV_CMD_GET, fill_dev_info().
struct Device {
    static constexpr uint8_t smi = 1; ///< RDMA_DEVICE_TYPE_SMI: a sub-device for subnet management

    uint32_t index = 0;
    std::string name;
    uint32_t port_count = 0;
    uint64_t node_guid = 0;
    uint64_t sys_image_guid = 0;
    std::optional<uint8_t> node_type; ///< enum rdma_node_type
    std::optional<std::string>
        protocol; ///< of port 1: opa, ib, iw, roce or usnic; none: no such capability
    std::optional<std::string> fw_version;  ///< none: the driver reports none
    std::optional<uint8_t> device_type;     ///< since 6.11; none: no sub-device
    std::optional<std::string> parent_name; ///< since 6.11; of a sub-device
    std::optional<uint8_t>
        name_assign_type; ///< since 6.11; 0: the kernel chose the name, 1: user space
};

/// RDMA_NLDEV_CMD_PORT_GET, fill_port_info().
struct Port {
    uint32_t port = 0;
    std::optional<uint8_t> state;         ///< enum ib_port_state
    std::optional<uint32_t> lid;          ///< ports that speak InfiniBand or OPA only
    std::optional<std::string> netdev;    ///< none: there is none in the caller's network namespace
    std::optional<uint32_t> netdev_index; ///< of netdev; a rename does not change it
};

/// RDMA_NLDEV_CMD_GET_CHARDEV.
struct CharDevice {
    std::string name; ///< "uverbs0"
    std::optional<uint32_t>
        driver_id; ///< enum rdma_driver_id; of uverbs, where the driver has not hidden it
};

/// RDMA_NLDEV_CMD_MONITOR: something happened to a device. The receiver requests its state:
/// messages can be lost, and come later than what they report.
struct Notification {
    std::optional<uint32_t> device_index; ///< none: a network device got another name
};

/// RDMA_NLDEV_CMD_RES_CM_ID_GET, fill_res_cm_id_entry(): an end of a connection, or a listener.
struct CmId {
    static constexpr uint8_t listening = 8; ///< RDMA_CM_LISTEN, include/rdma/rdma_cm.h

    std::optional<uint8_t> state;        ///< enum rdma_cm_state
    std::optional<SocketAddress> source; ///< none: it has no address yet
    std::string kernel_user;             ///< "nvmet_rdma"
};

} // namespace rdmad::nldev
