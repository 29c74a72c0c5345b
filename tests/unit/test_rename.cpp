// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"
#include "tests/support/replay_transport.hpp"
#include "udev-helpers/rdma_id/rename.hpp"

#include <cerrno>

using namespace rdmad;
using namespace rdmad::rdma_id;
using namespace rdmad::test;

namespace {

constexpr char old_devpath[] = "/devices/virtual/infiniband/before";

/// Device 0 of the captures: uverbs0, and umad1 of port 2.
struct Bench {
    FixtureTree sys;
    FixtureTree run;
    CapturedKernel kernel{"7.2"};
    nldev::Client client{kernel};
    sysfs::Directory root = sys.root();
    Identity identity;

    Bench()
    {
        identity.device.index = 0;
        identity.device.name = "mixed";
        identity.ports = {{.port = 1}, {.port = 2}};
        sys.directory("class/infiniband/mixed");
        run.file("data/+infiniband:before", "E:ID_RDMA_INDEX=0\n");
        run.file("data/+infiniband:mixed", "E:ID_RDMA_INDEX=0\n");
        run.file("data/n1", "");
        for (const auto* tag : {"systemd", "seat"}) {
            run.file(std::string("tags/") + tag + "/+infiniband:before", "");
            run.file(std::string("tags/") + tag + "/+infiniband:mixed", "");
        }
    }
    void add_nodes() const
    {
        for (const auto* node : {"uverbs0", "uverbs1"})
            sys.node("infiniband_verbs", node, "mixed", 0);
        for (const auto* node : {"umad0", "umad1", "issm0", "issm1"})
            sys.node("infiniband_mad", node, "mixed", 1);
    }
    [[nodiscard]] std::string uevent(const std::string& node) const
    {
        return sys.read("class/" + node + "/uevent");
    }
    Result<void> follow(const std::string& devpath = old_devpath,
                        const std::optional<KnownName>& known = {})
    {
        forget_old_name(root, devpath, run.path());
        return follow_rename(client, root, identity, devpath, known, run.path());
    }
};

} // namespace

TEST_CASE("the nodes of a renamed device are triggered, and no others", "[rename]")
{
    Bench bench;
    bench.add_nodes();
    REQUIRE(bench.follow().has_value());
    CHECK(bench.uevent("infiniband_verbs/uverbs0") == "change");
    CHECK(bench.uevent("infiniband_mad/umad1") == "change");
    CHECK(bench.uevent("infiniband_mad/issm1") == "change");
    CHECK(bench.uevent("infiniband_verbs/uverbs1").empty());
    CHECK(bench.uevent("infiniband_mad/umad0").empty());
    CHECK(bench.uevent("infiniband_mad/issm0").empty());
}

TEST_CASE("a node whose first event is on the way is left to it if that names the device, too",
          "[rename]")
{
    Bench bench;
    bench.add_nodes();
    const auto triggers = [&](const KnownName& known) {
        REQUIRE(bench.follow(old_devpath, known).has_value());
        return !bench.uevent("infiniband_verbs/uverbs0").empty();
    };
    CHECK_FALSE(triggers({"before", "mixed"}));
    SECTION("after it had been decided otherwise")
    {
        CHECK(triggers({"before", "mixed", KnownName::State::late}));
    }
    // renamed by somebody else: from our name, to another one, or back
    SECTION("from another name")
    {
        CHECK(triggers({"mlx5_0", "mixed"}));
    }
    SECTION("to another name")
    {
        CHECK(triggers({"before", "storage"}));
    }
}

TEST_CASE("a node is triggered if udev's record of it is not of this device and name", "[rename]")
{
    Bench bench;
    bench.add_nodes();
    bench.sys.file("class/infiniband_verbs/uverbs0/dev", "231:192\n");
    const auto is_triggered = [&](const std::string& record) {
        bench.run.file("data/c231:192", record);
        bench.sys.file("class/infiniband_verbs/uverbs0/uevent", "");
        REQUIRE(bench.follow().has_value());
        return bench.uevent("infiniband_verbs/uverbs0") == "change";
    };
    const std::string right = "E:ID_RDMA_INDEX=0\nE:ID_RDMA_NAME=mixed\n";
    CHECK_FALSE(is_triggered(right));
    CHECK(is_triggered("E:ID_RDMA_INDEX=1\nE:ID_RDMA_NAME=mixed\n"));
    CHECK(is_triggered("E:ID_RDMA_INDEX=0\nE:ID_RDMA_NAME=mixed2\n"));
    CHECK(is_triggered("E:ID_RDMA_INDEX=0\n"));
    CHECK(is_triggered("E:ID_RDMA_NAME=mixed\n"));
    // a link of rdma-core's, made just before the rename
    CHECK(is_triggered(right + "S:infiniband/by-ibdev/uverbs-before\n"));
}

TEST_CASE("no question is asked that would load a module", "[rename]")
{
    Bench bench;
    REQUIRE(bench.follow().has_value());
    CHECK(bench.kernel.sent().empty());
}

TEST_CASE("a device that has gone meanwhile is no error", "[rename]")
{
    Bench bench;
    bench.add_nodes();
    bench.kernel.remove(0);
    CHECK(bench.follow().has_value());
    CHECK(bench.uevent("infiniband_verbs/uverbs0").empty());
}

TEST_CASE("udev's record of the old name goes, and no other", "[rename]")
{
    Bench bench;
    REQUIRE(bench.follow().has_value());
    using List = std::vector<std::string>;
    CHECK(bench.run.list("data") == List{"+infiniband:mixed", "n1"});
    CHECK(bench.run.list("tags/systemd") == List{"+infiniband:mixed"});
    CHECK(bench.run.list("tags/seat") == List{"+infiniband:mixed"});
}

TEST_CASE("udev's record stays if a device has the old name by now", "[rename]")
{
    Bench bench;
    bench.sys.directory("class/infiniband/before");
    REQUIRE(bench.follow().has_value());
    CHECK(bench.run.exists("data/+infiniband:before"));
    CHECK(bench.run.exists("tags/systemd/+infiniband:before"));
}

TEST_CASE("an old name that is none removes nothing", "[rename]")
{
    Bench bench;
    bench.run.file("data/+infiniband:", "");
    bench.run.file("data/+infiniband:a b", "");
    const auto count = bench.run.list("data").size();
    REQUIRE(bench
                .follow(GENERATE("", "/", "/devices/virtual/infiniband/",
                                 "/devices/virtual/infiniband/..", "a b"))
                .has_value());
    CHECK(bench.run.list("data").size() == count);
}

TEST_CASE("an udev without records does no harm", "[rename]")
{
    Bench bench;
    bench.run.remove("tags");
    bench.run.remove("data");
    CHECK(bench.follow().has_value());
}

TEST_CASE("an error of the kernel is passed on by following a rename", "[rename]")
{
    Bench bench;
    bench.add_nodes();
    bench.kernel.fail_next_send(EPERM);
    CHECK(error_of(bench.follow()) == EPERM);
}
