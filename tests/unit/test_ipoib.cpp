// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/catch.hpp"
#include "tests/support/fixture_tree.hpp"
#include "udev-helpers/rdma_id/ipoib.hpp"

using namespace rdmad;
using namespace rdmad::rdma_id;
using namespace rdmad::test;

namespace {

constexpr char adapter[] = "devices/pci0000:00/0000:00:10.1/0000:02:00.0";
const std::string first = adapter + std::string("/net/ib0");
const std::string second = adapter + std::string("/net/ib1");
const std::string child = "devices/virtual/net/ib1.8003";

/// As Linux 6.12 shows an adapter with two ports, and a child interface made by create_child.
struct Bench {
    FixtureTree tree;

    Bench()
    {
        netdev(first, "0", "80:00:00:11:fe:80:00:00:00:00:00:00:00:c0:ff:ee:00:00:00:01");
        netdev(second, "1", "80:00:00:12:fe:80:00:00:00:00:00:00:00:c0:ff:ee:00:00:00:02");
        netdev(child, "0", "80:00:00:13:fe:80:00:00:00:00:00:00:00:c0:ff:ee:00:00:00:02");
        tree.remove(child + "/device");
        tree.file(child + "/parent", "ib1\n");
        tree.file(child + "/pkey", "0x8003\n");
        device("ibp2s0", "1", "fe80:0000:0000:0000:00c0:ffee:0000:0001");
        device("ibp2s0", "2", "fe80:0000:0000:0000:00c0:ffee:0000:0002");
    }
    void netdev(const std::string& path, const std::string& port, const std::string& address) const
    {
        tree.file(path + "/type", "32\n");
        tree.file(path + "/dev_port", port + "\n");
        tree.file(path + "/address", address + "\n");
        tree.link(path + "/device", "../../../0000:02:00.0");
    }
    /// Below the adapter, and in the class.
    void device(const std::string& name, const std::string& port, const std::string& gid) const
    {
        tree.file(adapter + ("/infiniband/" + name) + "/ports/" + port + "/gids/0", gid + "\n");
        const auto link = "class/infiniband/" + name;
        if (tree.target(link).empty())
            tree.link(link, "../../" + (adapter + ("/infiniband/" + name)));
    }
    [[nodiscard]] std::optional<Ipoib> find(const std::string& path) const
    {
        return find_ipoib(tree.root(), "/" + path);
    }
};

} // namespace

TEST_CASE("an IPoIB device is on a port of the RDMA device of its parent", "[ipoib]")
{
    const Bench bench;
    const auto one = bench.find(first);
    REQUIRE(one.has_value());
    CHECK(one->device == "ibp2s0");
    CHECK(one->port == 1);
    const auto two = bench.find(second);
    REQUIRE(two.has_value());
    CHECK(two->device == "ibp2s0");
    CHECK(two->port == 2);
}

TEST_CASE("of several RDMA devices on one parent the port GUID tells", "[ipoib]")
{
    const Bench bench;
    bench.device("another", "1", "fe80:0000:0000:0000:00c0:ffee:0000:0101");
    bench.device("another", "2", "fe80:0000:0000:0000:00c0:ffee:0000:0001");
    const auto one = bench.find(first);
    REQUIRE(one.has_value());
    CHECK(one->device == "ibp2s0");
    for (const auto* address :
         {"80:00:00:11:fe:80:00:00:00:00:00:00:00:c0:ff:ee:00:00:00:77", "", "80:00:00:11",
          "80:00:00:11:fe:80:00:00:00:00:00:00:00:c0:ff:ee:0:00:00:01"}) {
        bench.tree.file(first + "/address", address);
        CHECK_FALSE(bench.find(first).has_value());
    }
}

TEST_CASE("a child interface, another network device and one that has gone are none", "[ipoib]")
{
    const Bench bench;
    CHECK_FALSE(bench.find(child).has_value());
    bench.tree.file(first + "/type", "1\n");
    CHECK_FALSE(bench.find(first).has_value());
    CHECK_FALSE(bench.find("devices/gone").has_value());
    bench.tree.file(second + "/dev_port", "\n");
    CHECK_FALSE(bench.find(second).has_value());
}

TEST_CASE("of several RDMA devices one that is being renamed may be the one", "[ipoib]")
{
    const Bench bench;
    bench.device("another", "1", "fe80:0000:0000:0000:00c0:ffee:0000:0101");
    bench.tree.remove("class/infiniband/ibp2s0");
    const auto one = bench.find(first);
    REQUIRE(one.has_value());
    CHECK(one->device.empty());
}

TEST_CASE("without an RDMA device on its parent it is none", "[ipoib]")
{
    const Bench bench;
    bench.tree.remove(first + "/device");
    CHECK_FALSE(bench.find(first).has_value());
}
