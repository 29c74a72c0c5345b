// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/support/fixture_tree.hpp"

namespace rdmad::test {

/// What /sys has of the devices of the captures (replay_transport.hpp), but for rxe.
inline void add_captured_devices(const FixtureTree& tree)
{
    tree.rdma_device("mixed", "fe80:0000:0000:0000:0002:c903:0000:0a01");
    tree.file("class/infiniband/mixed/ports/2/gids/0", "fe80:0000:0000:0000:0002:c9ff:fe00:0a02\n");
    tree.file("class/infiniband/mixed/ports/2/link_layer", "Ethernet\n");
    tree.file("class/infiniband/mixed/ports/2/gid_attrs/types/0", "RoCE v2\n");
    tree.rdma_device("opa", "fe80:0000:0000:0000:0011:7501:0100:0001");
    tree.rdma_device("siw", "0200:5eff:fe00:0000:0000:0000:0000:0001");
}

} // namespace rdmad::test
