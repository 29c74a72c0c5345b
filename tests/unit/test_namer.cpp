// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/text.hpp"
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"
#include "tests/support/replay_transport.hpp"
#include "udev-helpers/rdma_id/namer.hpp"

#include <cerrno>
#include <rdma/rdma_netlink.h>

using namespace rdmad;
using namespace rdmad::rdma_id;
using namespace rdmad::test;

namespace {

/// The devices of the captures: mixed, opa, rxe and siw have the indexes 0 to 3. Each file of
/// link.d names the device with a node GUID.
struct Bench {
    FixtureTree sys;
    FixtureTree image;
    CapturedKernel kernel{"6.1"}; // later ones tell that a user chose the names of rxe and siw
    nldev::Client client{kernel};
    sysfs::Directory root = sys.root();
    KnownNames known{image.path("run/rdmad")};
    config::Facts host;

    Bench()
    {
        image.directory("run");
        for (const auto* name : {"mixed", "opa", "rxe", "siw"})
            sys.rdma_device(name, "fe80:0000:0000:0000:0002:c903:0000:0a01");
    }
    void wish(uint32_t index, const std::string& link) const
    {
        const auto guid = text::format_guid(must_find(CapturedClient().device(index)).node_guid);
        image.file("etc/rdmad/link.d/" + std::to_string(index) + ".link",
                   "[Match]\nNodeGUID=" + guid + "\n[Link]\n" + link);
    }
    Result<bool> settle(uint32_t index, std::optional<Decision> decided = {})
    {
        const LinkFiles files(image.path());
        const DecisionInput input{root, files, host, known};
        const auto device = must_find(client.device(index));
        const Subject subject{Node::device,
                              device.name,
                              {},
                              device.name,
                              must_find(sysfs::RdmaDevice::open(root, device.name))};
        const auto identity = must_find(identify(client, root, subject, device));
        const auto decision = decided.value_or(decide_name(input, subject.device, identity));
        return Namer(client, input, Tell::all, image.path("run/rdmad")).settle(identity, decision);
    }
    /// sysfs keeps the names that the capture has.
    [[nodiscard]] Appearance appearance(uint32_t index) const
    {
        const auto first = must_find(CapturedClient().device(index)).name;
        return {index, sysfs::RdmaDevice::inode(root, first).value_or(0)};
    }
    [[nodiscard]] std::string name(uint32_t index) const
    {
        return kernel.name_of(index);
    }
    [[nodiscard]] size_t renames() const
    {
        return kernel.count(RDMA_NLDEV_CMD_SET);
    }

private:
    /// Asks the capture without leaving traces in the bench's kernel.
    struct CapturedClient {
        CapturedKernel kernel{"6.1"};
        nldev::Client client{kernel};
        Result<std::optional<nldev::Device>> device(uint32_t index)
        {
            return client.device(index);
        }
    };
};

} // namespace

TEST_CASE("a device gets its name, and what it was called before is remembered", "[namer]")
{
    Bench bench;
    bench.wish(0, "Name=storage\n");
    CHECK(must(bench.settle(0)));
    CHECK(bench.name(0) == "storage");
    const auto known = bench.known.find(bench.appearance(0));
    REQUIRE(known.has_value());
    CHECK(known->original == "mixed");
    CHECK(known->given == "storage");
}

TEST_CASE("a device that has its name, or should keep it, is left alone", "[namer]")
{
    Bench bench;
    CHECK_FALSE(must(bench.settle(0)));
    bench.wish(0, "Name=mixed\n");
    CHECK_FALSE(must(bench.settle(0)));
    CHECK(bench.renames() == 0);
}

TEST_CASE("that a device keeps its name is remembered as decided", "[namer]")
{
    Bench bench;
    REQUIRE(bench.known.remember_first(bench.appearance(0), "mixed"));
    CHECK_FALSE(must(bench.settle(0)));
    CHECK(bench.known.find(bench.appearance(0)).value().is_decided());
    CHECK(bench.known.find(bench.appearance(0)).value().given == "mixed");
}

TEST_CASE("a name that is given after it was decided otherwise is a late one", "[namer]")
{
    Bench bench;
    REQUIRE(bench.known.remember_first(bench.appearance(0), "mixed"));
    CHECK_FALSE(must(bench.settle(0)));
    bench.wish(0, "Name=storage\n");
    CHECK(must(bench.settle(0)));
    CHECK(bench.known.find(bench.appearance(0)).value().state == KnownName::State::late);
}

TEST_CASE("what waits is remembered so, and what it gets then is a late name", "[namer]")
{
    Bench bench;
    const auto appearance = bench.appearance(0);
    const Decision waits{.original = "mixed", .keeps = "it waits", .waits = true};
    SECTION("for the first time")
    {
        REQUIRE(bench.known.remember_first(appearance, "mixed"));
        CHECK_FALSE(must(bench.settle(0, waits)));
        CHECK(bench.known.find(appearance).value().given == "mixed");
    }
    SECTION("after an initrd had given it another name")
    {
        bench.known.remember(appearance, {"mlx5_0", "mixed"});
        CHECK_FALSE(must(bench.settle(0, waits)));
        CHECK(bench.known.find(appearance).value().original == "mlx5_0");
    }
    CHECK(bench.known.find(appearance).value().state == KnownName::State::waiting);
    bench.wish(0, "Name=storage\n");
    CHECK(must(bench.settle(0)));
    CHECK(bench.known.find(appearance).value().state == KnownName::State::late);
    CHECK(bench.known.find(appearance).value().given == "storage");
}

TEST_CASE("a name that another event gave meanwhile is not waited for", "[namer]")
{
    Bench bench;
    const auto appearance = bench.appearance(0);
    bench.known.remember(appearance, {"mixed", "storage", KnownName::State::late});
    CHECK_FALSE(must(bench.settle(0, Decision{.original = "mixed", .waits = true})));
    CHECK(bench.known.find(appearance).value().state == KnownName::State::late);
}

TEST_CASE("what has waited and keeps its name is decided", "[namer]")
{
    Bench bench;
    const auto appearance = bench.appearance(0);
    bench.known.remember(appearance, {"mixed", "mixed", KnownName::State::waiting});
    CHECK_FALSE(must(bench.settle(0)));
    CHECK(bench.known.find(appearance).value().state == KnownName::State::decided);
}

TEST_CASE("a temporary name does not stay, whatever is decided", "[namer]")
{
    Bench bench;
    REQUIRE(bench.client.rename(0, naming::temporary_name(0)).has_value());
    bench.sys.rename("class/infiniband/mixed", "class/infiniband/rdmad-swap-0");
    SECTION("what it was called is known")
    {
        const auto inode = sysfs::RdmaDevice::inode(bench.root, "rdmad-swap-0").value();
        bench.known.remember({0, inode}, {"mixed", "mixed"});
        CHECK(must(bench.settle(0)));
        CHECK(bench.name(0) == "mixed");
    }
    SECTION("it is not known")
    {
        bench.wish(0, "NamePolicy=kernel\n");
        CHECK(must(bench.settle(0)));
        CHECK(bench.name(0).starts_with("rdmax"));
    }
}

TEST_CASE("a name that another event gave just before is ours", "[namer]")
{
    Bench bench;
    REQUIRE(bench.known.remember_first(bench.appearance(0), "mlx5_0"));
    bench.wish(0, "Name=mixed\n");
    CHECK_FALSE(must(bench.settle(0)));
    CHECK(bench.known.find(bench.appearance(0)).value().original == "mlx5_0");
    CHECK(bench.known.find(bench.appearance(0)).value().given == "mixed");
}

TEST_CASE("a device that cannot have its name is decided upon, too", "[namer]")
{
    Bench bench;
    REQUIRE(bench.known.remember_first(bench.appearance(0), "mixed"));
    bench.wish(0, "Name=opa\n");
    CHECK_FALSE(must(bench.settle(0)));
    CHECK(bench.known.find(bench.appearance(0)).value().is_decided());
}

TEST_CASE("what is known of a device that keeps its name stays", "[namer]")
{
    Bench bench;
    bench.known.remember(bench.appearance(0), {"mlx5_0", "ibp1s0"});
    bench.wish(0, "NamePolicy=keep\n");
    CHECK_FALSE(must(bench.settle(0)));
    CHECK(bench.known.find(bench.appearance(0)).value().given == "ibp1s0");
}

TEST_CASE("a name that another device has and keeps falls to the next one", "[namer]")
{
    Bench bench;
    const Decision decision{.original = "mixed",
                            .attempts = {{"path", {.name = "opa"}},
                                         {"guid", {.name = "rxe"}},
                                         {"Name=", {.name = "free"}}}};
    CHECK(must(bench.settle(0, decision)));
    CHECK(bench.name(0) == "free");
    CHECK(bench.name(1) == "opa");
    CHECK(bench.name(2) == "rxe");
    CHECK(bench.known.find(bench.appearance(0)).value().given == "free");
}

TEST_CASE("two devices swap their names over a temporary one", "[namer]")
{
    Bench bench;
    bench.wish(0, "Name=opa\n");
    bench.wish(1, "Name=mixed\n");
    CHECK(must(bench.settle(0)));
    CHECK(bench.name(0) == "opa");
    CHECK(bench.name(1) == "mixed");
    CHECK(bench.known.find(bench.appearance(1)).value().original == "opa");
}

TEST_CASE("a ring of three devices turns round", "[namer]")
{
    Bench bench;
    bench.wish(0, "Name=opa\n");
    bench.wish(1, "Name=rxe\n");
    bench.wish(2, "Name=mixed\n");
    CHECK(must(bench.settle(0)));
    CHECK(bench.name(0) == "opa");
    CHECK(bench.name(1) == "rxe");
    CHECK(bench.name(2) == "mixed");
}

TEST_CASE("a chain moves on at its end", "[namer]")
{
    Bench bench;
    bench.wish(0, "Name=opa\n");
    bench.wish(1, "Name=rxe\n");
    bench.wish(2, "Name=free\n");
    CHECK(must(bench.settle(0)));
    CHECK(bench.name(0) == "opa");
    CHECK(bench.name(1) == "rxe");
    CHECK(bench.name(2) == "free");
}

TEST_CASE("who wants the name of a device that cannot move keeps its own", "[namer]")
{
    Bench bench;
    bench.wish(0, "Name=opa\n");
    bench.wish(1, "Name=rxe\n"); // and rxe stays
    CHECK_FALSE(must(bench.settle(0)));
    CHECK(bench.name(0) == "mixed");
    CHECK(bench.name(1) == "opa");
}

TEST_CASE("a device that went meanwhile is an error that names it", "[namer]")
{
    Bench bench;
    bench.wish(0, "Name=storage\n");
    const LinkFiles files(bench.image.path());
    const DecisionInput input{bench.root, files, bench.host, bench.known};
    Identity identity;
    identity.device = must_find(bench.client.device(0));
    bench.kernel.remove(0);
    Decision decision{.original = "mixed", .attempts = {{"Name=", {.name = "storage"}}}};
    const auto outcome = Namer(bench.client, input, Tell::all, bench.image.path("run/rdmad"))
                             .settle(identity, decision);
    REQUIRE_FALSE(outcome.has_value());
    CHECK(outcome.error().code == EINVAL);
    CHECK(outcome.error().message().find("rename mixed (index 0) to storage") == 0);
}
