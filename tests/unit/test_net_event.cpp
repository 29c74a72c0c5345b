// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"
#include "tests/support/open_hook.hpp"
#include "tests/support/replay_transport.hpp"
#include "udev-helpers/rdma_id/net_event.hpp"

using namespace rdmad;
using namespace rdmad::rdma_id;
using namespace rdmad::test;

namespace {

const std::string adapter = "devices/pci0000:00/0000:02:00.0";
const std::string ib0 = adapter + "/net/ib0";

/// Device 0 of the captures, on an adapter that has an IPoIB device on port 2.
struct Bench {
    FixtureTree tree;
    CapturedKernel kernel{"7.2"};
    nldev::Client client{kernel};
    IndexHints hints{tree.path("run"), true};

    Bench()
    {
        tree.file(ib0 + "/type", "32\n");
        tree.file(ib0 + "/dev_port", "1\n");
        tree.link(ib0 + "/device", "../../../0000:02:00.0");
        tree.directory(adapter + "/infiniband/mixed");
        tree.link("class/infiniband/mixed", "../../" + adapter + "/infiniband/mixed");
    }
    void rename(const std::string& from, const std::string& to)
    {
        nldev::Client other(kernel);
        REQUIRE(other.rename(0, to).has_value());
        tree.rename(adapter + "/infiniband/" + from, adapter + "/infiniband/" + to);
        tree.remove("class/infiniband/" + from);
        tree.link("class/infiniband/" + to, "../../" + adapter + "/infiniband/" + to);
    }
    Result<std::optional<RdmaOfNetdev>> find()
    {
        return find_rdma_of_ipoib(client, tree.root(), "/" + ib0, hints);
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
    bench.tree.remove("class/infiniband/mixed");
    const OpenHook hook(
        "class/infiniband/mixed", OpenHook::When::before, [&] { bench.rename("mixed", "ibp2s0"); },
        6);
    CHECK(must_find(bench.find()).device.name == "ibp2s0");
    CHECK(hook.has_run());
}

TEST_CASE("an IPoIB device whose RDMA device goes meanwhile has none", "[net_event]")
{
    Bench bench;
    const OpenHook hook("class/infiniband/mixed", OpenHook::When::before, [&] {
        bench.kernel.remove(0);
        bench.tree.remove("class/infiniband/mixed");
        bench.tree.remove(adapter + "/infiniband/mixed");
    });
    CHECK_FALSE(must(bench.find()).has_value());
    CHECK(hook.has_run());
}
