// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/state_link.hpp"
#include "core/base/text.hpp"
#include "core/device/name_records.hpp"
#include "tests/support/captured_sysfs.hpp"
#include "tests/support/must.hpp"
#include "tests/support/replay_transport.hpp"
#include "udev-helpers/rdma_id/link_owners.hpp"
#include "udev-helpers/rdma_id/sweep.hpp"

#include <cerrno>

using namespace rdmad;
using namespace rdmad::rdma_id;
using namespace rdmad::test;
using namespace std::chrono_literals;
using List = std::vector<std::string>;

namespace {

constexpr char of_mixed[] = "port-0002c90300000a01-umad";
constexpr char of_gone[] = "port-0002c90300000c01-umad";

/// Device 0 of the captures lives, with umad0; device 9 never did.
struct Bench {
    FixtureTree tree{FixtureTree::Place::memory};
    CapturedKernel kernel{"7.2"};
    nldev::Client client{kernel};
    sysfs::Directory root = tree.root();

    Bench()
    {
        add_captured_devices(tree);
        tree.node("infiniband_mad", "umad0", "mixed", 1);
        tree.directory("rdmad/names");
        claim(of_mixed, "0 1 umad0");
    }
    void claim(const std::string& key, const std::string& owner) const
    {
        tree.link("rdmad/claims/" + key, owner);
    }
    void mark(const std::string& name, const std::string& loser) const
    {
        tree.link("rdmad/contested/" + name, loser);
    }
    void name(uint32_t index, uint64_t inode, const std::string& names) const
    {
        tree.link("rdmad/names/" + std::to_string(index) + "-" + std::to_string(inode), names);
    }
    Result<void> sweep()
    {
        return rdma_id::sweep(client, root, {.rdmad = tree.path("rdmad")});
    }
    [[nodiscard]] List owners() const
    {
        return tree.list("rdmad/claims");
    }
    [[nodiscard]] List marks() const
    {
        return tree.list("rdmad/contested");
    }
};

} // namespace

TEST_CASE("a sweep removes what no living device has, and keeps the rest", "[sweep]")
{
    Bench bench;
    bench.claim(of_gone, "9 1 umad9");
    bench.mark(std::string(of_mixed) + "-umad9", "9 1 umad9");
    bench.mark(std::string(of_gone) + "-umad0", "0 1 umad0 untold");
    bench.name(9, 5, "mlx5_9 ibp9s0");
    const auto inode = sysfs::RdmaDevice::inode(bench.root, "mixed").value();
    bench.name(0, inode, "mlx5_0 mixed");
    must(bench.sweep());
    CHECK(bench.owners() == List{of_mixed, of_gone});
    CHECK(bench.tree.target(std::string("rdmad/claims/") + of_gone) == "0 1 umad0");
    CHECK(bench.tree.read("class/infiniband_mad/umad0/uevent") == "change");
    CHECK(bench.marks().empty());
    CHECK(bench.tree.list("rdmad/names") == List{"0-" + std::to_string(inode)});
    CHECK(bench.kernel.dumps() == 0);
}

TEST_CASE("a sweep asks for the node, too", "[sweep]")
{
    Bench bench;
    SECTION("that has gone, while its device is there")
    {
        bench.claim(of_gone, "0 1 umad9");
    }
    // names of nodes are given again at once, indexes after ib_core was loaded again
    SECTION("that is another device's by now")
    {
        bench.claim(of_gone, "1 1 umad0");
    }
    must(bench.sweep());
    CHECK(bench.owners() == List{of_mixed});
}

TEST_CASE("a node that lives with another GUID is left to its own event", "[sweep]")
{
    Bench bench;
    bench.claim(of_gone, "0 1 umad0");
    must(bench.sweep());
    CHECK(bench.owners() == List{of_mixed, of_gone});
}

TEST_CASE("a device that was renamed by others keeps its record", "[sweep]")
{
    Bench bench;
    const auto inode = sysfs::RdmaDevice::inode(bench.root, "mixed").value();
    bench.name(0, inode, "mlx5_0 ibp1s0");
    must(bench.sweep());
    CHECK(bench.tree.list("rdmad/names").size() == 1);
}

TEST_CASE("where the kernel does not answer a sweep removes nothing", "[sweep]")
{
    Bench bench;
    bench.tree.remove("rdmad/claims");
    const bool is_claim = GENERATE(true, false);
    if (is_claim)
        bench.claim(of_gone, "9 1 umad9");
    else
        bench.name(9, 5, "mlx5_9 ibp9s0");
    bench.kernel.fail_next_send(EPERM);
    CHECK(bench.sweep().error().code == EPERM);
    CHECK(bench.owners().size() + bench.tree.list("rdmad/names").size() == 1);
}

TEST_CASE("a device that the kernel does not tell of keeps a sweep from no other", "[sweep]")
{
    Bench bench;
    bench.claim(of_gone, "8 1 umad8");
    bench.claim("port-0002c90300000c02-umad", "9 1 umad9");
    bench.kernel.fail_next_send(EIO);
    CHECK(bench.sweep().error().code == EIO);
    CHECK(bench.owners().size() == 2);
    must(bench.sweep());
    CHECK(bench.owners() == List{of_mixed});
}

TEST_CASE("without ib_core nothing lives, and nothing is asked", "[sweep]")
{
    Bench bench;
    bench.tree.remove("class");
    bench.mark(std::string(of_mixed) + "-umad2", "1 1 umad2 yields");
    bench.name(0, 5, "mlx5_0 ibp1s0");
    must(bench.sweep());
    CHECK(bench.owners().empty());
    CHECK(bench.marks().empty());
    CHECK(bench.tree.list("rdmad/names").empty());
    CHECK(bench.kernel.sent().empty());
}

TEST_CASE("a sweep removes what is no record", "[sweep]")
{
    Bench bench;
    bench.claim("port-0002c90300000a01-umad.new", "0 1 umad0");
    bench.claim("port-x-umad", "0 1 umad0");
    bench.claim("port-0002c90300000a02", "0 1 umad0");
    bench.claim("port-0002c90300000a03-umad", "../../etc/passwd");
    bench.mark("port-0002c90300000a03-umad-umad1", "yields");
    bench.mark("nonsense", "0 1 umad0");
    must(bench.sweep());
    CHECK(bench.owners() == List{of_mixed});
    CHECK(bench.marks().empty());
}

TEST_CASE("a sweep where there are no records does nothing", "[sweep]")
{
    Bench bench;
    bench.tree.remove("rdmad");
    must(bench.sweep());
    CHECK_FALSE(bench.tree.exists("rdmad"));
}

TEST_CASE("records do not grow however many removals are lost", "[sweep]")
{
    Bench bench;
    const LinkOwners owners(bench.client, bench.root, {.rdmad = bench.tree.path("rdmad")});
    const NameRecords names(bench.tree.path("rdmad"));
    // devices go ten at a time, and their names are given again
    for (uint32_t turn = 1; turn <= 10000; turn++) {
        const uint32_t index = 99 + turn;
        const auto owner = std::to_string(index) + " 1 umad9";
        REQUIRE(make_link(owner, bench.tree.path("rdmad/claims/port-" + text::format_guid(turn) +
                                                 "-umad")) == 0);
        REQUIRE(names.write({index, turn}, {"mlx5_0"}).has_value());
        if (turn % 10 == 0)
            must(bench.sweep());
    }
    CHECK(bench.owners() == List{of_mixed});
    CHECK(bench.tree.list("rdmad/names").empty());
}

TEST_CASE("a sweep tells that it cannot have the lock", "[sweep]")
{
    Bench bench;
    bench.claim(of_gone, "9 1 umad9");
    bench.tree.directory("rdmad/lock");
    CHECK(bench.sweep().error().code == EISDIR);
    CHECK(bench.owners() == List{of_mixed, of_gone});
}

TEST_CASE("a sweep does not wait for the lock again and again", "[sweep]")
{
    Bench bench;
    for (int i = 0; i < 100; i++)
        bench.claim(of_gone + std::to_string(i), "9 1 umad9");
    const auto held = must(lock_state(bench.tree.path("rdmad"), "lock"));
    const auto begin = std::chrono::steady_clock::now();
    must(rdma_id::sweep(bench.client, bench.root,
                        {.rdmad = bench.tree.path("rdmad"), .lock_patience = 100ms}));
    // it would be ten
    CHECK(std::chrono::steady_clock::now() - begin < 5s);
    CHECK(bench.owners().size() == 101);
}
