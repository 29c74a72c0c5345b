// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/inventory/inventory.hpp"
#include "tests/support/captured_sysfs.hpp"
#include "tests/support/must.hpp"
#include "tests/support/replay_transport.hpp"
#include "tests/support/sample_device.hpp"

#include <cerrno>

using namespace rdmad;
using namespace rdmad::test;
using Kind = DeviceChange::Kind;

namespace {

struct Change {
    Kind kind;
    Device device;
    std::string old_name;
    uint32_t port;
};

NodeRef node(const std::string& sysname)
{
    return {sysname, "/sys/devices/virtual/" + sysname};
}

UdevEvent event(const std::string& action, const std::string& sysname,
                std::optional<uint32_t> index, std::optional<uint32_t> port = {})
{
    const bool is_uverbs = sysname.starts_with("uverbs");
    return {.action = action,
            .subsystem = is_uverbs ? "infiniband_verbs" : "infiniband_mad",
            .node = node(sysname),
            .index = index,
            .port = port,
            .path = index ? "pci-0000:0" + std::to_string(*index) + ":00.0" : ""};
}

/// As udev has recorded it.
UdevEvent recorded(UdevEvent event, const std::string& port_guids, const std::string& netdev = "")
{
    event.port_guids = port_guids;
    event.netdevs = netdev;
    return event;
}

UdevEvent of_device(const std::string& action, const std::string& name, uint32_t index)
{
    return {.action = action, .subsystem = "infiniband", .node = node(name), .index = index};
}

/// The devices 0 mixed, 1 opa and 3 siw of a capture.
struct Bench {
    FixtureTree tree;
    CapturedKernel kernel;
    nldev::Client client{kernel};
    sysfs::Directory root = tree.root();
    std::vector<Change> changes;
    Inventory inventory{
        client, root, [this](const DeviceChange& change) {
            changes.push_back({change.kind, change.device, change.old_name, change.port});
        }};

    explicit Bench(const std::string& version = "7.2") : kernel(version)
    {
        add_captured_devices(tree);
        tree.directory("class/infiniband_verbs");
    }
    /// The changes that an event brought.
    std::vector<Change> after(const UdevEvent& event)
    {
        changes.clear();
        inventory.handle(event);
        return changes;
    }
    Change only_after(const UdevEvent& event)
    {
        const auto all = after(event);
        REQUIRE(all.size() == 1);
        return all[0];
    }
    void rename(uint32_t index, const std::string& from, const std::string& to)
    {
        must(client.rename(index, to));
        tree.rename("class/infiniband/" + from, "class/infiniband/" + to);
    }
    [[nodiscard]] const Device& device(uint32_t index) const
    {
        return inventory.devices().at(index);
    }
    /// All nodes of device 0, and the one of device 1.
    void add_all()
    {
        for (const auto& one : all_nodes())
            inventory.handle(one);
        changes.clear();
    }
    [[nodiscard]] static std::vector<UdevEvent> all_nodes()
    {
        return {event("", "uverbs0", 0), event("", "umad0", 0, 1), event("", "issm0", 0, 1),
                event("", "uverbs1", 1)};
    }
};

} // namespace

TEST_CASE("the first event of a device adds it, as the kernel and sysfs have it", "[inventory]")
{
    Bench bench(GENERATE(from_range(kernels())));
    const auto dummy0 = must_find(bench.client.port(0, 2)).netdev_index.value();
    const auto change = bench.only_after(event("add", "uverbs0", 0));
    CHECK(change.kind == Kind::added);
    CHECK(change.device == Device{.index = 0,
                                  .name = "mixed",
                                  .driver = "rdma_rxe", // as which rdma_mock passes itself off
                                  .path = "pci-0000:00:00.0",
                                  .node_guid = 0x0002c90300000a00,
                                  .sys_image_guid = 0x0002c90300000a00,
                                  .node_type = "ca",
                                  .protocol = "ib",
                                  .firmware = "1.2.3",
                                  .uverbs = node("uverbs0"),
                                  .ports = {{.number = 1,
                                             .link_type = naming::LinkType::infiniband,
                                             .guid = 0x0002c90300000a01,
                                             .has_guid = true,
                                             .state = "active"},
                                            {.number = 2,
                                             .link_type = naming::LinkType::roce,
                                             .guid = 0x0002c9fffe000a02,
                                             .has_guid = true,
                                             .state = "active",
                                             .has_address = false,
                                             .netdev = "dummy0",
                                             .netdev_index = dummy0}}});
    CHECK(bench.device(0) == change.device);
}

TEST_CASE("nodes of ports come to their ports", "[inventory]")
{
    Bench bench;
    bench.inventory.handle(event("add", "uverbs0", 0));
    for (const auto& [name, port] : {std::pair{"umad0", 1U}, {"umad1", 2U}, {"issm0", 1U}}) {
        const auto change = bench.only_after(event("add", name, 0, port));
        CHECK(change.kind == Kind::port);
        CHECK(change.port == port);
    }
    const auto& device = bench.device(0);
    CHECK(device.uverbs == node("uverbs0"));
    CHECK(device.ports[0].umad == node("umad0"));
    CHECK(device.ports[0].issm == node("issm0"));
    CHECK(device.ports[1].umad == node("umad1"));
    CHECK_FALSE(device.ports[1].issm.has_value());
}

TEST_CASE("a device is there without nodes, and its node changes it", "[inventory]")
{
    Bench bench;
    CHECK(bench.only_after(of_device("add", "opa", 1)).kind == Kind::added);
    CHECK_FALSE(bench.device(1).uverbs.has_value());
    CHECK(bench.only_after(event("add", "uverbs1", 1)).kind == Kind::other);
    CHECK(bench.device(1).uverbs == node("uverbs1"));
}

TEST_CASE("an event that changes nothing is not told", "[inventory]")
{
    Bench bench;
    bench.add_all();
    for (const auto& one : Bench::all_nodes())
        CHECK(bench.after(one).empty());
    bench.inventory.handle(of_device("add", "mixed", 0));
    CHECK(bench.after(of_device("change", "mixed", 0)).empty());
}

TEST_CASE("a device has its name when udev has processed it and does not rename it", "[inventory]")
{
    Bench bench;
    bench.inventory.handle(event("add", "uverbs0", 0));
    CHECK_FALSE(bench.device(0).is_named);
    auto first = of_device("add", "mixed", 0);
    first.is_renaming = true;
    CHECK(bench.after(first).empty());
    CHECK_FALSE(bench.device(0).is_named);
    CHECK(bench.only_after(of_device("move", "mixed", 0)).kind == Kind::other);
    CHECK(bench.device(0).is_named);
}

TEST_CASE("an event without an index is none", "[inventory]")
{
    Bench bench;
    CHECK(bench.after(event("add", "uverbs0", {})).empty());
    CHECK(bench.after(event("remove", "uverbs0", {})).empty());
    CHECK(bench.inventory.devices().empty());
    CHECK(bench.kernel.sent().empty());
}

TEST_CASE("a device that the kernel does not know is none", "[inventory]")
{
    Bench bench;
    CHECK(bench.after(event("add", "uverbs0", 99)).empty());
    CHECK(bench.inventory.devices().empty());
    CHECK_FALSE(bench.inventory.take_error().has_value());
}

TEST_CASE("a node goes, and its device stays", "[inventory]")
{
    Bench bench;
    bench.add_all();
    // whether the event has an index is udev's matter
    const auto index = GENERATE(std::optional<uint32_t>(), std::optional<uint32_t>(0));
    const auto umad = bench.only_after(event("remove", "umad0", index, 1));
    CHECK(umad.kind == Kind::port);
    CHECK(umad.port == 1);
    CHECK_FALSE(bench.device(0).ports[0].umad.has_value());
    CHECK(bench.device(0).ports[0].issm == node("issm0"));
    bench.tree.remove("class/infiniband_verbs");
    const auto uverbs = bench.only_after(event("remove", "uverbs0", index));
    CHECK(uverbs.kind == Kind::other);
    CHECK_FALSE(bench.device(0).uverbs.has_value());
    // which only ib_uverbs tells of such a device
    CHECK(bench.device(0).driver == "rdma_rxe");
    CHECK(bench.device(1).uverbs == node("uverbs1"));
    CHECK(bench.only_after(event("remove", "issm0", index, 1)).port == 1);
    CHECK_FALSE(bench.device(0).ports[0].issm.has_value());
    // and come back
    bench.add_all();
    CHECK(bench.device(0).uverbs == node("uverbs0"));
    CHECK(bench.device(0).ports[0].umad == node("umad0"));
}

TEST_CASE("a device is gone when the kernel says so", "[inventory]")
{
    Bench bench;
    bench.add_all();
    const auto before = bench.device(0);
    bench.kernel.remove(0);
    const auto change = bench.only_after(of_device("remove", "mixed", 0));
    CHECK(change.kind == Kind::removed);
    CHECK(change.device == before);
    CHECK(bench.inventory.devices().size() == 1);
    // what udev has still to say of it changes nothing
    CHECK(bench.after(event("remove", "umad0", 0, 1)).empty());
    CHECK(bench.after(event("change", "uverbs0", 0)).empty());
}

TEST_CASE("a node that is made anew is another one, by the same name", "[inventory]")
{
    Bench bench;
    const auto made_at = [](uint64_t born, const std::string& action) {
        auto one = event(action, "uverbs0", 0);
        one.node.born = born;
        return one;
    };
    bench.after(made_at(500, "add"));
    CHECK(bench.after(made_at(500, "change")).empty());
    CHECK(bench.inventory.has_node({0, "uverbs0", 500}));
    CHECK(bench.inventory.has_node({0, "uverbs0"}));
    // udev has forgotten it meanwhile
    CHECK(bench.after(made_at(900, "change")).empty());
    CHECK(bench.inventory.has_node({0, "uverbs0", 500}));
    bench.after(made_at(900, "remove"));
    CHECK_FALSE(bench.inventory.has_node({0, "uverbs0"}));
    bench.after(made_at(1000, "add"));
    // a look fails after events were lost: what it found in udev's database counts with the next
    bench.kernel.refuse_port(0, 1);
    CHECK_FALSE(bench.inventory.resync({made_at(1200, "")}));
    bench.kernel.allow_ports();
    CHECK(bench.only_after(made_at(1200, "change")).kind == Kind::other);
    CHECK(bench.inventory.has_node({0, "uverbs0", 1200}));
    // events were lost, and come late
    bench.changes.clear();
    must(bench.inventory.resync({made_at(1500, "")}));
    REQUIRE(bench.changes.size() == 1);
    CHECK(bench.changes[0].kind == Kind::other);
    CHECK_FALSE(bench.inventory.has_node({0, "uverbs0", 1200}));
    CHECK(bench.after(made_at(1200, "change")).empty());
    CHECK(bench.after(made_at(1200, "remove")).empty());
    CHECK(bench.inventory.has_node({0, "uverbs0", 1500}));
    bench.after(made_at(1500, "remove"));
    CHECK_FALSE(bench.inventory.has_node({0, "uverbs0"}));
}

TEST_CASE("a device that the kernel removes is gone, though it still answers", "[inventory]")
{
    Bench bench;
    bench.add_all();
    bench.kernel.leave(0);
    // before a node goes, nobody asks
    CHECK(bench.after(event("change", "uverbs0", 0)).empty());
    const auto changes = bench.after(event("remove", "uverbs0", 0));
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].kind == Kind::other);
    CHECK(changes[1].kind == Kind::removed);
    // nor does what is still to be said bring it back
    CHECK(bench.after(event("remove", "umad0", 0, 1)).empty());
    CHECK(bench.after(event("change", "umad1", 0, 2)).empty());
    bench.kernel.remove(0);
    CHECK(bench.after(of_device("remove", "mixed", 0)).empty());
    CHECK(bench.inventory.devices().size() == 1);
}

TEST_CASE("a device may be gone before its nodes are", "[inventory]")
{
    Bench bench;
    bench.add_all();
    bench.kernel.remove(0);
    const auto changes = bench.after(event("remove", "umad0", 0, 1));
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].kind == Kind::port);
    CHECK(changes[1].kind == Kind::removed);
}

TEST_CASE("a rename is told with the old name", "[inventory]")
{
    Bench bench;
    bench.add_all();
    bench.rename(1, "opa", "fabric");
    const auto change = bench.only_after(of_device("move", "fabric", 1));
    CHECK(change.kind == Kind::renamed);
    CHECK(change.device.name == "fabric");
    CHECK(change.old_name == "opa");
    CHECK(bench.device(1).uverbs == node("uverbs1"));
}

TEST_CASE("what else changed with a rename is told, too", "[inventory]")
{
    Bench bench;
    bench.add_all();
    bench.rename(1, "opa", "fabric");
    bench.tree.rdma_device("fabric", "fe80:0000:0000:0000:0011:7501:0100:0002");
    const auto changes = bench.after(of_device("move", "fabric", 1));
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].kind == Kind::renamed);
    CHECK(changes[1].kind == Kind::port);
    CHECK(changes[1].old_name.empty());
}

TEST_CASE("a port that changed is told by its number", "[inventory]")
{
    Bench bench;
    bench.add_all();
    bench.tree.rdma_device("mixed", "fe80:0000:0000:0000:0002:c903:0000:0b01");
    bench.tree.file("class/infiniband/mixed/ports/2/gids/0",
                    "fe80:0000:0000:0000:0002:c9ff:fe00:0b02\n");
    CHECK(bench.inventory.refresh(0));
    REQUIRE(bench.changes.size() == 2);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK(bench.changes[i].kind == Kind::port);
        CHECK(bench.changes[i].port == i + 1);
        // each tells of the device as it is now
        CHECK(bench.changes[i].device == bench.device(0));
    }
    CHECK(bench.device(0).ports[0].guid == UINT64_C(0x0002c90300000b01));
}

TEST_CASE("a change of a network device concerns the port that it is of", "[inventory]")
{
    Bench bench;
    bench.add_all();
    const auto index = bench.device(0).ports[1].netdev_index;
    const auto other = index + 100;
    CHECK(bench.inventory.is_concerned("dummy0", index));
    CHECK_FALSE(bench.inventory.is_concerned("eth0", other));
    bench.tree.link("class/net/dummy0.7/lower_dummy0", "../dummy0");
    CHECK(bench.inventory.is_concerned("dummy0.7", other));
    // renamed: the port has the name of before until it is looked at
    CHECK(bench.inventory.is_concerned("lan0", index));
    CHECK_FALSE(bench.inventory.lacks_netdev());
    // IPoIB
    bench.tree.file("class/net/ib0/type", "32\n");
    CHECK(bench.inventory.is_concerned("ib0", other));
}

TEST_CASE("a RoCE port is ready once it has an address", "[inventory]")
{
    Bench bench;
    bench.add_all();
    const auto& ports = bench.device(0).ports;
    CHECK(ports[0].is_ready()); // InfiniBand needs none
    CHECK_FALSE(ports[1].is_ready());
    bench.tree.file("class/infiniband/mixed/ports/2/gids/1",
                    "0000:0000:0000:0000:0000:ffff:0a00:0001\n");
    CHECK(bench.inventory.refresh(0));
    REQUIRE(bench.changes.size() == 1);
    CHECK(bench.changes[0].port == 2);
    CHECK(bench.device(0).ports[1].is_ready());
}

using Outdated = std::map<uint32_t, std::set<std::string>>;

namespace {

constexpr uint64_t roce_guid = 0x0002c9fffe000a02;
constexpr char roce_gid[] = "class/infiniband/mixed/ports/2/gids/0";
constexpr char all_guids[] = "0002c90300000a01 0002c9fffe000a02";
constexpr char all_netdevs[] = "- dummy0";

/// Device 0, as its nodes' first events found it.
struct RecordedBench : Bench {
    RecordedBench()
    {
        inventory.handle(recorded(event("add", "uverbs0", 0), all_guids, all_netdevs));
        inventory.handle(recorded(event("add", "umad0", 0, 1), "0002c90300000a01"));
        inventory.handle(recorded(event("add", "umad1", 0, 2), "0002c9fffe000a02", "dummy0"));
        inventory.handle(recorded(of_device("add", "mixed", 0), all_guids, all_netdevs));
        REQUIRE(inventory.outdated().empty());
    }
    void change_guid(const std::string& gid)
    {
        tree.file(roce_gid, gid + "\n");
        must(inventory.refresh(0));
    }
};

} // namespace

TEST_CASE("udev's record of a node is outdated if the port GUID is another since", "[inventory]")
{
    RecordedBench bench;
    bench.change_guid("fe80:0000:0000:0000:0002:c9ff:fe00:0b02");
    CHECK(bench.inventory.outdated() == Outdated{{0, {"mixed", "umad1", "uverbs0"}}});
    constexpr char new_guids[] = "0002c90300000a01 0002c9fffe000b02";
    bench.inventory.handle(recorded(event("change", "uverbs0", 0), new_guids, all_netdevs));
    CHECK(bench.inventory.outdated() == Outdated{{0, {"mixed", "umad1"}}});
    bench.inventory.handle(recorded(event("change", "umad1", 0, 2), "0002c9fffe000b02", "dummy0"));
    CHECK(bench.inventory.outdated() == Outdated{{0, {"mixed"}}});
    bench.inventory.handle(recorded(of_device("change", "mixed", 0), new_guids, all_netdevs));
    CHECK(bench.inventory.outdated().empty());
}

TEST_CASE("a port without a GUID or network device of now is told with the last one", "[inventory]")
{
    RecordedBench bench;
    const auto before = bench.device(0).ports[1];
    bench.change_guid("0000:0000:0000:0000:0000:0000:0000:0000");
    auto kept = before;
    kept.has_guid = false;
    CHECK(bench.device(0).ports[1] == kept);
    CHECK(bench.inventory.lacks_netdev());
    // the kernel does not tell of it any more, either
    bench.kernel.hide_netdev(0, 2);
    must(bench.inventory.refresh(0));
    CHECK(bench.device(0).ports[1] == kept);
    CHECK(bench.inventory.outdated().empty());
    bench.change_guid("fe80:0000:0000:0000:0002:c9ff:fe00:0b02");
    CHECK(bench.device(0).ports[1].guid == before.guid);
    CHECK(bench.device(0).ports[1].netdev == "");
}

TEST_CASE("a GUID that is back makes no record outdated, nor does one that is gone", "[inventory]")
{
    RecordedBench bench;
    bench.change_guid("fe80:0000:0000:0000:0002:c9ff:fe00:0b02");
    bench.change_guid(GENERATE("fe80:0000:0000:0000:0002:c9ff:fe00:0a02",
                               "0000:0000:0000:0000:0000:0000:0000:0000"));
    CHECK(bench.inventory.outdated().empty());
}

TEST_CASE("a record that tells another network device, or no GUID, is outdated", "[inventory]")
{
    RecordedBench bench;
    const auto [sysname, guids, netdev, is_outdated] =
        GENERATE(table<std::string, std::string, std::string, bool>(
            {{"umad1", "0002c9fffe000a02", "dummy0", false},
             {"umad1", "0002c9fffe000a02", "eth0", true},
             {"umad1", "0002c9fffe000a02", "", true},
             {"umad1", "", "dummy0", true},
             {"umad0", "0002c90300000a01", "", false},
             {"umad0", "x", "", true},
             {"uverbs0", "0002c90300000a01 0000000000000000", all_netdevs, true},
             {"uverbs0", "0002c9fffe000a02 0002c90300000a01", all_netdevs, true},
             {"uverbs0", "", "", true},
             {"uverbs0", all_guids, all_netdevs, false},
             {"uverbs0", all_guids, "- -", true},
             {"uverbs0", all_guids, "", true},
             {"uverbs0", all_guids, "dummy0 -", true},
             {"uverbs0", all_guids, "- dummy1", true},
             // of more than 128 ports udev gets the first ones
             {"uverbs0", "0002c90300000a01", "", false}}));
    const auto port =
        sysname == "uverbs0" ? std::nullopt : std::optional<uint32_t>(sysname == "umad0" ? 1 : 2);
    bench.inventory.handle(recorded(event("change", sysname, 0, port), guids, netdev));
    CHECK(bench.inventory.outdated() == (is_outdated ? Outdated{{0, {sysname}}} : Outdated()));
}

TEST_CASE("a network device that went into another network namespace makes a record outdated",
          "[inventory]")
{
    RecordedBench bench;
    const bool keeps_guid = GENERATE(true, false);
    bench.kernel.hide_netdev(0, 2);
    bench.change_guid(keeps_guid ? "fe80:0000:0000:0000:0002:c9ff:fe00:0a02"
                                 : "0000:0000:0000:0000:0000:0000:0000:0000");
    const Outdated all = {{0, {"mixed", "umad1", "uverbs0"}}};
    CHECK(bench.inventory.outdated() == (keeps_guid ? all : Outdated()));
    CHECK(bench.inventory.lacks_netdev());
    bench.inventory.handle(recorded(event("change", "umad1", 0, 2), "0002c9fffe000a02"));
    bench.inventory.handle(recorded(event("change", "uverbs0", 0), all_guids, ""));
    bench.inventory.handle(recorded(of_device("change", "mixed", 0), all_guids, "- -"));
    CHECK(bench.inventory.outdated().empty());
}

TEST_CASE("a container does not choose the GUID of a port that the host knows", "[inventory]")
{
    RecordedBench bench;
    const auto before = bench.device(0).ports[1];
    bench.kernel.hide_netdev(0, 2);
    bench.change_guid("fe80:0000:0000:0000:0002:c9ff:fe00:0b02");
    CHECK(bench.device(0).ports[1].guid == before.guid);
    CHECK(bench.device(0).ports[1].is_elsewhere());
    bench.inventory.handle(recorded(event("change", "umad1", 0, 2), "0002c9fffe000b02", ""));
    CHECK(bench.inventory.outdated() == Outdated{{0, {"mixed", "uverbs0"}}});
}

TEST_CASE("a port that was always in a container has no GUID", "[inventory]")
{
    Bench bench;
    bench.kernel.hide_netdev(0, 2);
    bench.inventory.remember({{0, {roce_guid + 1}}, {1, {roce_guid}}});
    bench.add_all();
    for (int i = 0; i < 2; i++) {
        const auto& port = bench.device(0).ports[1];
        CHECK_FALSE(port.guid);
        CHECK(port.is_foreign());
        CHECK_FALSE(bench.device(0).ports[0].is_foreign());
        must(bench.inventory.refresh(0));
    }
    // it went there after udev had handled its nodes, and before rdmad was started
    bench.inventory.handle(recorded(event("change", "umad1", 0, 2), "0002c9fffe000a02", "dummy0"));
    CHECK(bench.inventory.outdated().at(0).contains("umad1"));
    bench.inventory.handle(recorded(event("change", "umad1", 0, 2), "0002c9fffe000a02", "-"));
    CHECK_FALSE(bench.inventory.outdated().at(0).contains("umad1"));
    CHECK(bench.inventory.lacks_netdev());
    bench.kernel.show_netdev(0, 2);
    must(bench.inventory.refresh(0));
    CHECK(bench.device(0).ports[1].guid == roce_guid);
    CHECK(bench.inventory.outdated().at(0).contains("umad1"));
}

TEST_CASE("a port in a container keeps the GUID that an earlier rdmad knew", "[inventory]")
{
    Bench bench;
    bench.kernel.hide_netdev(0, 2);
    bench.inventory.remember({{0, {roce_guid}}});
    bench.add_all();
    CHECK(bench.device(0).ports[1].guid == roce_guid);
    SECTION("as long as the device is there")
    {
        bench.tree.file(roce_gid, "fe80:0000:0000:0000:0002:c9ff:fe00:0b02\n");
        must(bench.inventory.refresh(0));
        CHECK(bench.device(0).ports[1].guid == roce_guid);
    }
    SECTION("not of another device that has its index now")
    {
        bench.kernel.remove(0);
        must(bench.inventory.refresh(0));
        bench.kernel.put_back(0);
        bench.add_all();
        CHECK(bench.device(0).ports[1].is_foreign());
    }
}

TEST_CASE("what is gone or being renamed is not outdated", "[inventory]")
{
    RecordedBench bench;
    bench.change_guid("fe80:0000:0000:0000:0002:c9ff:fe00:0b02");
    bench.inventory.handle(event("remove", "umad1", GENERATE(std::optional<uint32_t>(), 0U), 2));
    CHECK(bench.inventory.outdated() == Outdated{{0, {"mixed", "uverbs0"}}});
    // which says nothing of the ports; and the record of the old name is gone after it
    auto renaming = of_device("add", "mixed", 0);
    renaming.is_renaming = true;
    bench.inventory.handle(renaming);
    CHECK(bench.inventory.outdated() == Outdated{{0, {"mixed", "uverbs0"}}});
    bench.inventory.handle(
        recorded(of_device("move", "other", 0), "0002c90300000a01 0002c9fffe000b02", all_netdevs));
    CHECK(bench.inventory.outdated() == Outdated{{0, {"uverbs0"}}});
    SECTION("after losses")
    {
        must(bench.inventory.resync({recorded(event("", "uverbs0", 0), all_guids, all_netdevs)}));
        CHECK(bench.inventory.outdated() == Outdated{{0, {"uverbs0"}}});
        must(bench.inventory.resync({}));
        CHECK(bench.inventory.outdated().empty());
    }
    SECTION("with its device")
    {
        bench.kernel.remove(0);
        CHECK(bench.inventory.refresh(0));
        CHECK(bench.inventory.outdated().empty());
    }
}

TEST_CASE("a device that is back before udev told of its end went before", "[inventory]")
{
    Bench bench;
    bench.add_all();
    bench.kernel.return_as(1, 7);
    const auto changes = bench.after(event("add", "uverbs7", 7));
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].kind == Kind::removed);
    CHECK(changes[0].device.index == 1);
    CHECK(changes[1].kind == Kind::added);
    CHECK(changes[1].device.index == 7);
    CHECK(bench.inventory.devices().contains(0));
}

TEST_CASE("two devices that call themselves the same are two", "[inventory]")
{
    Bench bench;
    bench.add_all();
    bench.kernel.copy(1, 7);
    const auto change = bench.only_after(event("add", "uverbs7", 7));
    CHECK(change.kind == Kind::added);
    CHECK(bench.inventory.devices().contains(1));
}

TEST_CASE("the number of a node may be another device's next", "[inventory]")
{
    Bench bench;
    bench.add_all();
    // the event of its removal is still to come, or was lost
    const auto changes = bench.after(event("add", "uverbs0", 3));
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].kind == Kind::other);
    CHECK(changes[0].device.index == 0);
    CHECK_FALSE(bench.device(0).uverbs.has_value());
    CHECK(changes[1].kind == Kind::added);
    CHECK(bench.device(3).uverbs == node("uverbs0"));
    // a removal is that of the node, whoever it says it was of
    bench.inventory.handle(event("remove", "uverbs0", 0));
    CHECK_FALSE(bench.device(3).uverbs.has_value());
}

TEST_CASE("a device that goes does not take a node that is another's now", "[inventory]")
{
    Bench bench;
    bench.add_all();
    bench.inventory.handle(event("add", "uverbs0", 3));
    bench.kernel.remove(0);
    CHECK(bench.inventory.refresh(0));
    bench.inventory.handle(of_device("change", "siw", 3));
    CHECK(bench.device(3).uverbs == node("uverbs0"));
}

TEST_CASE("after losses all is as udev and the kernel have it", "[inventory]")
{
    Bench bench;
    bench.add_all();
    bench.kernel.remove(0);
    // umad2 of 1 came, 3 came, 0 went; a device that is being set up has no index yet
    CHECK(bench.inventory.resync({event("", "uverbs1", 1), event("", "umad2", 1, 1),
                                  of_device("", "siw", 3), event("", "uverbs3", 3),
                                  event("", "umad7", {}, 1)}));
    CHECK(bench.inventory.devices().size() == 2);
    CHECK(bench.device(1).ports[0].umad == node("umad2"));
    CHECK(bench.device(3).uverbs == node("uverbs3"));
    std::map<uint32_t, Kind> told;
    for (const auto& change : bench.changes)
        CHECK(told.emplace(change.device.index, change.kind).second);
    CHECK(told == std::map<uint32_t, Kind>{{0, Kind::removed}, {1, Kind::port}, {3, Kind::added}});
}

TEST_CASE("where there are no devices the kernel is not asked, which would load ib_core",
          "[inventory]")
{
    Bench bench;
    must(bench.inventory.resync({}));
    CHECK(bench.kernel.sent().empty());
}

TEST_CASE("after losses no device goes that the kernel has", "[inventory]")
{
    Bench bench;
    bench.add_all();
    CHECK(bench.inventory.resync({}));
    CHECK(bench.inventory.devices().size() == 2);
    // but nodes that udev does not have are gone
    CHECK_FALSE(bench.device(0).uverbs.has_value());
    CHECK_FALSE(bench.device(0).ports[0].umad.has_value());
    CHECK(bench.inventory.resync(Bench::all_nodes()));
    CHECK(bench.device(0).uverbs == node("uverbs0"));
    CHECK(bench.device(0).ports[0].issm == node("issm0"));
}

TEST_CASE("after losses that lost nothing, nothing is told", "[inventory]")
{
    Bench bench;
    bench.add_all();
    CHECK(bench.inventory.resync(Bench::all_nodes()));
    CHECK(bench.changes.empty());
}

TEST_CASE("an error of the kernel is none of the device", "[inventory]")
{
    Bench bench;
    bench.add_all();
    const auto before = bench.device(0);
    bench.kernel.fail_next_send(EPERM);
    CHECK(error_of(bench.inventory.refresh(0)) == EPERM);
    bench.kernel.fail_next_send(EPERM);
    CHECK(bench.after(of_device("change", "mixed", 0)).empty());
    CHECK(bench.device(0) == before);
    const auto error = bench.inventory.take_error();
    REQUIRE(error.has_value());
    CHECK(error->code == EPERM);
    CHECK_FALSE(bench.inventory.take_error().has_value());
}

TEST_CASE("a device is asked for again until the kernel answers", "[inventory]")
{
    Bench bench;
    bench.kernel.refuse_port(0, 1);
    CHECK(bench.after(Bench::all_nodes()[0]).empty());
    CHECK(bench.inventory.unanswered() == std::set<uint32_t>{0});
    CHECK(bench.inventory.unknown() == std::set<uint32_t>{0});
    bench.kernel.allow_ports();
    CHECK(bench.inventory.refresh(0));
    CHECK(bench.inventory.unanswered().empty());
    CHECK(bench.device(0).uverbs == node("uverbs0"));
    // one that the driver cannot tell of now stays as it was
    const auto before = bench.device(0);
    bench.kernel.refuse_port(0, 2);
    CHECK(error_of(bench.inventory.refresh(0)) == EAGAIN);
    CHECK(bench.device(0) == before);
    CHECK(bench.inventory.unanswered() == std::set<uint32_t>{0});
    CHECK(bench.inventory.unknown().empty());
    // and one that has gone answers, too
    bench.kernel.remove(0);
    CHECK(bench.inventory.refresh(0));
    CHECK(bench.inventory.unanswered().empty());
    CHECK(bench.inventory.devices().empty());
}

TEST_CASE("a port that no subnet manager has made active may become so without an event",
          "[inventory]")
{
    using naming::LinkType;
    std::map<uint32_t, Device> devices = {{1, sample_device()}, {2, sample_device()}};
    // RoCE: rtnetlink reports it
    CHECK(with_silent_port(devices).empty());
    auto& port = devices[2].ports[GENERATE(size_t{0}, size_t{1})];
    port.link_type = GENERATE(LinkType::infiniband, LinkType::opa);
    port.has_address = true;
    port.state = GENERATE("init", "");
    CHECK(with_silent_port(devices) == std::set<uint32_t>{2});
    port.state = "active";
    CHECK(with_silent_port(devices).empty());
}

TEST_CASE("of several errors the first is told", "[inventory]")
{
    Bench bench;
    for (const int code : {EPERM, ENOMEM}) {
        bench.kernel.fail_next_send(code);
        bench.inventory.handle(of_device("change", "mixed", 0));
    }
    CHECK(bench.inventory.take_error().value().code == EPERM);
}

TEST_CASE("a removal that began unseen is seen after losses", "[inventory]")
{
    Bench bench;
    bench.kernel.leave(0);
    CHECK(bench.inventory.resync(Bench::all_nodes()));
    CHECK(bench.inventory.devices().size() == 1);
    CHECK_FALSE(bench.inventory.devices().contains(0));
    // a dump that cannot be had proves nothing
    Bench other;
    other.kernel.leave(0);
    other.kernel.fail_next_send(ENOMEM);
    CHECK(error_of(other.inventory.resync(Bench::all_nodes())) == ENOMEM);
    CHECK(other.inventory.devices().size() == 2);
}

TEST_CASE("a removal that waits before anything reports it is seen when somebody looks",
          "[inventory]")
{
    Bench bench;
    bench.add_all();
    CHECK(bench.inventory.look_for_leaving());
    CHECK(bench.changes.empty());
    bench.kernel.leave(0);
    bench.kernel.fail_next_send(ENOMEM);
    CHECK(error_of(bench.inventory.look_for_leaving()) == ENOMEM);
    CHECK(bench.changes.empty());
    // the dump is sent, and the question about the device is not
    bench.kernel.fail_next_send(EPERM, 1);
    CHECK(error_of(bench.inventory.look_for_leaving()) == EPERM);
    CHECK(bench.changes.empty());
    CHECK(bench.inventory.look_for_leaving());
    REQUIRE(bench.changes.size() == 1);
    CHECK(bench.changes[0].kind == Kind::removed);
    CHECK(bench.changes[0].device.name == "mixed");
    CHECK(bench.inventory.devices().size() == 1);
}

TEST_CASE("an error of one device does not keep the others from being looked at", "[inventory]")
{
    Bench bench;
    // the dump gets there
    bench.kernel.fail_next_send(EPERM, 1);
    CHECK(error_of(bench.inventory.resync(Bench::all_nodes())) == EPERM);
    CHECK(bench.inventory.devices().size() == 1);
    CHECK(bench.device(1).uverbs == node("uverbs1"));
    // the nodes are known, and the device comes with its next event
    CHECK(bench.inventory.refresh(0));
    CHECK(bench.device(0).uverbs == node("uverbs0"));
}

TEST_CASE("a node may be one of the same device and name whose birth is not another", "[inventory]")
{
    const NodeId known{1, "uverbs1", 10};
    CHECK(known.may_be({1, "uverbs1", 10}));
    CHECK(known.may_be({1, "uverbs1", 0}));
    CHECK(NodeId{1, "uverbs1"}.may_be(known));
    CHECK_FALSE(known.may_be({1, "uverbs1", 11}));
    CHECK_FALSE(known.may_be({1, "uverbs2", 10}));
    CHECK_FALSE(known.may_be({2, "uverbs1", 10}));
}
