// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/name_records.hpp"
#include "core/naming/device_name.hpp"
#include "tests/support/fake_host.hpp"
#include "tests/support/must.hpp"
#include "tests/support/open_hook.hpp"
#include "udev-helpers/rdma_id/events.hpp"
#include "udev-helpers/rdma_id/naming/explanation.hpp"

#include <cerrno>
#include <rdma/rdma_netlink.h>

using namespace rdmad;
using namespace rdmad::rdma_id;
using namespace rdmad::test;

namespace {

constexpr NamingMode naming_off = {};
constexpr NamingMode naming_on = {.gives_names = true, .ends_swaps = true};

/// Device 0 of the captures with its node uverbs0.
struct Bench {
    FakeHost host{"6.1"};
    NameRecords records{host.paths.rdmad};
    DeviceId id{0, host.inode(0)};

    Bench()
    {
        host.sys.node("infiniband_verbs", "uverbs0", "mixed", 0);
        host.sys.file("class/infiniband_verbs/uverbs0/dev", "231:192\n");
        host.properties["ACTION"] = "add";
    }
    [[nodiscard]] Target node() const
    {
        return must_find(
            find_event_target(host.root, "/class/infiniband_verbs/uverbs0", "infiniband_verbs"));
    }
    [[nodiscard]] Target device() const
    {
        return must_find(find_device_target(host.root, host.name_of(0)));
    }
    [[nodiscard]] std::string device_event(const NamingMode& naming)
    {
        return must(handle_device_event(host.context, device(), naming, Load::nothing));
    }
    [[nodiscard]] std::string node_event(const NamingMode& naming)
    {
        return must(handle_node_event(host.context, node(), naming));
    }
    /// Returns true if udev was told to process the node again.
    [[nodiscard]] bool has_refreshed() const
    {
        return host.take_trigger("infiniband_verbs/uverbs0") == "change";
    }
    void record_of_udev(const std::string& name) const
    {
        const std::string guids = "0002c90300000a01 0000000000000000";
        host.image.file("run/udev/data/c231:192",
                        "E:ID_RDMA_INDEX=0\nE:ID_RDMA_NAME=" + name +
                            "\nE:ID_RDMA_DRIVER=rdma_rxe\nE:ID_RDMA_PORT_GUIDS=" + guids +
                            "\nE:ID_RDMA_NETDEVS=- dummy0\n");
    }
};

bool has_line(const std::string& text, const std::string& line)
{
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

} // namespace

TEST_CASE("the event of a node names its device before it reads the name", "[events]")
{
    Bench bench;
    bench.host.wish(0, "Name=storage\n");
    CHECK(has_line(bench.node_event(naming_on), "ID_RDMA_NAME=storage"));
    CHECK(bench.records.find(bench.id).value().given == "storage");
}

TEST_CASE("the first event of a device asks for its ports once", "[events]")
{
    Bench bench;
    bench.host.wish(0, "Name=storage\n");
    CHECK(has_line(bench.node_event(naming_on), "ID_RDMA_PORTS=2"));
    CHECK(bench.host.count(RDMA_NLDEV_CMD_PORT_GET) == 2);
}

TEST_CASE("the first event of a device, of a port's node, tells of that port alone", "[events]")
{
    Bench bench;
    bench.host.wish(0, "Name=storage\n");
    bench.host.sys.node("infiniband_mad", "umad1", "mixed", 2);
    const auto node = must_find(
        find_event_target(bench.host.root, "/class/infiniband_mad/umad1", "infiniband_mad"));
    const auto text = must(handle_node_event(bench.host.context, node, naming_on));
    CHECK(has_line(text, "ID_RDMA_NAME=storage"));
    CHECK(has_line(text, "ID_RDMA_PORT=2"));
    CHECK(text.find("ID_RDMA_PORT_GUIDS") == std::string::npos);
}

TEST_CASE("without naming no event renames", "[events]")
{
    Bench bench;
    bench.host.wish(0, "Name=storage\n");
    CHECK(has_line(bench.node_event(naming_off), "ID_RDMA_NAME=mixed"));
    CHECK(has_line(bench.device_event(naming_off), "ID_RDMA_NAME=mixed"));
    CHECK(bench.host.image.list("run/rdmad/names").empty());
}

TEST_CASE("an event that renames its device tells udev so, and no more", "[events]")
{
    Bench bench;
    bench.host.wish(0, "Name=storage\n");
    CHECK(bench.device_event(naming_on) == "ID_RENAMING=1\n");
    CHECK(has_line(bench.device_event(naming_on), "ID_RDMA_NAME=storage"));
}

TEST_CASE("a device that another event renamed meanwhile is being renamed, too", "[events]")
{
    Bench bench;
    const auto device = bench.device();
    REQUIRE(bench.host.client.rename(0, "storage").has_value());
    bench.records.write(bench.id, {"mixed", "storage"});
    CHECK(must(handle_device_event(bench.host.context, device, naming_on, Load::nothing)) ==
          "ID_RENAMING=1\n");
}

TEST_CASE("only an event that is not the kernel's own decides again", "[events]")
{
    Bench bench;
    bench.records.write(bench.id, {"mixed", "mixed"});
    bench.host.wish(0, "Name=storage\n");
    CHECK(has_line(bench.device_event(naming_on), "ID_RDMA_NAME=mixed"));
    bench.host.properties["SYNTH_UUID"] = "0";
    CHECK(has_line(bench.node_event(naming_on), "ID_RDMA_NAME=mixed"));
    CHECK(bench.device_event(naming_on) == "ID_RENAMING=1\n");
}

TEST_CASE("a device that cannot be named is described all the same", "[events]")
{
    Bench bench;
    bench.host.wish(0, "Name=storage\n");
    bench.host.fail_rename(1, EPERM);
    CHECK(has_line(bench.node_event(naming_on), "ID_RDMA_NAME=mixed"));
}

TEST_CASE("an event of a device refreshes nodes that know another name of it", "[events]")
{
    Bench bench;
    bench.record_of_udev("other");
    CHECK(has_line(bench.device_event(GENERATE(naming_off, naming_on)), "ID_RDMA_INDEX=0"));
    CHECK(bench.has_refreshed());
    bench.record_of_udev("mixed");
    CHECK(has_line(bench.device_event(naming_off), "ID_RDMA_INDEX=0"));
    CHECK_FALSE(bench.has_refreshed());
}

TEST_CASE("an event of a device leaves nodes alone if its name is made of the original one",
          "[events]")
{
    Bench bench;
    REQUIRE(bench.host.client.rename(0, "hca-mixed").has_value());
    bench.records.write(bench.id, {"mixed", "hca-mixed"});
    bench.record_of_udev("hca-mixed");
    CHECK(has_line(bench.device_event(naming_off), "ID_RDMA_NAME=hca-mixed"));
    CHECK_FALSE(bench.has_refreshed());
}

TEST_CASE("after a rename, nodes that udev is processing are refreshed unless they waited for it",
          "[events]")
{
    Bench bench;
    bench.host.properties["ACTION"] = "move";
    bench.host.properties["DEVPATH_OLD"] = "/devices/virtual/infiniband/before";
    SECTION("by somebody else")
    {
        CHECK(has_line(bench.device_event(naming_off), "ID_RDMA_NAME=mixed"));
        CHECK(bench.has_refreshed());
    }
    SECTION("by somebody else, after rdmad")
    {
        bench.records.write(bench.id, {"before", "storage"});
        CHECK(has_line(bench.device_event(naming_off), "ID_RDMA_NAME=mixed"));
        CHECK(bench.has_refreshed());
    }
    SECTION("by rdmad")
    {
        bench.records.write(bench.id, {"before", "mixed"});
        CHECK(has_line(bench.device_event(naming_off), "ID_RDMA_NAME=mixed"));
        CHECK_FALSE(bench.has_refreshed());
    }
}

TEST_CASE("any event repairs a device that a swap left, where rdmad names devices", "[events]")
{
    Bench bench;
    REQUIRE(bench.host.client.rename(0, naming::temporary_name(0)).has_value());
    bench.records.write(bench.id, {"mixed", "mixed"});
    bench.host.properties["ACTION"] = "change";
    CHECK(has_line(bench.node_event(naming_off), "ID_RDMA_NAME=rdmad-swap-0"));
    CHECK(has_line(bench.node_event({.ends_swaps = true}), "ID_RDMA_NAME=mixed"));
}

TEST_CASE("a GID that the kernel is replacing is waited for", "[events]")
{
    constexpr char gid[] = "class/infiniband/mixed/ports/2/gids/0";
    constexpr char lost[] = "0000:0000:0000:0000:0000:0000:0000:0000\n";
    Bench bench;
    const auto& sys = bench.host.sys;
    sys.file("class/infiniband/mixed/ports/2/link_layer", "Ethernet\n");
    sys.file("class/infiniband/mixed/ports/2/gid_attrs/types/0", "RoCE v2\n");
    sys.file("class/net/dummy0/address", "00:02:c9:00:0a:02\n");
    sys.file(gid, lost);
    const auto come_back = [&] { sys.file(gid, "fe80:0000:0000:0000:0202:c9ff:fe00:0a02\n"); };
    const OpenHook hook("ports/2/gids/0", OpenHook::When::before, come_back, 2);
    const auto record = [&](const std::string& path, const std::string& guid) {
        bench.host.image.file("run/udev/data/" + path, "E:ID_RDMA_INDEX=0\nE:ID_RDMA_PORT_GUIDS="
                                                       "0002c90300000a01 " +
                                                           guid + "\n");
    };
    const std::string back = "ID_RDMA_PORT_GUIDS=0002c90300000a01 0202c9fffe000a02";
    SECTION("for a node")
    {
        record("c231:192", "0202c9fffe000a02");
        CHECK(has_line(bench.node_event(naming_off), back));
        CHECK(bench.host.image.exists("run/rdmad/claims/port-0202c9fffe000a02-uverbs"));
    }
    SECTION("for a device")
    {
        record("+infiniband:mixed", "0202c9fffe000a02");
        CHECK(has_line(bench.device_event(naming_off), back));
    }
    SECTION("but not while the port has it")
    {
        come_back();
        record("c231:192", "0202c9fffe000a02");
        CHECK(has_line(bench.node_event(naming_off), back));
        CHECK_FALSE(hook.has_run());
    }
    SECTION("but not if the port never had it")
    {
        record("c231:192", "0000000000000000");
        CHECK_FALSE(has_line(bench.node_event(naming_off), back));
        CHECK_FALSE(hook.has_run());
    }
    SECTION("nor if another device had it")
    {
        record("c231:192", "0202c9fffe000a02");
        bench.host.image.file("run/udev/data/c231:192",
                              "E:ID_RDMA_INDEX=1\nE:ID_RDMA_PORT_GUIDS=0202c9fffe000a02\n");
        CHECK_FALSE(has_line(bench.node_event(naming_off), back));
        CHECK_FALSE(hook.has_run());
    }
    SECTION("nor if the address would make another one")
    {
        record("c231:192", "0202c9fffe000a02");
        sys.file("class/net/dummy0/address", "00:02:c9:00:0a:03\n");
        CHECK_FALSE(has_line(bench.node_event(naming_off), back));
        CHECK_FALSE(hook.has_run());
    }
}

TEST_CASE("a device that is gone has no properties", "[events]")
{
    Bench bench;
    const auto node = bench.node();
    const auto device = bench.device();
    bench.host.remove(0);
    bench.host.sys.remove("class/infiniband/mixed");
    CHECK(must(handle_node_event(bench.host.context, node, naming_on)).empty());
    CHECK(must(handle_device_event(bench.host.context, device, naming_on, Load::nothing)).empty());
}

TEST_CASE("a removal leaves its time where rdmad asks for it", "[events]")
{
    Bench bench;
    bench.host.properties = {{"ACTION", "remove"},
                             {"SUBSYSTEM", "infiniband_verbs"},
                             {"DEVPATH", "/devices/x/infiniband_verbs/uverbs0"},
                             {"ID_RDMA_INDEX", "0"}};
    const auto& host = bench.host;
    handle_removal(host.context);
    CHECK_FALSE(host.image.exists("run/rdmad/bound"));
    host.image.directory("run/rdmad/bound/0");
    handle_removal(host.context);
    CHECK(std::stoull(host.image.target("run/rdmad/bound/0/uverbs0")) > 0);
    bench.host.properties["USEC_INITIALIZED"] = "23456789";
    handle_removal(host.context);
    CHECK(std::stoull(host.image.target("run/rdmad/bound/0/uverbs0.23456789")) > 0);
    // to ask would load ib_core
    CHECK(host.sent().empty());
}

TEST_CASE("the removal of a device takes the record of its name away", "[events]")
{
    Bench bench;
    bench.records.write({0, 1}, {"mlx5_0", "gone"});
    bench.records.write(bench.id, {"mixed", "mixed"});
    bench.host.properties = {{"ACTION", "remove"},
                             {"SUBSYSTEM", "infiniband"},
                             {"DEVPATH", "/devices/x/infiniband/gone"},
                             {"ID_RDMA_INDEX", "0"}};
    handle_removal(bench.host.context);
    CHECK_FALSE(bench.records.find({0, 1}).has_value());
    CHECK(bench.records.find(bench.id).has_value());
    CHECK(bench.host.sent().empty());
}

TEST_CASE("the removal of a device of which udev recorded nothing has others looked for",
          "[events]")
{
    Bench bench;
    bench.records.write({7, 1}, {"mlx5_0", "gone"});
    const bool is_device = GENERATE(true, false);
    bench.host.properties = {{"ACTION", "remove"},
                             {"SUBSYSTEM", is_device ? "infiniband" : "infiniband_mad"},
                             {"DEVPATH", is_device ? "/devices/x/infiniband/renamed"
                                                   : "/devices/x/infiniband_mad/umad0"}};
    handle_removal(bench.host.context);
    CHECK(bench.records.find({7, 1}).has_value() == !is_device);
}

TEST_CASE("a user is told what name a device would get", "[events]")
{
    Bench bench;
    bench.host.wish(0, "Name=opa\n");
    const auto explain = [&] { return must(explain_name(bench.host.context, bench.device())); };
    CHECK(has_line(explain(), "opa is taken: the device with index 1 keeps it."));
    bench.host.wish(1, "Name=siw\n");
    bench.host.wish(3, "Name=free\n");
    CHECK(has_line(explain(),
                   "It would be called opa, after the device with index 1 has given that up."));
    bench.host.wish(0, "Name=free\n");
    CHECK(has_line(explain(), "It would be called free."));
    CHECK(bench.host.name_of(0) == "mixed");
}
