// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/state_link.hpp"
#include "core/nldev/uapi.hpp"
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"
#include "tests/support/open_hook.hpp"
#include "tests/support/replay_transport.hpp"
#include "udev-helpers/rdma_id/link_owners.hpp"
#include "udev-helpers/rdma_id/node_refresh.hpp"

#include <algorithm>
#include <cerrno>

using namespace rdmad;
using namespace rdmad::rdma_id;
using namespace rdmad::test;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

constexpr char gid[] = "fe80:0000:0000:0000:0002:c903:0000:0a01";
constexpr uint64_t guid = UINT64_C(0x0002c90300000a01);
constexpr char other_gid[] = "fe80:0000:0000:0000:0002:c903:0000:0b01";
constexpr uint64_t other_guid = UINT64_C(0x0002c90300000b01);

// port 1 of three devices, which all have the same GUID
const Claim by_mixed = {guid, {0, 1, Node::umad, "umad0"}};
const Claim by_opa = {guid, {1, 1, Node::umad, "umad2"}};
const Claim by_rxe = {guid, {2, 1, Node::umad, "umad3"}};

// two RoCE ports whose network devices have one MAC address
const Claim roce_of_mixed = {guid, {0, 2, Node::uverbs, "uverbs0"}, Precedence::owner};
const Claim roce_of_rxe = {guid, {2, 1, Node::uverbs, "uverbs2"}, Precedence::owner};

struct Bench {
    FixtureTree tree;
    CapturedKernel kernel{"7.2"};
    nldev::Client client{kernel};
    sysfs::Directory root = tree.root();
    LinkOwners owners{client, root, {.rdmad = tree.path("run/rdmad")}};

    Bench()
    {
        tree.directory("run");
        add("mixed", "umad0");
        add("opa", "umad2");
        add("rxe", "umad3");
    }
    void add(const std::string& device, const std::string& node) const
    {
        tree.rdma_device(device, gid);
        tree.node("infiniband_mad", node, device, 1);
    }
    bool wins(const Claim& claim)
    {
        return must(owners.take(claim));
    }
    /// The claimant's node goes, or its port has another GUID.
    void release(const Claim& claim) const
    {
        const auto& node = claim.claimant;
        owners.release({node.index, node.node, node.sysname, {claim.guid}, {}});
    }
    /// The one link that was taken, as its owner wrote it.
    [[nodiscard]] std::string owner() const
    {
        const auto names = tree.list("run/rdmad/claims");
        return names.size() == 1 ? tree.target("run/rdmad/claims/" + names[0])
                                 : std::to_string(names.size()) + " claims";
    }
    /// Those who did not get the link.
    [[nodiscard]] std::vector<std::string> losers() const
    {
        std::vector<std::string> nodes;
        for (const auto& name : tree.list("run/rdmad/contested"))
            nodes.push_back(name.substr(name.rfind('-') + 1));
        return nodes;
    }
    [[nodiscard]] bool is_triggered(const std::string& node) const
    {
        const auto subsystem = node.starts_with("uverbs") ? "infiniband_verbs/" : "infiniband_mad/";
        return tree.read("class/" + (subsystem + node) + "/uevent") == "change";
    }
};

struct RoceBench : Bench {
    RoceBench()
    {
        tree.file("class/infiniband/mixed/ports/2/gids/0", gid + "\n"s);
        tree.node("infiniband_verbs", "uverbs0", "mixed", 0);
        tree.node("infiniband_verbs", "uverbs2", "rxe", 0);
    }
};

} // namespace

TEST_CASE("the first to take a link owns it, without a question", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_opa));
    CHECK(bench.owner() == "1 1 umad2");
    CHECK(bench.kernel.sent().empty());
    CHECK(bench.losers().empty());
}

TEST_CASE("the same claimant owns it again, without a question", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_opa));
    CHECK(bench.wins(by_opa));
    CHECK(bench.owner() == "1 1 umad2");
    CHECK(bench.kernel.sent().empty());
}

TEST_CASE("claims to different links do not meet", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_mixed));
    CHECK(bench.wins({guid + 1, {1, 1, Node::umad, "umad2"}}));
    CHECK(bench.wins({guid, {1, 1, Node::issm, "issm2"}}));
    CHECK(bench.wins({guid, {1, 0, Node::uverbs, "uverbs1"}}));
    CHECK(bench.wins({guid, {2, 1, Node::uverbs, "uverbs2"}}));
    CHECK(bench.kernel.sent().empty());
}

TEST_CASE("the higher index loses, and is noted", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_mixed));
    CHECK_FALSE(bench.wins(by_opa));
    CHECK(bench.owner() == "0 1 umad0");
    CHECK(bench.losers() == std::vector<std::string>{"umad2"});
    CHECK_FALSE(bench.is_triggered("umad0"));
    CHECK_FALSE(bench.is_triggered("umad2"));
    // it stays so however often it asks
    CHECK_FALSE(bench.wins(by_opa));
    CHECK(bench.losers().size() == 1);
}

TEST_CASE("the lower index takes over, and the loser looks again", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_opa));
    CHECK(bench.wins(by_mixed));
    CHECK(bench.owner() == "0 1 umad0");
    CHECK(bench.is_triggered("umad2"));
    CHECK_FALSE(bench.is_triggered("umad0"));
    CHECK_FALSE(bench.wins(by_opa));
    CHECK(bench.losers() == std::vector<std::string>{"umad2"});
}

TEST_CASE("of one device the lower port has the link", "[link_owners]")
{
    Bench bench;
    bench.tree.file("class/infiniband/mixed/ports/2/gids/0", gid + "\n"s);
    bench.tree.node("infiniband_mad", "umad1", "mixed", 2);
    const Claim second = {guid, {0, 2, Node::umad, "umad1"}};
    CHECK(bench.wins(second));
    CHECK(bench.wins(by_mixed));
    CHECK_FALSE(bench.wins(second));
    CHECK(bench.owner() == "0 1 umad0");
}

TEST_CASE("the outcome does not depend on who comes first", "[link_owners]")
{
    std::vector<Claim> order = {by_mixed, by_opa, by_rxe};
    const auto by_index = [](const Claim& a, const Claim& b) {
        return a.claimant.index < b.claimant.index;
    };
    do {
        Bench bench;
        for (const auto& claim : order)
            (void)bench.wins(claim);
        CHECK(bench.owner() == "0 1 umad0");
    } while (std::next_permutation(order.begin(), order.end(), by_index));
}

TEST_CASE("an owner whose device has gone is replaced", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_mixed));
    bench.kernel.remove(0);
    CHECK(bench.wins(by_opa));
    CHECK(bench.owner() == "1 1 umad2");
    CHECK_FALSE(bench.is_triggered("umad0"));
}

TEST_CASE("an owner whose node has gone is replaced", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_mixed));
    bench.tree.remove("class/infiniband_mad/umad0");
    CHECK(bench.wins(by_opa));
}

TEST_CASE("an owner whose node is another device's by now is replaced", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_mixed));
    bench.tree.file("class/infiniband_mad/umad0/ibdev", "siw\n");
    CHECK(bench.wins(by_opa));
}

// since Linux 7.3 only one network namespace knows a name of one device alone
TEST_CASE("an owner whose node is that of a device of the same name elsewhere is replaced",
          "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_mixed));
    bench.tree.directory("devices/pci0000:00/0000:01:00.0");
    bench.tree.directory("devices/pci0000:00/0000:02:00.0");
    bench.tree.link("class/infiniband/mixed/device", "../../../devices/pci0000:00/0000:01:00.0");
    const bool is_beside = GENERATE(true, false);
    bench.tree.link("class/infiniband_mad/umad0/device",
                    "../../../devices/pci0000:00/0000:0"s + (is_beside ? "1" : "2") + ":00.0");
    CHECK(bench.wins(by_opa) == !is_beside);
}

TEST_CASE("an owner whose GUID has changed is replaced", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_mixed));
    bench.tree.rdma_device(
        "mixed", GENERATE(other_gid, "0000:0000:0000:0000:0000:0000:0000:0000", "rubbish"));
    CHECK(bench.wins(by_opa));
}

TEST_CASE("the owner of a device's link is believed by the node GUID", "[link_owners]")
{
    Bench bench;
    // the node GUID of device 0
    static constexpr uint64_t node_guid = UINT64_C(0x0002c90300000a00);
    bench.tree.node("infiniband_verbs", "uverbs0", "mixed", 0);
    const uint64_t claim = GENERATE(as<uint64_t>(), node_guid, node_guid + 1);
    CHECK(bench.wins({claim, {0, 0, Node::uverbs, "uverbs0"}}));
    CHECK(bench.wins({claim, {1, 0, Node::uverbs, "uverbs1"}}) == (claim != node_guid));
}

TEST_CASE("a claim that cannot be read is nobody's", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_mixed));
    const auto claim = "run/rdmad/claims/" + bench.tree.list("run/rdmad/claims").at(0);
    bench.tree.remove(claim);
    SECTION("a link to something else")
    {
        bench.tree.link(claim, GENERATE("rubbish", "0 1", "0 1 ../../x", "-1 1 umad0",
                                        "0 1 umad0 more", "/etc/passwd"));
    }
    SECTION("a file")
    {
        bench.tree.file(claim, "0 1 umad0");
    }
    CHECK(bench.wins(by_opa));
    CHECK(bench.owner() == "1 1 umad2");
    CHECK(bench.kernel.sent().empty());
}

TEST_CASE("if the kernel does not say whether the owner lives nothing changes before it goes",
          "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_opa));
    bench.kernel.fail_next_send(EIO);
    CHECK_FALSE(bench.wins(by_mixed));
    CHECK(bench.owner() == "1 1 umad2");
    CHECK_FALSE(bench.is_triggered("umad2"));
    bench.release(by_opa);
    CHECK(bench.is_triggered("umad0"));
}

TEST_CASE("if the kernel does not say whether the owner lives it is still told when one yields",
          "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_opa));
    CHECK(bench.wins(by_mixed));
    CHECK_FALSE(bench.is_triggered("umad0"));
    bench.kernel.fail_next_send(EIO);
    CHECK_FALSE(bench.wins(by_opa));
    CHECK_FALSE(bench.is_triggered("umad0"));
    CHECK_FALSE(bench.wins(by_opa));
    CHECK(bench.is_triggered("umad0"));
}

TEST_CASE("if the kernel does not tell of the own device that is an error", "[link_owners]")
{
    Bench bench;
    const Claim other_port = {guid, {1, 2, Node::umad, "umad4"}};
    CHECK(bench.wins(by_opa));
    bench.kernel.fail_next_send(EIO);
    CHECK(error_of(bench.owners.take(other_port)) == EIO);
}

TEST_CASE("a port for subnet management has no LID, and keeps its link", "[link_owners]")
{
    Bench bench;
    const Capture capture("7.2");
    auto device = capture.datagram("device 1");
    append_attribute(device, nldev::uapi::attr_dev_type, {std::byte{nldev::Device::smi}});
    auto port = capture.datagram("port 1/1");
    put_u16(port, find_attribute(port, RDMA_NLDEV_ATTR_LID) + 2, UINT16_MAX);
    CHECK(bench.wins(by_opa));
    bench.kernel.answer(device);
    bench.kernel.answer(port);
    CHECK_FALSE(bench.wins(by_rxe));
    CHECK(bench.owner() == "1 1 umad2");
}

TEST_CASE("where nothing can be recorded whoever asks has the link", "[link_owners]")
{
    Bench bench;
    bench.tree.file("run/rdmad", "not a directory");
    CHECK(bench.wins(by_opa));
    CHECK(bench.wins(by_mixed));
}

TEST_CASE("where nothing can be recorded any more the records count", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_opa));
    bench.tree.directory("run/rdmad/lock");
    CHECK_FALSE(bench.wins(by_rxe));
    CHECK(bench.losers().empty());
    CHECK(bench.wins(by_mixed));
    CHECK(bench.wins(by_opa));
    CHECK(bench.owner() == "1 1 umad2");
    CHECK_FALSE(bench.is_triggered("umad2"));
}

TEST_CASE("a link that cannot change hands in the records does so for udev", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_opa));
    bench.tree.directory("run/rdmad/claims/" + bench.tree.list("run/rdmad/claims")[0] + ".new");
    CHECK(bench.wins(by_mixed));
    CHECK_FALSE(bench.is_triggered("umad2"));
}

TEST_CASE("a reader tells who has the link and writes nothing", "[link_owners]")
{
    Bench bench;
    LinkOwners reader(bench.client, bench.root, {.rdmad = bench.tree.path("run/rdmad")}, false);
    SECTION("nobody")
    {
        CHECK(must(reader.take(by_opa)));
        CHECK_FALSE(bench.tree.exists("run/rdmad"));
    }
    SECTION("another one")
    {
        CHECK(bench.wins(by_mixed));
        CHECK(must(reader.take(by_mixed)));
        CHECK_FALSE(must(reader.take(by_opa)));
        CHECK(bench.losers().empty());
    }
    SECTION("one that has to give it up")
    {
        CHECK(bench.wins(by_opa));
        CHECK(must(reader.take(by_mixed)));
        CHECK(bench.owner() == "1 1 umad2");
        CHECK_FALSE(bench.is_triggered("umad2"));
    }
}

TEST_CASE("the loser that came first is the heir when the owner's node goes", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_mixed));
    CHECK_FALSE(bench.wins(by_opa));
    CHECK_FALSE(bench.wins(by_rxe));
    bench.release(by_mixed);
    CHECK(bench.owner() == "1 1 umad2");
    CHECK(bench.is_triggered("umad2"));
    CHECK_FALSE(bench.is_triggered("umad3"));
    CHECK(bench.wins(by_opa));
    CHECK_FALSE(bench.wins(by_rxe));
}

TEST_CASE("a loser that died with its mark left does not inherit", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_mixed));
    CHECK_FALSE(bench.wins(by_opa));
    CHECK_FALSE(bench.wins(by_rxe));
    bench.tree.remove("class/infiniband_mad/umad2");
    SECTION("the next one does")
    {
        bench.release(by_mixed);
        CHECK(bench.owner() == "2 1 umad3");
        CHECK(bench.is_triggered("umad3"));
    }
    SECTION("nobody does if there is none")
    {
        bench.tree.remove("class/infiniband_mad/umad3");
        bench.release(by_mixed);
        CHECK(bench.owner() == "0 claims");
    }
    CHECK(bench.losers().empty());
}

TEST_CASE("who took a link from a living owner looks again when that has given it up",
          "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_opa));
    CHECK(bench.wins(by_mixed));
    CHECK(bench.is_triggered("umad2"));
    CHECK_FALSE(bench.is_triggered("umad0"));
    CHECK_FALSE(bench.wins(by_opa));
    CHECK(bench.is_triggered("umad0"));
    // and that is all: no event leads to another for ever
    bench.tree.file("class/infiniband_mad/umad0/uevent", "");
    bench.tree.file("class/infiniband_mad/umad2/uevent", "");
    CHECK(bench.wins(by_mixed));
    CHECK_FALSE(bench.wins(by_opa));
    CHECK_FALSE(bench.is_triggered("umad0"));
    CHECK_FALSE(bench.is_triggered("umad2"));
}

TEST_CASE("who was to give a link up and went instead leaves no mark", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_opa));
    CHECK(bench.wins(by_mixed));
    CHECK(bench.losers() == std::vector{"umad2"s});
    bench.release(by_rxe);
    CHECK(bench.losers() == std::vector{"umad2"s});
    bench.tree.remove("class/infiniband_mad/umad2");
    bench.release(by_opa);
    CHECK(bench.owner() == "0 1 umad0");
    CHECK(bench.losers().empty());
}

TEST_CASE("the loser looks once more when the owner's device has gone", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_mixed));
    CHECK_FALSE(bench.wins(by_opa));
    bench.release(by_mixed);
    CHECK(bench.wins(by_opa));
    bench.tree.file("class/infiniband_mad/umad2/uevent", "");
    bench.owners.release({0, Node::device, "gone", {guid}, {}});
    CHECK(bench.is_triggered("umad2"));
    CHECK(bench.owner() == "1 1 umad2");
    CHECK(bench.losers().empty());
}

TEST_CASE("a device that goes gives up all links that its nodes had", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_mixed));
    CHECK(bench.wins({guid, {0, 1, Node::issm, "issm0"}}));
    CHECK(bench.wins({guid, {0, 1, Node::uverbs, "uverbs0"}}));
    CHECK(bench.wins({guid - 1, {0, 0, Node::uverbs, "uverbs0"}}));
    CHECK(bench.tree.list("run/rdmad/claims").size() == 4);
    bench.owners.release({0, Node::device, "mixed", {guid}, guid - 1});
    CHECK(bench.tree.list("run/rdmad/claims").empty());
}

TEST_CASE("a node that goes gives up its own links only", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_mixed));
    CHECK(bench.wins({guid, {0, 1, Node::uverbs, "uverbs0"}}));
    CHECK(bench.wins({guid - 1, {0, 0, Node::uverbs, "uverbs0"}}));
    bench.owners.release({0, Node::umad, "umad0", {guid}, guid - 1});
    CHECK(bench.tree.list("run/rdmad/claims").size() == 2);
    bench.owners.release({0, Node::uverbs, "uverbs0", {guid}, guid - 1});
    CHECK(bench.tree.list("run/rdmad/claims").empty());
}

TEST_CASE("a loser that goes takes nothing from the owner", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_mixed));
    CHECK_FALSE(bench.wins(by_opa));
    bench.release(by_opa);
    CHECK(bench.owner() == "0 1 umad0");
    bench.owners.release({1, Node::device, "gone", {guid}, {}});
    CHECK(bench.owner() == "0 1 umad0");
}

TEST_CASE("a release where there are no records does nothing", "[link_owners]")
{
    Bench bench;
    bench.owners.release({0, Node::device, "mixed", {guid}, guid});
    CHECK_FALSE(bench.tree.exists("run/rdmad"));
}

TEST_CASE("an owner that lives without the GUID gives the link up first", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_mixed));
    bench.tree.rdma_device("mixed", other_gid);
    CHECK(bench.wins(by_opa));
    CHECK(bench.is_triggered("umad0"));
    CHECK_FALSE(bench.is_triggered("umad2"));
    // its event tells udev, so that systemd believes the new owner
    bench.release(by_mixed);
    CHECK(bench.owner() == "1 1 umad2");
    CHECK(bench.is_triggered("umad2"));
    CHECK(bench.losers().empty());
}

TEST_CASE("a node whose ports swap their GUIDs keeps both links", "[link_owners]")
{
    Bench bench;
    bench.tree.node("infiniband_verbs", "uverbs0", "mixed", 0);
    const auto second = [&](const char* gid) {
        bench.tree.file("class/infiniband/mixed/ports/2/gids/0", gid + "\n"s);
    };
    const auto claim = [&](uint64_t guid, uint32_t port) {
        return Claim{guid, {0, port, Node::uverbs, "uverbs0"}};
    };
    second(other_gid);
    CHECK(bench.wins(claim(guid, 1)));
    CHECK(bench.wins(claim(other_guid, 2)));
    second(gid);
    bench.tree.rdma_device("mixed", other_gid);
    CHECK(bench.wins(claim(other_guid, 1)));
    CHECK(bench.wins(claim(guid, 2)));
    CHECK(bench.losers().empty());
    // two ports with one GUID make one link
    second(other_gid);
    CHECK_FALSE(bench.wins(claim(other_guid, 2)));
    CHECK(bench.losers().empty());
}

TEST_CASE("a node that gives a GUID up leaves another node of its device alone", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins({guid, {0, 2, Node::umad, "umad1"}}));
    bench.release(by_mixed);
    CHECK(bench.owner() == "0 2 umad1");
}

TEST_CASE("a loser that takes the link is none any more", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_mixed));
    CHECK_FALSE(bench.wins(by_opa));
    bench.kernel.remove(0);
    CHECK(bench.wins(by_opa));
    CHECK(bench.losers().empty());
}

TEST_CASE("on RoCE a living owner keeps its link", "[link_owners]")
{
    RoceBench bench;
    CHECK(bench.wins(roce_of_rxe));
    CHECK_FALSE(bench.wins(roce_of_mixed));
    CHECK(bench.owner() == "2 1 uverbs2");
    CHECK_FALSE(bench.is_triggered("uverbs2"));
    SECTION("until it goes")
    {
        bench.kernel.remove(2);
        CHECK(bench.wins(roce_of_mixed));
    }
    SECTION("until its network device is in another network namespace")
    {
        bench.kernel.hide_netdev(2, 1);
        CHECK(bench.wins(roce_of_mixed));
        CHECK(bench.is_triggered("uverbs2"));
        CHECK_FALSE(bench.wins(roce_of_rxe));
    }
}

TEST_CASE("a GID that the kernel is replacing costs its owner nothing", "[link_owners]")
{
    constexpr char roce_gid[] = "fe80:0000:0000:0000:0202:c9ff:fe00:0a02";
    constexpr uint64_t roce_guid = UINT64_C(0x0202c9fffe000a02);
    constexpr char gid_path[] = "class/infiniband/mixed/ports/2/gids/0";
    const Claim by_mixed_port = {roce_guid, {0, 2, Node::uverbs, "uverbs0"}, Precedence::owner};
    const Claim by_rxe_port = {roce_guid, {2, 1, Node::uverbs, "uverbs2"}, Precedence::owner};
    RoceBench bench;
    bench.tree.file(gid_path, roce_gid + "\n"s);
    CHECK(bench.wins(by_mixed_port));
    bench.tree.file(gid_path, "0000:0000:0000:0000:0000:0000:0000:0000\n");
    bench.tree.file("class/net/dummy0/address", "00:02:c9:00:0a:02\n");
    SECTION("if it returns")
    {
        const OpenHook hook(
            "ports/2/gids/0", OpenHook::When::before,
            [&] { bench.tree.file(gid_path, roce_gid + "\n"s); }, 2);
        CHECK_FALSE(bench.wins(by_rxe_port));
        CHECK(hook.has_run());
    }
    SECTION("but the link if it does not")
    {
        CHECK(bench.wins(by_rxe_port));
    }
    SECTION("but the link at once if the kernel does not tell of its port")
    {
        bench.kernel.fail_next_send(EIO, 1);
        CHECK(bench.wins(by_rxe_port));
    }
    SECTION("but the link at once if the address is another one")
    {
        bench.tree.file("class/net/dummy0/address", "00:02:c9:00:0a:03\n");
        const OpenHook hook(
            "ports/2/gids/0", OpenHook::When::before, [] {}, 1);
        CHECK(bench.wins(by_rxe_port));
        CHECK_FALSE(hook.has_run());
    }
}

TEST_CASE("links change hands though another event keeps the lock", "[link_owners]")
{
    Bench bench;
    CHECK(bench.wins(by_mixed));
    CHECK_FALSE(bench.wins(by_opa));
    const auto held = must(lock_state(bench.tree.path("run/rdmad"), "lock"));
    LinkOwners hasty(bench.client, bench.root,
                     {.rdmad = bench.tree.path("run/rdmad"), .lock_patience = 1ms});
    SECTION("when their owner goes")
    {
        CHECK(hasty.release({0, Node::umad, "umad0", {guid}, {}}));
        CHECK(bench.owner() == "1 1 umad2");
        CHECK(bench.is_triggered("umad2"));
    }
    SECTION("when the owner has gone already")
    {
        bench.kernel.remove(0);
        CHECK(must(hasty.take(by_rxe)));
        CHECK(bench.owner() == "2 1 umad3");
    }
    SECTION("and who loses one has a mark")
    {
        CHECK_FALSE(must(hasty.take(by_rxe)));
        CHECK(bench.losers() == std::vector<std::string>{"umad2", "umad3"});
    }
    SECTION("though it changes hands while the kernel tells of the owner")
    {
        const auto path = "run/rdmad/claims/" + bench.tree.list("run/rdmad/claims")[0];
        bench.tree.remove("class/infiniband_mad/umad0/ibdev");
        const OpenHook hook("class/infiniband_mad/umad0/ibdev", OpenHook::When::before,
                            [&] { replace_link("1 1 umad2", bench.tree.path(path)); });
        CHECK_FALSE(must(hasty.take(by_rxe)));
        CHECK(hook.has_run());
        CHECK(bench.owner() == "1 1 umad2");
    }
}

TEST_CASE("a loss that nobody could read is told again", "[link_owners]")
{
    Bench bench;
    bench.tree.directory("dev");
    LinkOwners owners(bench.client, bench.root,
                      {.rdmad = bench.tree.path("run/rdmad"), .log = bench.tree.path("dev/log")});
    const auto mark = [&] {
        return bench.tree.target("run/rdmad/contested/port-0002c90300000a01-umad-umad2");
    };
    CHECK(must(owners.take(by_mixed)));
    CHECK_FALSE(must(owners.take(by_opa)));
    CHECK(mark() == "1 1 umad2 untold");
    // after the initrd
    bench.tree.file("dev/log", "");
    CHECK_FALSE(must(owners.take(by_opa)));
    CHECK(mark() == "1 1 umad2");
    // told once: the mark is not written again
    bench.tree.remove("dev/log");
    CHECK_FALSE(must(owners.take(by_opa)));
    CHECK(mark() == "1 1 umad2");
    owners.release({0, Node::umad, "umad0", {guid}, {}});
    CHECK(bench.owner() == "1 1 umad2");
}

TEST_CASE("a mark is a claimant and a state", "[link_owners]")
{
    const auto state = [](std::string_view text) {
        const auto mark = parse_mark(text, Node::umad);
        return mark && mark->claimant.sysname == "umad0" ? std::optional(mark->state)
                                                         : std::nullopt;
    };
    CHECK(state("17 1 umad0") == Mark::State::told);
    CHECK(state("17 1 umad0 untold") == Mark::State::untold);
    CHECK(state("17 1 umad0 yields") == Mark::State::yields);
    const auto bad = GENERATE("", "yields", " yields", "17 1 yields umad0", "17 1 umad0 told",
                              "17 1 umad0 yields yields", "17 1 umad0 yields ", "17 1 a/b yields");
    CAPTURE(bad);
    CHECK_FALSE(parse_mark(bad, Node::umad).has_value());
}

TEST_CASE("a claimant is read back as it was written", "[link_owners]")
{
    const auto claimant = parse_claimant("17 1 umad0", Node::umad);
    REQUIRE(claimant.has_value());
    CHECK(claimant->index == 17);
    CHECK(claimant->port == 1);
    CHECK(claimant->node == Node::umad);
    CHECK(claimant->sysname == "umad0");

    const auto bad =
        GENERATE(""s, "17"s, "17 1"s, "17 1 umad0 x"s, "x 1 umad0"s, "17 x umad0"s, "-1 1 umad0"s,
                 "17 -1 umad0"s, "4294967296 1 umad0"s, "17 1 a/b"s, "17 1 .."s, "17 1 a\nb"s);
    CAPTURE(bad);
    CHECK_FALSE(parse_claimant(bad, Node::umad).has_value());
}

TEST_CASE("a trigger reaches the node's uevent attribute and nothing else", "[link_owners]")
{
    const FixtureTree tree;
    const auto root = tree.root();
    tree.node("infiniband_verbs", "uverbs0", "mixed", 0);
    trigger(root, Node::uverbs, "uverbs0");
    CHECK(tree.read("class/infiniband_verbs/uverbs0/uevent") == "change");

    trigger(root, Node::uverbs, "uverbs9");
    CHECK_FALSE(tree.exists("class/infiniband_verbs/uverbs9"));

    tree.file("victim", "");
    tree.link("class/infiniband_verbs/uverbs1/uevent", "../../../victim");
    trigger(root, Node::uverbs, "uverbs1");
    CHECK(tree.read("victim").empty());
}
