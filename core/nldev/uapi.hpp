// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <rdma/rdma_netlink.h>

// The numbers of include/uapi/rdma/rdma_netlink.h that we use and the kernel headers of a supported
// distribution may lack (Debian 12 has those of Linux 6.1).

namespace rdmad::nldev::uapi {

constexpr uint16_t attr_dev_type = 99;          // RDMA_NLDEV_ATTR_DEV_TYPE, Linux 6.11
constexpr uint16_t attr_parent_name = 100;      // RDMA_NLDEV_ATTR_PARENT_NAME, Linux 6.11
constexpr uint16_t attr_name_assign_type = 101; // RDMA_NLDEV_ATTR_NAME_ASSIGN_TYPE, Linux 6.11
constexpr uint16_t attr_monitor_mode = 103;     // RDMA_NLDEV_SYS_ATTR_MONITOR_MODE, Linux 6.12
constexpr uint16_t command_monitor = 28;        // RDMA_NLDEV_CMD_MONITOR, Linux 6.12
constexpr int group_notify = 4;                 // RDMA_NL_GROUP_NOTIFY, Linux 6.12

constexpr uint16_t message_type(uint16_t command)
{
    return RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
}

} // namespace rdmad::nldev::uapi
