// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/device_info.hpp"
#include "tests/support/captured_sysfs.hpp"
#include "tests/support/must.hpp"
#include "tests/support/replay_transport.hpp"

#include <cerrno>
#include <rdma/rdma_netlink.h>

using namespace rdmad;
using namespace rdmad::test;
using naming::LinkType;

namespace {

struct Bench {
    FixtureTree tree;
    CapturedKernel kernel{GENERATE(from_range(kernels()))};
    nldev::Client client{kernel};
    sysfs::Directory root = tree.root();

    Bench()
    {
        add_captured_devices(tree);
    }
    Result<std::optional<DeviceInfo>> of(uint32_t index, Node node,
                                         std::optional<uint32_t> port = {})
    {
        auto device = must_find(client.device(index));
        auto directory = must_find(sysfs::RdmaDevice::open(root, device.name));
        const Target target = {node, "node0", port, device.name, std::move(directory)};
        return read_device_info(client, root, target, std::move(device));
    }
};

} // namespace

TEST_CASE("each port of a mixed device has its own link type and GUID", "[device_info]")
{
    Bench bench;
    const auto info = must_find(bench.of(0, Node::device));
    REQUIRE(info.ports.size() == 2);
    CHECK(info.ports[0].port == 1);
    CHECK(info.ports[0].link_type == LinkType::infiniband);
    CHECK(info.ports[0].guid == UINT64_C(0x0002c90300000a01));
    CHECK(info.ports[0].state == uint8_t{4});
    CHECK_FALSE(info.ports[0].netdev.has_value());
    CHECK(info.ports[1].port == 2);
    CHECK(info.ports[1].link_type == LinkType::roce);
    CHECK(info.ports[1].guid == UINT64_C(0x0002c9fffe000a02));
    CHECK(info.ports[1].netdev == std::optional<std::string>("dummy0"));
    CHECK(info.has_link_type(LinkType::roce));
    CHECK_FALSE(info.has_link_type(LinkType::iwarp));
}

TEST_CASE("a port's node is about that port", "[device_info]")
{
    Bench bench;
    const auto info = must_find(bench.of(0, Node::umad, 2));
    REQUIRE(info.ports.size() == 1);
    CHECK(info.ports[0].port == 2);
    CHECK(info.node == Node::umad);
    CHECK(info.sysname == "node0");
    CHECK(bench.kernel.count(RDMA_NLDEV_CMD_PORT_GET) == 1);
}

TEST_CASE("an OPA port is one", "[device_info]")
{
    Bench bench;
    const auto info = must_find(bench.of(1, Node::device));
    CHECK(info.ports.at(0).link_type == LinkType::opa);
    CHECK(info.ports.at(0).guid == UINT64_C(0x0011750101000001));
}

TEST_CASE("an iWARP port has no GUID", "[device_info]")
{
    Bench bench;
    const auto info = must_find(bench.of(3, Node::device));
    CHECK(info.ports.at(0).link_type == LinkType::iwarp);
    CHECK_FALSE(info.ports.at(0).guid.has_value());
}

TEST_CASE("a GUID that is not set yet is none", "[device_info]")
{
    Bench bench;
    bench.tree.rdma_device("opa", "fe80:0000:0000:0000:0000:0000:0000:0000");
    CHECK_FALSE(must_find(bench.of(1, Node::device)).ports.at(0).guid.has_value());
}

TEST_CASE("the driver is the bus driver, and for software the kernel's number", "[device_info]")
{
    Bench bench;
    bench.tree.directory("class/infiniband_verbs");
    // rdma_mock pretends to be rxe
    const auto node = GENERATE(Node::device, Node::uverbs, Node::umad);
    CHECK(must_find(bench.of(0, node)).driver == std::optional<std::string>("rdma_rxe"));
    bench.tree.link("class/infiniband/mixed/device/driver", "../../bus/pci/drivers/mlx4_core");
    CHECK(must_find(bench.of(0, node)).driver == std::optional<std::string>("mlx4_core"));
}

TEST_CASE("no question loads ib_uverbs for the sake of a driver's name", "[device_info]")
{
    Bench bench;
    CHECK_FALSE(must_find(bench.of(0, Node::device)).driver.has_value());
    CHECK_FALSE(must_find(bench.of(0, Node::umad, 1)).driver.has_value());
    CHECK(bench.kernel.count(RDMA_NLDEV_CMD_GET_CHARDEV) == 0);
}

TEST_CASE("a device whose port has gone is gone", "[device_info]")
{
    Bench bench;
    CHECK(is_none(bench.of(0, Node::umad, 9)));
}

TEST_CASE("a device that has gone while its ports are asked for is gone", "[device_info]")
{
    Bench bench;
    auto device = must_find(bench.client.device(0));
    const Target target = {Node::device,
                           "mixed",
                           {},
                           "mixed",
                           must_find(sysfs::RdmaDevice::open(bench.root, "mixed"))};
    bench.kernel.remove(0);
    CHECK(is_none(read_device_info(bench.client, bench.root, target, device)));
}

TEST_CASE("a device whose driver cannot tell of a port now is there", "[device_info]")
{
    Bench bench;
    bench.kernel.refuse_port(0, 2);
    const auto info = bench.of(0, Node::device);
    CHECK(error_of(info) == EAGAIN);
    CHECK(info.error().context == "port 2 of mixed: the driver does not report it now");
}

TEST_CASE("an error of the kernel is passed on", "[device_info]")
{
    Bench bench;
    auto device = must_find(bench.client.device(1));
    const Target target = {
        Node::device, "opa", {}, "opa", must_find(sysfs::RdmaDevice::open(bench.root, "opa"))};
    bench.kernel.fail_next_send(EPERM);
    CHECK(error_of(read_device_info(bench.client, bench.root, target, device)) == EPERM);
}
