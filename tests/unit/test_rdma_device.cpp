// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/sysfs/rdma_device.hpp"
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"

using namespace rdmad;
using namespace rdmad::sysfs;
using namespace rdmad::test;
using namespace std::string_literals;

namespace {

constexpr char zero_gid[] = "0000:0000:0000:0000:0000:0000:0000:0000";

} // namespace

TEST_CASE("the low half of a GID is the port GUID", "[rdma_device]")
{
    // "%pI6" of the kernel: eight groups of four digits
    CHECK(parse_gid_low_half("fe80:0000:0000:0000:0002:c903:0000:0a01") ==
          UINT64_C(0x0002c90300000a01));
    CHECK(parse_gid_low_half("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff") == ~UINT64_C(0));
    CHECK(parse_gid_low_half("ffff:ffff:ffff:ffff:0000:0000:0000:0001") == UINT64_C(1));
    CHECK(parse_gid_low_half(zero_gid) == UINT64_C(0));
}

TEST_CASE("a malformed GID is none", "[rdma_device]")
{
    const auto gid = GENERATE(
        ""s, ":"s, "fe80::2:c903:0:a01"s, "fe80:0000:0000:0000:0002:c903:0000:0a0"s,
        "fe80:0000:0000:0000:0002:c903:0000:0a011"s, "fe80:0000:0000:0000:0002:c903:0000"s,
        "fe80:0000:0000:0000:0002:c903:0000:0a01 "s, " fe80:0000:0000:0000:0002:c903:0000:0a0"s,
        "fe80-0000-0000-0000-0002-c903-0000-0a01"s, "fe80:0000:0000:0000:0002:c903:0000:0a0g"s,
        "fe80:0000:0000:0000:0002:c903:0000:-a01"s, "fe80:0000:0000:0000:0002:c903:0000:0x01"s,
        "fe80:0000:0000:0000:0002:c903:0000.0a01"s, "fe800:000:0000:0000:0002:c903:0000:0a01"s,
        "fe80:0000:0000:0000:0002:c903:0000:0a0\0"s, std::string(39, ':'), std::string(39, '0'));
    CAPTURE(gid);
    CHECK_FALSE(parse_gid_low_half(gid).has_value());
}

TEST_CASE("a port GUID is read from GID 0 of the port", "[rdma_device]")
{
    const FixtureTree tree;
    tree.file("class/infiniband/mixed/ports/1/gids/0", "fe80:0000:0000:0000:0002:c903:0000:0a01\n");
    tree.file("class/infiniband/mixed/ports/2/gids/0", "fe80:0000:0000:0000:0002:c903:0000:0a02\n");
    const auto device = must_find(RdmaDevice::open(tree.root(), "mixed"));
    CHECK(device.port_guid(1) == UINT64_C(0x0002c90300000a01));
    CHECK(device.port_guid(2) == UINT64_C(0x0002c90300000a02));
}

TEST_CASE("a port GUID that is not set is none, and one that cannot be read an error",
          "[rdma_device]")
{
    const FixtureTree tree;
    tree.directory("class/infiniband/mixed");
    const auto gid = GENERATE(std::string(zero_gid), "fe80:0000:0000:0000:0000:0000:0000:0000"s,
                              ""s, "(null)"s, std::string(5000, 'f'));
    tree.file("class/infiniband/mixed/ports/1/gids/0", gid + "\n");
    tree.directory("class/infiniband/mixed/ports/3/gids/0");
    const auto device = must_find(RdmaDevice::open(tree.root(), "mixed"));
    CHECK(device.port_guid(1).value() == std::nullopt);
    CHECK(device.port_guid(2).value() == std::nullopt);
    CHECK_FALSE(device.port_guid(3));
}

TEST_CASE("a name that cannot be a directory's is no device", "[rdma_device]")
{
    const FixtureTree tree;
    tree.file("class/infiniband/mixed/node_type", "1: CA\n");
    tree.directory("class/net/eth0");
    const auto name =
        GENERATE(""s, "."s, ".."s, "a/b"s, "/"s, "../net/eth0"s, "mixed/"s, "nobody"s);
    CAPTURE(name);
    CHECK(is_none(RdmaDevice::open(tree.root(), name)));
    CHECK_FALSE(RdmaDevice::inode(tree.root(), name).has_value());
}

TEST_CASE("a device is the same one after a rename", "[rdma_device]")
{
    const FixtureTree tree;
    tree.rdma_device("mixed", "fe80:0000:0000:0000:0002:c903:0000:0a01");
    const auto root = tree.root();
    const auto device = must_find(RdmaDevice::open(root, "mixed"));
    tree.rename("class/infiniband/mixed", "class/infiniband/ibp1s0");
    tree.rdma_device("mixed", "fe80:0000:0000:0000:0002:c903:0000:0b01");
    CHECK(device.port_guid(1) == UINT64_C(0x0002c90300000a01));
    CHECK(RdmaDevice::inode(root, "ibp1s0") == device.inode());
    CHECK(RdmaDevice::inode(root, "mixed") != device.inode());
}

TEST_CASE("a RoCE GID is found behind empty places of the table", "[rdma_device]")
{
    const FixtureTree tree;
    const std::string types = "class/infiniband/mlx4_0/ports/1/gid_attrs/types/";
    tree.directory("class/infiniband/mlx4_0/ports/2");
    // reading the type of an empty GID fails with EINVAL; a directory fails as well
    tree.directory(types + "0");
    tree.file(types + "1", "\n");
    SECTION("none")
    {
        CHECK_FALSE(must_find(RdmaDevice::open(tree.root(), "mlx4_0")).has_roce_gid(1));
    }
    SECTION("version 2")
    {
        tree.file(types + "2", "RoCE v2\n");
        CHECK(must_find(RdmaDevice::open(tree.root(), "mlx4_0")).has_roce_gid(1));
    }
    SECTION("version 1")
    {
        tree.file(types + "2", "IB/RoCE v1\n");
        CHECK(must_find(RdmaDevice::open(tree.root(), "mlx4_0")).has_roce_gid(1));
    }
    CHECK_FALSE(must_find(RdmaDevice::open(tree.root(), "mlx4_0")).has_roce_gid(2));
}

TEST_CASE("the nodes of a device are those that name it", "[rdma_device]")
{
    const FixtureTree tree;
    CHECK(sysfs::node_names(tree.root(), "opa").empty());
    for (const auto* node :
         {"infiniband_verbs/uverbs1", "infiniband_mad/umad1", "infiniband_mad/issm1"})
        tree.file("class/" + std::string(node) + "/ibdev", "opa\n");
    tree.file("class/infiniband_verbs/uverbs0/ibdev", "mixed\n");
    tree.file("class/infiniband_verbs/abi_version", "6\n");
    CHECK(sysfs::node_names(tree.root(), "opa") ==
          std::set<std::string>{"issm1", "umad1", "uverbs1"});
    CHECK(sysfs::node_names(tree.root(), "mixed") == std::set<std::string>{"uverbs0"});
    CHECK(sysfs::node_names(tree.root(), "").empty());
}

TEST_CASE("driver and parent are those of the device below", "[rdma_device]")
{
    const FixtureTree tree;
    tree.directory("devices/pci0000:00/0000:01:00.0");
    tree.link("devices/pci0000:00/0000:01:00.0/driver", "../../../bus/pci/drivers/mlx5_core");
    tree.directory("class/infiniband/mlx5_0");
    tree.link("class/infiniband/mlx5_0/device", "../../../devices/pci0000:00/0000:01:00.0");
    tree.directory("class/infiniband/rxe0");
    const auto hardware = must_find(RdmaDevice::open(tree.root(), "mlx5_0"));
    CHECK(hardware.driver() == std::optional<std::string>("mlx5_core"));
    CHECK(hardware.parent() == std::optional<std::string>("0000:01:00.0"));
    const auto software = must_find(RdmaDevice::open(tree.root(), "rxe0"));
    CHECK_FALSE(software.driver().has_value());
    CHECK_FALSE(software.parent().has_value());
}

TEST_CASE("the link layer is an attribute", "[rdma_device]")
{
    const FixtureTree tree;
    tree.file("class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n");
    const auto device = must_find(RdmaDevice::open(tree.root(), "mlx5_0"));
    CHECK(device.link_layer(1).text == "InfiniBand");
    CHECK_FALSE(device.link_layer(2));
}

TEST_CASE("a RoCE port has an address if any of its GIDs is not link-local", "[rdma_device]")
{
    const FixtureTree tree;
    const std::string gids = "class/infiniband/mlx5_0/ports/1/gids/";
    const auto has_address = [&] {
        return must_find(RdmaDevice::open(tree.root(), "mlx5_0")).has_address(1);
    };
    tree.directory("class/infiniband/mlx5_0");
    CHECK_FALSE(has_address());
    tree.file(gids + "0", "fe80:0000:0000:0000:0202:c9ff:fe00:0a02\n");
    tree.file(gids + "1", zero_gid + "\n"s);
    // one that cannot be read, as an empty one of some drivers
    tree.directory(gids + "2");
    tree.file(gids + "3", "\n");
    CHECK_FALSE(has_address());
    SECTION("IPv4")
    {
        tree.file(gids + "4", "0000:0000:0000:0000:0000:ffff:0a00:0001\n");
        CHECK(has_address());
    }
    SECTION("IPv6")
    {
        tree.file(gids + "4", "fe80:0000:0000:0001:0202:c9ff:fe00:0a02\n");
        CHECK(has_address());
    }
    SECTION("behind the end of the table")
    {
        tree.file(gids + "5", "0000:0000:0000:0000:0000:ffff:0a00:0001\n");
        CHECK_FALSE(has_address());
    }
    SECTION("of another port")
    {
        tree.file("class/infiniband/mlx5_0/ports/2/gids/0",
                  "0000:0000:0000:0000:0000:ffff:0a00:0001\n");
        CHECK_FALSE(has_address());
    }
}
