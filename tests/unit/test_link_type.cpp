// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/naming/link_type.hpp"
#include "tests/catch.hpp"

using namespace rdmad::naming;

namespace {

struct Row {
    const char* what;
    LinkEvidence evidence;
    LinkType type;
};

// fill_dev_info(), fill_port_info() (drivers/infiniband/core/nldev.c) and enum rdma_node_type; the
// link layer is asked for last
const Row rows[] = {
    {"an InfiniBand port",
     {.protocol = "ib", .has_lid = true, .node_type = 1, .link_layer = "InfiniBand"},
     LinkType::infiniband},
    {"an OPA port",
     {.protocol = "opa", .has_lid = true, .node_type = 1, .link_layer = "InfiniBand"},
     LinkType::opa},
    {"a RoCE port",
     {.protocol = "roce", .node_type = 1, .link_layer = "Ethernet", .has_roce_gid = true},
     LinkType::roce},
    {"a RoCE port without GIDs",
     {.protocol = "roce", .node_type = 1, .link_layer = "Ethernet"},
     LinkType::roce},
    {"an iWARP port",
     {.protocol = "iw", .node_type = 4, .link_layer = "Ethernet"},
     LinkType::iwarp},
    {"a usNIC port",
     {.protocol = "usnic", .node_type = 6, .link_layer = "Ethernet"},
     LinkType::usnic},
    {"the Ethernet port of an mlx4 whose port 1 is InfiniBand",
     {.protocol = "ib",
      .node_type = 1,
      .driver = "mlx4_core",
      .link_layer = "Ethernet",
      .has_roce_gid = true},
     LinkType::roce},
    {"the InfiniBand port of an mlx4 whose port 1 is RoCE",
     {.protocol = "roce",
      .has_lid = true,
      .node_type = 1,
      .driver = "mlx4_core",
      .link_layer = "InfiniBand"},
     LinkType::infiniband},
    {"an Ethernet port without RoCE",
     {.protocol = "ib", .node_type = 1, .link_layer = "Ethernet"},
     LinkType::unknown},
    {"an EFA device", {.node_type = 7, .driver = "efa", .link_layer = "Unknown"}, LinkType::efa},
    {"a device that does raw packets only",
     {.node_type = 1, .driver = "mlx5_core", .link_layer = "Ethernet"},
     LinkType::unknown},
    {"a sub-device for subnet management",
     {.node_type = 1, .link_layer = "InfiniBand"},
     LinkType::infiniband},
    {"an iWARP node without a protocol",
     {.node_type = 4, .link_layer = "Ethernet"},
     LinkType::iwarp},
    {"a usNIC node without a protocol", {.node_type = 5}, LinkType::usnic},
    {"a usNIC node over UDP without a protocol", {.node_type = 6}, LinkType::usnic},
    {"a protocol of the future on InfiniBand",
     {.protocol = "warp", .node_type = 1, .link_layer = "InfiniBand"},
     LinkType::infiniband},
    {"a protocol of the future on Ethernet",
     {.protocol = "warp", .node_type = 1, .link_layer = "Ethernet"},
     LinkType::unknown},
    {"a protocol that is empty", {.protocol = "", .node_type = 1}, LinkType::unknown},
    {"nothing known at all", {}, LinkType::unknown},
};

} // namespace

TEST_CASE("a link type follows from what the kernel tells", "[link_type]")
{
    for (const auto& row : rows) {
        INFO(row.what);
        CHECK(to_string(link_type(row.evidence)) == to_string(row.type));
    }
}

TEST_CASE("what netlink settles does not change with sysfs", "[link_type]")
{
    for (const auto& row : rows) {
        INFO(row.what);
        auto without = row.evidence;
        without.link_layer = {};
        without.has_roce_gid = false;
        if (is_settled_by_netlink(row.evidence))
            CHECK(to_string(link_type(without)) == to_string(row.type));
    }
}

TEST_CASE("sysfs is asked only where netlink does not tell", "[link_type]")
{
    CHECK(is_settled_by_netlink({.protocol = "ib", .has_lid = true}));
    CHECK(is_settled_by_netlink({.protocol = "roce"}));
    CHECK(is_settled_by_netlink({.protocol = "iw"}));
    CHECK_FALSE(is_settled_by_netlink({.protocol = "ib"}));
    CHECK_FALSE(is_settled_by_netlink({.protocol = "opa"}));
    CHECK_FALSE(is_settled_by_netlink({}));
}

TEST_CASE("only InfiniBand and OPA are managed", "[link_type]")
{
    CHECK(is_managed(LinkType::infiniband));
    CHECK(is_managed(LinkType::opa));
    for (const auto type :
         {LinkType::roce, LinkType::iwarp, LinkType::usnic, LinkType::efa, LinkType::unknown})
        CHECK_FALSE(is_managed(type));
}

TEST_CASE("link types have the names of the properties and module lists", "[link_type]")
{
    CHECK(to_string(LinkType::infiniband) == "infiniband");
    CHECK(to_string(LinkType::opa) == "opa");
    CHECK(to_string(LinkType::roce) == "roce");
    CHECK(to_string(LinkType::iwarp) == "iwarp");
    CHECK(to_string(LinkType::usnic) == "usnic");
    CHECK(to_string(LinkType::efa) == "efa");
    CHECK(to_string(LinkType::unknown) == "unknown");
}
