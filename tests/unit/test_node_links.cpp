// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"
#include "tests/support/replay_transport.hpp"
#include "udev-helpers/rdma_id/node_links.hpp"

#include <cerrno>
#include <fstream>

using namespace rdmad;
using namespace rdmad::rdma_id;
using namespace rdmad::test;
using naming::LinkType;
using List = std::vector<std::string>;

namespace {

struct Bench {
    FixtureTree tree{FixtureTree::Place::memory};
    CapturedKernel kernel{"7.2"};
    nldev::Client client{kernel};
    sysfs::Directory root = tree.root();
    LinkOwners owners{client, root, {.rdmad = tree.path("rdmad")}};
};

/// Device 0 of the captures.
DeviceInfo mixed(Node node, const std::string& sysname)
{
    DeviceInfo info;
    info.node = node;
    info.sysname = sysname;
    info.device.index = 0;
    info.device.name = "mixed";
    info.device.node_guid = UINT64_C(0x0002c90300000a00);
    info.ports = {
        {.port = 1, .link_type = LinkType::infiniband, .guid = UINT64_C(0x0002c90300000a01)},
        {.port = 2,
         .link_type = LinkType::roce,
         .guid = UINT64_C(0x0002c9fffe000a02),
         .netdev = "dummy0"}};
    if (node == Node::umad || node == Node::issm)
        info.ports.pop_back();
    return info;
}

} // namespace

TEST_CASE("the device itself has no links", "[node_links]")
{
    Bench bench;
    const auto links = must(claim_links(mixed(Node::device, "mixed"), bench.owners));
    CHECK(links.paths.empty());
    CHECK(links.aliases.empty());
    CHECK_FALSE(bench.tree.exists("rdmad"));
}

TEST_CASE("a port's node is linked by the port GUID", "[node_links]")
{
    Bench bench;
    const auto links = must(claim_links(mixed(Node::umad, "umad0"), bench.owners));
    CHECK(links.paths == List{"infiniband/by-port-guid/0002c90300000a01/umad"});
    CHECK(links.aliases == List{"/rdma/0002c90300000a01/umad"});
}

TEST_CASE("a uverbs node is linked by the GUIDs of all ports", "[node_links]")
{
    Bench bench;
    const auto links = must(claim_links(mixed(Node::uverbs, "uverbs0"), bench.owners));
    CHECK(links.paths == List{"infiniband/by-port-guid/0002c90300000a01/uverbs",
                              "infiniband/by-port-guid/0002c9fffe000a02/uverbs"});
    CHECK(links.aliases == List{"/rdma/0002c90300000a01/uverbs", "/rdma/0002c9fffe000a02/uverbs"});
}

TEST_CASE("a port without a GUID gets no link by it", "[node_links]")
{
    Bench bench;
    auto info = mixed(Node::uverbs, "uverbs0");
    info.ports[0].guid.reset();
    const auto links = must(claim_links(info, bench.owners));
    CHECK(links.paths == List{"infiniband/by-port-guid/0002c9fffe000a02/uverbs"});
    CHECK(links.aliases == List{"/rdma/0002c9fffe000a02/uverbs"});
}

TEST_CASE("a RoCE port gets no links while its network device is elsewhere", "[node_links]")
{
    Bench bench;
    auto info = mixed(Node::uverbs, "uverbs0");
    info.ports[1].netdev.reset();
    const auto links = must(claim_links(info, bench.owners));
    CHECK(links.paths == List{"infiniband/by-port-guid/0002c90300000a01/uverbs"});
    CHECK(links.aliases == List{"/rdma/0002c90300000a01/uverbs"});
    // nor by the node GUID instead
    info.ports.erase(info.ports.begin());
    CHECK(must(claim_links(info, bench.owners)).paths.empty());
    // InfiniBand and OPA have none that could be
    info.ports[0].link_type = GENERATE(LinkType::infiniband, LinkType::opa);
    CHECK(must(claim_links(info, bench.owners)).paths.size() == 1);
}

TEST_CASE("on RoCE who has a link keeps it, elsewhere who came first", "[node_links]")
{
    const auto claims = claims_of(mixed(Node::uverbs, "uverbs0"));
    REQUIRE(claims.size() == 2);
    CHECK(claims[0].precedence == Precedence::lowest_index);
    CHECK(claims[1].precedence == Precedence::owner);
}

TEST_CASE("a device of whose ports none has a GUID is linked by its own", "[node_links]")
{
    Bench bench;
    auto info = mixed(Node::uverbs, "uverbs0");
    for (auto& port : info.ports)
        port.guid.reset();
    const auto links = must(claim_links(info, bench.owners));
    CHECK(links.paths == List{"infiniband/by-node-guid/0002c90300000a00/uverbs"});
    CHECK(links.aliases == List{"/rdma/node/0002c90300000a00/uverbs"});
    info.device.node_guid = 0;
    const auto none = must(claim_links(info, bench.owners));
    CHECK(none.paths.empty());
    CHECK(none.aliases.empty());
}

TEST_CASE("a device of many ports has links for the first of them", "[node_links]")
{
    Bench bench;
    auto info = mixed(Node::uverbs, "uverbs0");
    auto port = info.ports[0];
    info.ports.clear();
    for (uint32_t number = 1; number <= 2 * most_ports; number++) {
        port.port = number;
        port.guid = UINT64_C(0x0002c90300000000) + number;
        info.ports.push_back(port);
    }
    const auto links = must(claim_links(info, bench.owners));
    CHECK(links.paths.size() == most_ports);
    CHECK(links.aliases.size() == most_ports);
    CHECK(
        why_ports_lack_links(info) ==
        "RDMA device mixed has 256 ports: uverbs0 gets links and units for the first 128 of them; "
        "see LIMITS in rdmad-links(7)");
    info.ports.resize(most_ports);
    CHECK(why_ports_lack_links(info).empty());
    // a node of one port has its own, whatever its number
    info.node = Node::umad;
    info.sysname = "umad0";
    info.ports = {port};
    CHECK(must(claim_links(info, bench.owners)).paths.size() == 1);
}

TEST_CASE("a node that loses a link loses the unit with it", "[node_links]")
{
    Bench bench;
    bench.tree.rdma_device("mixed", "fe80:0000:0000:0000:0002:c903:0000:0a01");
    bench.tree.node("infiniband_mad", "issm0", "mixed", 1);
    CHECK(must(claim_links(mixed(Node::issm, "issm0"), bench.owners)).paths.size() == 1);
    auto clone = mixed(Node::issm, "issm2");
    clone.device.index = 1;
    clone.device.name = "opa";
    const auto links = must(claim_links(clone, bench.owners));
    CHECK(links.paths.empty());
    CHECK(links.aliases.empty());
}

// Mellanox/rdmamap#17: an adapter with four planes has umad0 on mlx5_0, and on smi1 umad1 to umad4
// and issm1 to issm4, one of each for a port. rdma-core pairs them by the GUID that all these ports
// have (count_ports_by_guid() in its diagnostics).
TEST_CASE("a port that is split for subnet management is no clash", "[node_links]")
{
    Bench bench;
    const auto links_of = [&](uint32_t index, Node node, uint32_t number, uint32_t port) {
        auto info = mixed(node, std::string(to_string(node)) + std::to_string(number));
        info.device.index = index;
        info.device.port_count = index == 0 ? 1 : 4;
        info.ports[0].port = port;
        if (index == 1)
            info.device.device_type = nldev::Device::smi;
        return must(claim_links(info, bench.owners)).paths;
    };
    // whatever the order of events
    const bool parent_is_first = GENERATE(true, false);
    CAPTURE(parent_is_first);
    const List parents = {"infiniband/by-port-guid/0002c90300000a01/umad"};
    if (parent_is_first)
        CHECK(links_of(0, Node::umad, 0, 1) == parents);
    for (const uint32_t port : {4U, 3U, 2U, 1U}) {
        CAPTURE(port);
        CHECK(links_of(1, Node::umad, port, port).empty());
        CHECK(links_of(1, Node::issm, port, port) ==
              (port == 1 ? List{"infiniband/by-port-guid/0002c90300000a01/issm"} : List{}));
    }
    if (!parent_is_first)
        CHECK(links_of(0, Node::umad, 0, 1) == parents);
    CHECK_FALSE(bench.tree.exists("rdmad/contested"));
}

TEST_CASE("aliases that other rules gave a node stay", "[node_links]")
{
    NodeLinks links = {.aliases = {"/ours", "/ours-too"}};
    keep_foreign_aliases(links, "");
    CHECK(links.aliases == List{"/ours", "/ours-too"});
    keep_foreign_aliases(links, "/theirs /ours  /theirs-too");
    CHECK(links.aliases == List{"/theirs", "/theirs-too", "/ours", "/ours-too"});
}

TEST_CASE("a claim that fails for the own device is an error", "[node_links]")
{
    Bench bench;
    bench.tree.directory("class/infiniband");
    bench.tree.link("rdmad/claims/port-0002c90300000a01-umad", "0 2 umad1");
    bench.kernel.fail_next_send(EPERM);
    CHECK(error_of(claim_links(mixed(Node::umad, "umad0"), bench.owners)) == EPERM);
}

TEST_CASE("what a node claimed is in its properties", "[node_links]")
{
    const auto past = [](Node node, const std::string& guid, const std::string& guids) {
        return read_past_links(node, "node0",
                               [&](const std::string& key) -> std::optional<std::string> {
                                   return key == "ID_RDMA_INDEX"        ? "4"
                                          : key == "ID_RDMA_PORT_GUID"  ? guid
                                          : key == "ID_RDMA_PORT_GUIDS" ? guids
                                          : key == "ID_RDMA_NODE_GUID"  ? "0002c90300000a00"
                                                                        : "";
                               });
    };
    const auto umad = past(Node::umad, "0002c90300000a01", "").value();
    CHECK(umad.index == 4);
    CHECK(umad.node == Node::umad);
    CHECK(umad.sysname == "node0");
    CHECK(umad.port_guids == std::vector{UINT64_C(0x0002c90300000a01)});
    CHECK_FALSE(umad.node_guid.has_value());
    const auto uverbs =
        past(Node::uverbs, "", "0002c90300000a01 0000000000000000 0002c90300000a03").value();
    CHECK(uverbs.port_guids ==
          std::vector{UINT64_C(0x0002c90300000a01), UINT64_C(0x0002c90300000a03)});
    CHECK(uverbs.node_guid == UINT64_C(0x0002c90300000a00));
    CHECK(past(Node::device, "rubbish", "-1 x").value().port_guids.empty());
    CHECK_FALSE(
        read_past_links(Node::umad, "umad0", [](const auto&) { return std::nullopt; }).has_value());
}

namespace {

/// A node of device 0 whose GUIDs change between its events.
struct ChangingNode {
    Bench bench;
    DeviceInfo info;

    explicit ChangingNode(Node node, const std::string& sysname) : info(mixed(node, sysname))
    {
        bench.tree.file(class_path(node, sysname) + "/dev", "231:1\n");
        bench.tree.file(uevent(), "");
        bench.tree.directory("udev/data");
    }
    /// An event, after which udev records what it told.
    NodeLinks event()
    {
        auto links = must(claim_links(info, bench.owners));
        release_past_links(bench.root, info, bench.owners, bench.tree.path("udev"));
        std::ofstream record(bench.tree.path("udev/data/c231:1"));
        for (const auto& [key, value] : properties(info, links))
            record << "E:" << key << "=" << value << "\n";
        return links;
    }
    [[nodiscard]] List claims() const
    {
        return bench.tree.list("rdmad/claims");
    }
    [[nodiscard]] std::string uevent() const
    {
        return class_path(info.node, info.sysname) + "/uevent";
    }
    /// Whether the node is to have another event.
    bool is_triggered()
    {
        const bool is_triggered = bench.tree.read(uevent()) == "change";
        bench.tree.file(uevent(), "");
        return is_triggered;
    }
};

} // namespace

TEST_CASE("a port that gets another GUID releases the one that it had", "[node_links]")
{
    ChangingNode node(Node::umad, "umad0");
    node.event();
    CHECK(node.claims() == List{"port-0002c90300000a01-umad"});
    CHECK_FALSE(node.is_triggered());
    node.info.ports[0].guid = 0xb;
    node.event();
    CHECK(node.claims() == List{"port-000000000000000b-umad"});
    CHECK(node.is_triggered());
    SECTION("or none")
    {
        node.info.ports[0].guid.reset();
        node.event();
        CHECK(node.claims().empty());
    }
    SECTION("and keeps it over further events")
    {
        node.event();
        CHECK(node.claims() == List{"port-000000000000000b-umad"});
        CHECK_FALSE(node.is_triggered());
    }
    SECTION("as a node of another device by now")
    {
        node.info.device.index = 1;
        node.info.ports[0].guid = 0xc;
        node.event();
        CHECK(node.claims() == List{"port-000000000000000c-umad"});
    }
}

TEST_CASE("a device whose ports get GUIDs releases its own, and the other way round",
          "[node_links]")
{
    ChangingNode node(Node::uverbs, "uverbs0");
    const List by_port = {"port-0002c90300000a01-uverbs", "port-0002c9fffe000a02-uverbs"};
    auto with_guids = node.info;
    for (auto& port : node.info.ports)
        port.guid.reset();
    auto without = node.info;
    for (int turn = 0; turn < 2; turn++) {
        node.info = without;
        node.event();
        CHECK(node.claims() == List{"node-0002c90300000a00-uverbs"});
        node.info = with_guids;
        node.event();
        CHECK(node.claims() == by_port);
    }
    // ports that swap keep both
    std::swap(node.info.ports[0].guid, node.info.ports[1].guid);
    node.event();
    CHECK(node.claims() == by_port);
}

TEST_CASE("a RoCE port whose network device goes elsewhere releases its claim", "[node_links]")
{
    ChangingNode node(Node::uverbs, "uverbs0");
    CHECK(node.event().paths.size() == 2);
    node.info.ports[1].netdev.reset();
    for (int turn = 0; turn < 2; turn++) {
        CHECK(node.event().paths.size() == 1);
        CHECK(node.claims() == List{"port-0002c90300000a01-uverbs"});
        CHECK(node.is_triggered() == (turn == 0));
    }
}

TEST_CASE("an event that changes nothing takes no lock", "[node_links]")
{
    ChangingNode node(Node::uverbs, "uverbs0");
    node.event();
    node.event();
    CHECK_FALSE(node.bench.tree.exists("rdmad/lock"));
    CHECK(node.bench.kernel.sent().empty());
}

TEST_CASE("records do not grow however often a GUID changes", "[node_links]")
{
    ChangingNode node(Node::umad, "umad0");
    for (uint64_t turn = 1; turn <= 10000; turn++) {
        node.info.ports[0].guid = turn;
        (void)node.event();
    }
    CHECK(node.claims() == List{"port-0000000000002710-umad"});
    CHECK(node.bench.tree.list("rdmad/contested").empty());
}
