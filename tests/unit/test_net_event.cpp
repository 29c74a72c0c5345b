// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/name_records.hpp"
#include "tests/support/fake_host.hpp"
#include "tests/support/must.hpp"
#include "tests/support/open_hook.hpp"
#include "udev-helpers/rdma_id/naming/ensure_name.hpp"
#include "udev-helpers/rdma_id/net_event.hpp"
#include "udev-helpers/rdma_id/output.hpp"

#include <chrono>
#include <thread>

using namespace rdmad;
using namespace rdmad::rdma_id;
using namespace rdmad::test;

namespace {

const std::string adapter = "devices/pci0000:00/0000:02:00.0";

/// Device 0 of the captures, on an adapter that has an IPoIB device on port 2.
struct Bench {
    FakeHost host{"7.2"};
    std::string netdev = adapter + "/net/ib0";

    Bench()
    {
        host.properties["SUBSYSTEM"] = "net";
        host.sys.file(netdev + "/type", "32\n");
        host.sys.file(netdev + "/dev_port", "1\n");
        host.sys.link(netdev + "/device", "../../../0000:02:00.0");
        host.sys.link(adapter + "/infiniband", "../../../class/infiniband-of-adapter");
        host.sys.directory("class/infiniband-of-adapter/mixed");
    }
    /// Instead of the IPoIB device.
    void call_netdev(const std::string& name)
    {
        netdev = adapter + "/net/" + name;
        host.sys.file(netdev + "/type", "1\n");
        host.sys.link(netdev + "/device", "../../../0000:02:00.0");
    }
    /// The kernel changes the names that it shows one after the other.
    void rename(const std::string& from, const std::string& to)
    {
        nldev::Client other(host);
        REQUIRE(other.rename(0, to).has_value());
        host.sys.rename("class/infiniband-of-adapter/" + from, "class/infiniband-of-adapter/" + to);
    }
    /// Has udev record what the device or its uverbs node is now.
    void record(Node node)
    {
        auto info = must_find(take_snapshot(host.client, host.root, 0)).info;
        info.node = node;
        std::string text;
        for (const auto& [key, value] : properties(info, {}))
            text += "E:" + key + "=" + value + "\n";
        const bool is_device = node == Node::device;
        host.image.file(is_device ? "run/udev/data/+infiniband:mixed" : "run/udev/data/c231:192",
                        text);
    }
    Result<std::optional<RdmaOfNetdev>> find()
    {
        return find_rdma_of_ipoib(host.context, "/" + netdev);
    }
    [[nodiscard]] std::string follow()
    {
        return must(handle_net_event(host.context, "/" + netdev, true));
    }
};

} // namespace

TEST_CASE("the RDMA device of an IPoIB device is found by index, with the port", "[net_event]")
{
    Bench bench;
    const auto found = must_find(bench.find());
    CHECK(found.device.index == 0);
    CHECK(found.device.name == "mixed");
    CHECK(found.port == 2);
}

TEST_CASE("an RDMA device that is renamed meanwhile is found under its new name", "[net_event]")
{
    Bench bench;
    const auto when = GENERATE(OpenHook::When::before, OpenHook::When::after);
    const OpenHook hook("class/infiniband/mixed", when, [&] { bench.rename("mixed", "ibp2s0"); });
    const auto found = must_find(bench.find());
    REQUIRE(hook.has_run());
    CHECK(found.device.index == 0);
    CHECK(found.device.name == "ibp2s0");
    CHECK(found.port == 2);
}

TEST_CASE("a rename that the kernel takes its time for is waited for, for IPoIB", "[net_event]")
{
    Bench bench;
    // its name in the class changes first
    bench.host.sys.rename("class/infiniband/mixed", "class/infiniband/ibp2s0");
    const OpenHook hook(
        "class/infiniband/mixed", OpenHook::When::before,
        [&] {
            bench.host.sys.rename("class/infiniband/ibp2s0", "class/infiniband/mixed");
            bench.rename("mixed", "ibp2s0");
        },
        6);
    CHECK(must_find(bench.find()).device.name == "ibp2s0");
    CHECK(hook.has_run());
}

TEST_CASE("an IPoIB device whose RDMA device goes meanwhile has none", "[net_event]")
{
    Bench bench;
    const OpenHook hook("class/infiniband/mixed", OpenHook::When::before, [&] {
        bench.host.remove(0);
        bench.host.sys.remove("class/infiniband/mixed");
        bench.host.sys.remove("class/infiniband-of-adapter/mixed");
    });
    CHECK_FALSE(must(bench.find()).has_value());
    CHECK(hook.has_run());
}

TEST_CASE("an IPoIB device is called after its RDMA device, which gets its own name first",
          "[net_event]")
{
    Bench bench;
    bench.host.wish(0, "Name=fabric\nIPoIBName=yes\n");
    const OpenHook hook("class/infiniband/fabric", OpenHook::When::before, [&] {
        bench.host.sys.rename("class/infiniband-of-adapter/mixed",
                              "class/infiniband-of-adapter/fabric");
    });
    CHECK(bench.follow() == "ID_RDMA_IPOIB_NAME=ipofabricp2\n");
    CHECK(bench.host.name_of(0) == "fabric");
}

TEST_CASE("an IPoIB device whose name would not fit has none", "[net_event]")
{
    Bench bench;
    bench.host.wish(0, "Name=much-too-long\nIPoIBName=yes\n");
    CHECK(bench.follow().empty());
    CHECK(bench.host.name_of(0) == "much-too-long");
}

TEST_CASE("the kernel is asked nothing for an IPoIB device whose name no file asks for",
          "[net_event]")
{
    Bench bench;
    bench.host.wish(0, "Name=fabric\nIPoIBName=no\n");
    CHECK(bench.follow().empty());
    CHECK(bench.host.name_of(0) == "mixed");
    CHECK(bench.host.sent().empty());
}

TEST_CASE("RDMA devices that waited for a network device get another event, and no others",
          "[net_event]")
{
    Bench bench;
    bench.host.sys.file(bench.netdev + "/type", "1\n");
    bench.host.wish(0, "Name=fabric\n");
    const NameRecords records(bench.host.paths.rdmad);
    const DeviceId id{0, bench.host.inode(0)};
    bench.host.sys.file("class/infiniband/mixed/uevent", "");
    bench.record(Node::device);
    std::string triggered;
    SECTION("nothing is known of it: its own event comes") {}
    SECTION("its name is decided")
    {
        must(records.write(id, {"mixed", "mixed"}));
    }
    SECTION("it waits")
    {
        must(records.write(id, {"mixed"}));
        triggered = "add";
    }
    SECTION("it waits, and the network device is about to be renamed: another event follows")
    {
        must(records.write(id, {"mixed"}));
        bench.host.properties["ID_RENAMING"] = "1";
    }
    const auto record = records.find(id);
    CHECK(bench.follow().empty());
    CHECK(bench.host.take_trigger("infiniband/mixed") == triggered);
    CHECK(bench.host.name_of(0) == "mixed");
    // an event of each of its network devices must not wait for the lock
    if (record && record->given)
        CHECK_FALSE(bench.host.image.exists("run/rdmad/names.lock"));
}

TEST_CASE("an RDMA device that waited gets another event by its uverbs node, once", "[net_event]")
{
    Bench bench;
    bench.call_netdev("eth0");
    bench.host.wish(0, "Name=fabric\n");
    must(NameRecords(bench.host.paths.rdmad).write({0, bench.host.inode(0)}, {"mixed"}));
    const auto& sys = bench.host.sys;
    sys.file("class/infiniband/mixed/uevent", "");
    sys.node("infiniband_verbs", "uverbs0", "mixed", 0);
    sys.file("class/infiniband_verbs/uverbs0/dev", "231:192\n");
    bench.record(Node::device);
    bench.record(Node::uverbs);
    SECTION("no event of the device, which would end its unit for a moment") {}
    SECTION("its GUID has changed, too, and the record of the device has the old one")
    {
        bench.host.image.file("run/udev/data/+infiniband:mixed", "E:ID_RDMA_INDEX=0\n");
        CHECK(bench.follow().empty());
        CHECK(bench.host.take_trigger("infiniband/mixed") == "change");
        CHECK(bench.host.take_trigger("infiniband_verbs/uverbs0") == "add");
        return;
    }
    SECTION("a device beside it that cannot be found does not wake it again")
    {
        sys.directory("class/infiniband-of-adapter/zz_gone");
        std::string first;
        const OpenHook hook(
            "class/infiniband/zz_gone", OpenHook::When::before,
            [&] { first = bench.host.take_trigger("infiniband_verbs/uverbs0"); }, 1);
        CHECK(bench.follow().empty());
        CHECK(first == "add");
        CHECK(bench.host.take_trigger("infiniband_verbs/uverbs0").empty());
        return;
    }
    CHECK(bench.follow().empty());
    CHECK(bench.host.take_trigger("infiniband_verbs/uverbs0") == "add");
    CHECK(bench.host.take_trigger("infiniband/mixed").empty());
}

TEST_CASE("nodes whose records have another GUID or network device follow a network device",
          "[net_event]")
{
    Bench bench;
    const auto gives_names = GENERATE(false, true);
    bench.call_netdev("dummy0");
    const auto& sys = bench.host.sys;
    const auto& image = bench.host.image;
    sys.file(bench.netdev + "/type", "1\n");
    sys.node("infiniband_verbs", "uverbs0", "mixed", 0);
    sys.file("class/infiniband_verbs/uverbs0/dev", "231:192\n");
    sys.file("class/infiniband/mixed/uevent", "");
    sys.file("class/infiniband/mixed/ports/2/link_layer", "Ethernet\n");
    sys.file("class/infiniband/mixed/ports/2/gid_attrs/types/0", "RoCE v2\n");
    // what the kernel makes of 02:c9:02:00:0a:02
    sys.file("class/infiniband/mixed/ports/2/gids/0", "fe80:0000:0000:0000:00c9:02ff:fe00:0a02\n");
    const auto netdev = must_find(bench.host.client.port(0, 2)).netdev.value_or("");
    const auto follow = [&](const std::string& guids, const std::string& netdevs = "- dummy0",
                            const std::string& device = "mixed") {
        const auto record = "E:ID_RDMA_INDEX=0\nE:ID_RDMA_NAME=mixed\nE:ID_RDMA_DRIVER=rdma_rxe\n"
                            "E:ID_RDMA_PORT_GUIDS=" +
                            guids + "\nE:ID_RDMA_NETDEVS=" + netdevs + "\n";
        image.file("run/udev/data/c231:192", record);
        image.file("run/udev/data/+infiniband:mixed", record);
        CHECK(must(handle_net_event(bench.host.context, "/" + bench.netdev, gives_names)).empty());
        const auto triggered = bench.host.take_trigger("infiniband_verbs/uverbs0");
        CHECK(bench.host.take_trigger("infiniband/" + device) == triggered);
        return triggered;
    };
    const std::string right = "0002c90300000a01 00c902fffe000a02";
    CHECK(follow(right).empty());
    CHECK(follow("0002c90300000a01 00c902fffe000a03") == "change");
    CHECK(follow(right, "- dummy1") == "change");
    // it was in another network namespace
    CHECK(follow(right, "- -") == "change");
    SECTION("the kernel takes its time to make the GID of the new address")
    {
        sys.file("class/net/" + netdev + "/address", "02:c9:02:00:0a:09\n");
        const OpenHook hook(
            "ports/2/gids/0", OpenHook::When::before,
            [&] {
                sys.file("class/infiniband/mixed/ports/2/gids/0",
                         "fe80:0000:0000:0000:00c9:02ff:fe00:0a09\n");
            },
            5);
        CHECK(follow(right) == "change");
        CHECK(hook.has_run());
    }
    SECTION("the event of the RDMA device is being processed, and may have read the old GUID")
    {
        image.remove("run/udev/data/+infiniband:mixed");
        CHECK(must(handle_net_event(bench.host.context, "/" + bench.netdev, gives_names)).empty());
        CHECK(bench.host.take_trigger("infiniband/mixed") == "change");
    }
    SECTION("one that never follows the address is waited for a moment")
    {
        sys.file("class/net/" + netdev + "/address", "02:c9:02:00:0a:09\n");
        CHECK(follow(right).empty());
    }
    SECTION("a GID is missing")
    {
        constexpr char gid[] = "class/infiniband/mixed/ports/2/gids/0";
        const std::string without = "0002c90300000a01 0000000000000000";
        sys.file("class/net/" + netdev + "/address", "02:c9:02:00:0a:02\n");
        const auto come = [&] { sys.file(gid, "fe80:0000:0000:0000:00c9:02ff:fe00:0a02\n"); };
        sys.file(gid, "0000:0000:0000:0000:0000:0000:0000:0000\n");
        SECTION("a port that had one is waited for")
        {
            const OpenHook hook("ports/2/gids/0", OpenHook::When::before, come, 5);
            CHECK(follow(right).empty());
            CHECK(hook.has_run());
        }
        SECTION("the first one of a port is waited for a moment")
        {
            const OpenHook hook("ports/2/gids/0", OpenHook::When::before, come, 4);
            CHECK(follow(without) == "change");
            CHECK(hook.has_run());
        }
        SECTION("a port that never has one holds udev up no longer")
        {
            const OpenHook hook("ports/2/gids/0", OpenHook::When::before, come, 5);
            CHECK(follow(without).empty());
            CHECK_FALSE(hook.has_run());
        }
    }
    SECTION("that of another network device is not waited for, unless it is stacked on that")
    {
        const bool is_stacked = GENERATE(false, true);
        sys.file("class/net/" + netdev + "/address", "02:c9:02:00:0a:09\n");
        if (is_stacked)
            sys.directory("class/net/" + netdev + "/lower_eth7");
        bench.call_netdev("eth7");
        bool has_waited = false;
        const OpenHook hook(
            "ports/2/gids/0", OpenHook::When::before, [&] { has_waited = true; }, 3);
        CHECK(follow(right).empty());
        CHECK(has_waited == is_stacked);
    }
    SECTION("the RDMA device is being renamed: its name in the class changes first")
    {
        const auto inode = bench.host.inode(0);
        sys.rename("class/infiniband/mixed", "class/infiniband/roceo1");
        const OpenHook hook(
            "class/infiniband/mixed", OpenHook::When::before,
            [&] {
                sys.rename("class/infiniband/roceo1", "class/infiniband/mixed");
                bench.rename("mixed", "roceo1");
                REQUIRE(bench.host.inode(0) == inode);
            },
            6);
        CHECK(follow("0002c90300000a01 00c902fffe000a03", "- dummy0", "roceo1") == "change");
        CHECK(hook.has_run());
    }
    SECTION("one of a bond is not waited for")
    {
        sys.file("class/net/" + netdev + "/address", "02:c9:02:00:0a:09\n");
        sys.directory("class/net/" + netdev + "/master");
        bool has_waited = false;
        const OpenHook hook(
            "ports/2/gids/0", OpenHook::When::before, [&] { has_waited = true; }, 3);
        CHECK(follow(right).empty());
        CHECK_FALSE(has_waited);
    }
}

TEST_CASE("a network device waits for the event that is about to say that it waits", "[net_event]")
{
    Bench bench;
    bench.host.sys.file(bench.netdev + "/type", "1\n");
    bench.host.wish(0, "Name=fabric\n");
    bench.host.sys.file("class/infiniband/mixed/uevent", "");
    bench.record(Node::device);
    const DeviceId id{0, bench.host.inode(0)};
    auto lock = must(lock_names(bench.host.paths));
    std::thread other([&, lock = std::move(lock)]() mutable {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        NameRecords(bench.host.paths.rdmad).write(id, {"mixed"});
        lock.reset();
    });
    CHECK(bench.follow().empty());
    other.join();
    CHECK(bench.host.take_trigger("infiniband/mixed") == "add");
}
