// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/inventory/model.hpp"

namespace rdmad::test {

/// An adapter that has all that a device can have: port 1 InfiniBand and active, port 2 RoCE and
/// down.
[[nodiscard]] inline Device sample_device()
{
    const auto node = [](const std::string& name) { return NodeRef{name, "/sys/devices/" + name}; };
    return {.index = 3,
            .name = "mlx5_0",
            .driver = "mlx5_core",
            .path = "pci-0000:c1:00.0",
            .node_guid = 0x0002c90300000a00,
            .sys_image_guid = 0x0002c90300000aff,
            .node_type = "ca",
            .protocol = "ib",
            .firmware = "1.2.3",
            .uverbs = node("uverbs0"),
            .ports = {{.number = 1,
                       .link_type = naming::LinkType::infiniband,
                       .guid = 0x0002c90300000a01,
                       .state = "active",
                       .netdev = "ib0",
                       .umad = node("umad0"),
                       .issm = node("issm0")},
                      {.number = 2,
                       .link_type = naming::LinkType::roce,
                       .guid = 0x0002c9fffe000a02,
                       .state = "down",
                       .has_address = false,
                       .netdev = "eth1"}},
            .is_named = true};
}

} // namespace rdmad::test
