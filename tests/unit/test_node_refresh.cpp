// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/support/fake_host.hpp"
#include "tests/support/must.hpp"
#include "udev-helpers/rdma_id/node_refresh.hpp"

#include <cerrno>

using namespace rdmad;
using namespace rdmad::rdma_id;
using namespace rdmad::test;

namespace {

constexpr char old_devpath[] = "/devices/virtual/infiniband/before";

/// Device 0 of the captures: uverbs0, and umad1 of port 2. It was called "before".
struct Bench {
    FakeHost host{"7.2"};
    DeviceInfo info;

    Bench()
    {
        info.device.index = 0;
        info.device.name = "mixed";
        info.ports = {{.port = 1}, {.port = 2, .guid = UINT64_C(0x0002c90300000a02)}};
        const auto& image = host.image;
        image.file("run/udev/data/+infiniband:before", "E:ID_RDMA_INDEX=0\n");
        image.file("run/udev/data/+infiniband:mixed", "E:ID_RDMA_INDEX=0\n");
        image.file("run/udev/data/n1", "");
        for (const std::string tag : {"systemd", "seat"}) {
            image.file("run/udev/tags/" + tag + "/+infiniband:before", "");
            image.file("run/udev/tags/" + tag + "/+infiniband:mixed", "");
        }
    }
    void add_nodes() const
    {
        for (const auto* node : {"uverbs0", "uverbs1"})
            host.sys.node("infiniband_verbs", node, "mixed", 0);
        for (const auto* node : {"umad0", "umad1", "issm0", "issm1"})
            host.sys.node("infiniband_mad", node, "mixed", 1);
    }
    [[nodiscard]] std::string uevent(const std::string& node) const
    {
        return host.sys.read("class/" + node + "/uevent");
    }
    Result<void> refresh(Unrecorded unrecorded = Unrecorded::refresh)
    {
        return refresh_nodes(host.context, info, "before", unrecorded);
    }
    void forget(const std::string& devpath = old_devpath) const
    {
        forget_old_name(host.root, devpath, host.paths.udev);
    }
    [[nodiscard]] std::vector<std::string> list(const std::string& path) const
    {
        return host.image.list("run/udev/" + path);
    }
};

} // namespace

TEST_CASE("the nodes of a renamed device are triggered, and no others", "[node_refresh]")
{
    Bench bench;
    bench.add_nodes();
    REQUIRE(bench.refresh().has_value());
    CHECK(bench.uevent("infiniband_verbs/uverbs0") == "change");
    CHECK(bench.uevent("infiniband_mad/umad1") == "change");
    CHECK(bench.uevent("infiniband_mad/issm1") == "change");
    CHECK(bench.uevent("infiniband_verbs/uverbs1").empty());
    CHECK(bench.uevent("infiniband_mad/umad0").empty());
    CHECK(bench.uevent("infiniband_mad/issm0").empty());
}

TEST_CASE("a node of which udev has no record is left to its first event if that is right",
          "[node_refresh]")
{
    Bench bench;
    bench.add_nodes();
    REQUIRE(bench.refresh(Unrecorded::is_right).has_value());
    CHECK(bench.uevent("infiniband_verbs/uverbs0").empty());
    REQUIRE(bench.refresh(Unrecorded::refresh).has_value());
    CHECK(bench.uevent("infiniband_verbs/uverbs0") == "change");
}

TEST_CASE("a node is triggered if udev's record of it is not of this device and name",
          "[node_refresh]")
{
    Bench bench;
    bench.add_nodes();
    bench.host.sys.file("class/infiniband_verbs/uverbs0/dev", "231:192\n");
    const auto is_triggered = [&](const std::string& record) {
        bench.host.image.file("run/udev/data/c231:192", record);
        bench.host.sys.file("class/infiniband_verbs/uverbs0/uevent", "");
        REQUIRE(bench.refresh().has_value());
        return bench.uevent("infiniband_verbs/uverbs0") == "change";
    };
    const std::string guids = "E:ID_RDMA_PORT_GUIDS=0000000000000000 0002c90300000a02\n";
    const std::string right = "E:ID_RDMA_INDEX=0\nE:ID_RDMA_NAME=mixed\n" + guids;
    CHECK_FALSE(is_triggered(right));
    CHECK(is_triggered("E:ID_RDMA_INDEX=1\nE:ID_RDMA_NAME=mixed\n" + guids));
    CHECK(is_triggered("E:ID_RDMA_INDEX=0\nE:ID_RDMA_NAME=mixed2\n" + guids));
    CHECK(is_triggered("E:ID_RDMA_INDEX=0\n" + guids));
    CHECK(is_triggered("E:ID_RDMA_NAME=mixed\n" + guids));
    CHECK(is_triggered("E:ID_RDMA_INDEX=0\nE:ID_RDMA_NAME=mixed\n"));
    // its network device is in another network namespace now, or was
    CHECK(is_triggered(right + "E:ID_RDMA_NETDEVS=- eth0\n"));
    bench.info.ports[1].netdev = "eth0";
    CHECK_FALSE(is_triggered(right + "E:ID_RDMA_NETDEVS=- eth0\n"));
    CHECK(is_triggered(right));
    bench.info.ports[1].netdev.reset();
    // the event of the node came before ib_uverbs knew whose it is
    bench.info.driver = "rdma_rxe";
    CHECK(is_triggered(right));
    CHECK_FALSE(is_triggered(right + "E:ID_RDMA_DRIVER=rdma_rxe\n"));
    bench.info.driver.reset();
    // a link of rdma-core's, made just before the rename
    CHECK(is_triggered(right + "S:infiniband/by-ibdev/uverbs-before\n"));
    // the old name does not count inside the present one
    bench.info.device.name = "hca-before";
    const std::string renamed = "E:ID_RDMA_INDEX=0\nE:ID_RDMA_NAME=hca-before\n" + guids +
                                "S:infiniband/by-ibdev/uverbs-hca-before\n";
    CHECK_FALSE(is_triggered(renamed));
    CHECK(is_triggered(renamed + "S:infiniband/by-ibdev/uverbs-before\n"));
}

TEST_CASE("a umad node is triggered if the GUID or network device of its port has changed",
          "[node_refresh]")
{
    Bench bench;
    bench.add_nodes();
    bench.host.sys.file("class/infiniband_mad/umad1/dev", "231:1\n");
    bench.host.sys.file("class/infiniband_mad/issm1/dev", "231:65\n");
    bench.info.ports[1].netdev = "eth0";
    const auto are_triggered = [&](const std::string& changing) {
        for (const auto* number : {"c231:1", "c231:65"})
            bench.host.image.file(std::string("run/udev/data/") + number,
                                  "E:ID_RDMA_INDEX=0\nE:ID_RDMA_NAME=mixed\n" + changing);
        REQUIRE(bench.refresh().has_value());
        const bool umad = bench.host.take_trigger("infiniband_mad/umad1") == "change";
        CHECK((bench.host.take_trigger("infiniband_mad/issm1") == "change") == umad);
        return umad;
    };
    const std::string guid = "E:ID_RDMA_PORT_GUID=0002c90300000a02\n";
    CHECK_FALSE(are_triggered(guid + "E:ID_RDMA_NETDEV=eth0\n"));
    CHECK(are_triggered(guid + "E:ID_RDMA_NETDEV=eth1\n"));
    CHECK(are_triggered(guid));
    CHECK(are_triggered("E:ID_RDMA_PORT_GUID=0002c90300000a03\nE:ID_RDMA_NETDEV=eth0\n"));
    CHECK(are_triggered("E:ID_RDMA_NETDEV=eth0\n"));
    bench.info.ports[1].netdev.reset();
    CHECK(are_triggered(guid + "E:ID_RDMA_NETDEV=eth0\n"));
    CHECK_FALSE(are_triggered(guid));
}

TEST_CASE("no question is asked that would load a module", "[node_refresh]")
{
    Bench bench;
    REQUIRE(bench.refresh().has_value());
    CHECK(bench.host.sent().empty());
}

TEST_CASE("a device that has gone meanwhile is no error", "[node_refresh]")
{
    Bench bench;
    bench.add_nodes();
    bench.host.remove(0);
    CHECK(bench.refresh().has_value());
    CHECK(bench.uevent("infiniband_verbs/uverbs0").empty());
}

TEST_CASE("udev's record of the old name goes, and no other", "[node_refresh]")
{
    const Bench bench;
    bench.forget();
    using List = std::vector<std::string>;
    CHECK(bench.list("data") == List{"+infiniband:mixed", "n1"});
    CHECK(bench.list("tags/systemd") == List{"+infiniband:mixed"});
    CHECK(bench.list("tags/seat") == List{"+infiniband:mixed"});
}

TEST_CASE("udev's record stays if a device has the old name by now", "[node_refresh]")
{
    const Bench bench;
    bench.host.sys.directory("class/infiniband/before");
    bench.forget();
    CHECK(bench.host.image.exists("run/udev/data/+infiniband:before"));
    CHECK(bench.host.image.exists("run/udev/tags/systemd/+infiniband:before"));
}

TEST_CASE("an old name that cannot be one removes nothing", "[node_refresh]")
{
    const Bench bench;
    bench.host.image.file("run/udev/data/+infiniband:", "");
    bench.host.image.file("run/udev/data/+infiniband:a b", "");
    const auto count = bench.list("data").size();
    bench.forget(
        GENERATE("", "/", "/devices/virtual/infiniband/", "/devices/virtual/infiniband/..", "a b"));
    CHECK(bench.list("data").size() == count);
}

TEST_CASE("an udev without records does no harm", "[node_refresh]")
{
    Bench bench;
    bench.host.image.remove("run/udev/tags");
    bench.host.image.remove("run/udev/data");
    bench.forget();
    CHECK(bench.refresh().has_value());
}

TEST_CASE("an error of the kernel is passed on by a refresh", "[node_refresh]")
{
    Bench bench;
    bench.add_nodes();
    bench.host.fail_next_send(EPERM);
    CHECK(error_of(bench.refresh()) == EPERM);
}
