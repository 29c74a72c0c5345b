// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/finder.hpp"
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"
#include "tests/support/replay_transport.hpp"

#include <cerrno>
#include <utility>

using namespace rdmad;
using namespace rdmad::test;

namespace {

/// The devices of the captures: mixed, opa, rxe and siw have the indexes 0 to 3.
struct Bench {
    FixtureTree tree;
    CapturedKernel kernel{"7.2"};
    nldev::Client client{kernel};
    sysfs::Directory root;
    IndexHints hints;
    Finder finder;

    Bench()
        : root(prepare(tree)),
          hints(tree.path("run"), true),
          finder(client, root, {tree.path("run"), true})
    {
    }

    static sysfs::Directory prepare(const FixtureTree& tree)
    {
        for (const auto* name : {"mixed", "opa", "rxe", "siw"})
            tree.directory(std::string("class/infiniband/") + name);
        return tree.root();
    }
    [[nodiscard]] Target open(const std::string& name) const
    {
        return must_find(find_device_target(root, name));
    }
    [[nodiscard]] uint64_t inode(const std::string& name) const
    {
        return open(name).device.inode().value();
    }
    /// Asks for a device that has the name by now.
    Result<std::optional<nldev::Device>> find(const std::string& name,
                                              std::optional<uint32_t> earlier = {})
    {
        return finder.find(open(name), earlier);
    }
    void remember_last(uint32_t index)
    {
        hints.remember(~UINT64_C(0) - 1, index);
    }
    [[nodiscard]] size_t requests() const
    {
        return kernel.sent().size();
    }
};

/// opa becomes ibp2s0 between the kernel's first answer and the next look at sysfs.
class RenamingKernel : public CapturedKernel {
public:
    explicit RenamingKernel(const FixtureTree& tree) : CapturedKernel("7.2"), tree_(tree) {}

    Result<nldev::Datagram> receive() override
    {
        if (!std::exchange(has_answered_, true))
            tree_.rename("class/infiniband/opa", "class/infiniband/ibp2s0");
        return CapturedKernel::receive();
    }
    Result<void> send(std::string_view message) override
    {
        if (has_answered_ && !std::exchange(is_renamed_, true))
            must(nldev::Client(*this).rename(1, "ibp2s0"));
        return CapturedKernel::send(message);
    }

private:
    const FixtureTree& tree_;
    bool has_answered_ = false;
    bool is_renamed_ = false;
};

} // namespace

TEST_CASE("the index that an earlier event told costs one request", "[finder]")
{
    Bench bench;
    const auto [name, index] =
        GENERATE(table<std::string, uint32_t>({{"mixed", 0}, {"opa", 1}, {"rxe", 2}, {"siw", 3}}));
    CHECK(must_find(bench.find(name, index)).index == index);
    CHECK(bench.requests() == 1);
    CHECK(bench.kernel.dumps() == 0);
}

TEST_CASE("a device that was found once costs one request", "[finder]")
{
    Bench bench;
    CHECK(must_find(bench.find("siw")).index == 3);
    const auto before = bench.requests();
    CHECK(must_find(bench.find("siw")).index == 3);
    CHECK(bench.requests() == before + 1);
}

TEST_CASE("the next new device costs one request", "[finder]")
{
    Bench bench;
    CHECK(must_find(bench.find("mixed")).index == 0);
    CHECK(must_find(bench.find("opa")).index == 1);
    CHECK(must_find(bench.find("rxe")).index == 2);
    CHECK(must_find(bench.find("siw")).index == 3);
    CHECK(bench.requests() == 4);
    CHECK(bench.kernel.dumps() == 0);
}

TEST_CASE("a wrong earlier index is found out", "[finder]")
{
    Bench bench;
    // that of another device, and that of none
    const uint32_t wrong = GENERATE(0U, 2U, 99U);
    bench.remember_last(0);
    CHECK(must_find(bench.find("opa", wrong)).index == 1);
    CHECK(bench.requests() == 2);
}

TEST_CASE("a stale hint is found out and replaced", "[finder]")
{
    Bench bench;
    const auto inode = bench.inode("rxe");
    bench.hints.remember(inode, 1);
    CHECK(must_find(bench.find("rxe")).index == 2);
    CHECK(bench.requests() == 2);
    CHECK(bench.hints.find(inode) == 2U);
    CHECK(must_find(bench.find("rxe")).index == 2);
    CHECK(bench.requests() == 3);
}

TEST_CASE("a hint that repeats a wrong earlier index is not asked twice", "[finder]")
{
    Bench bench;
    bench.hints.remember(bench.inode("rxe"), 1);
    CHECK(must_find(bench.find("rxe", 1)).index == 2);
    CHECK(bench.requests() == 2);
}

TEST_CASE("the number at the end of the name is tried second", "[finder]")
{
    Bench bench;
    bench.remember_last(50);
    // the device was rxe_2 when its event came, and has been renamed since
    auto target = bench.open("rxe");
    target.device_name = "rxe_2";
    CHECK(must_find(bench.finder.find(target)).index == 2);
    CHECK(bench.requests() == 2);
    CHECK(bench.kernel.sent()[0].index == 51U);
    CHECK(bench.kernel.sent()[1].index == 2U);
}

TEST_CASE("a number at the end of the name that is no index does no harm", "[finder]")
{
    Bench bench;
    const auto* name = GENERATE("rxe99999999999999999999", "rxe4294967295", "1", "");
    auto target = bench.open("rxe");
    target.device_name = name;
    CHECK(must_find(bench.finder.find(target)).index == 2);
}

TEST_CASE("devices that appeared at once are found ahead of the last", "[finder]")
{
    Bench bench;
    CHECK(must_find(bench.find("siw")).index == 3);
    CHECK(bench.requests() == 4);
    CHECK(bench.kernel.dumps() == 0);
}

TEST_CASE("a dump is the last resort", "[finder]")
{
    Bench bench;
    bench.remember_last(100);
    CHECK(must_find(bench.find("opa")).index == 1);
    CHECK(bench.kernel.dumps() == 1);
    CHECK((bench.kernel.sent().back().flags & 0x300) == 0x300);
    CHECK(bench.requests() <= 32);
    // and is not needed again
    CHECK(must_find(bench.find("opa")).index == 1);
    CHECK(bench.kernel.dumps() == 1);
}

TEST_CASE("a name that now leads to another directory confirms nothing", "[finder]")
{
    Bench bench;
    const auto device = bench.open("opa");
    // the kernel's opa is a new device by now, and ours has gone
    bench.tree.rename("class/infiniband/opa", "gone");
    bench.tree.directory("class/infiniband/opa");
    CHECK(is_none(bench.finder.find(device, 1)));
    CHECK(bench.kernel.dumps() == 1);
}

TEST_CASE("a device that was renamed meanwhile is found", "[finder]")
{
    Bench bench;
    bench.tree.rename("class/infiniband/opa", "class/infiniband/before");
    const auto device = bench.open("before");
    bench.tree.rename("class/infiniband/before", "class/infiniband/opa");
    CHECK(must_find(bench.finder.find(device, 1)).name == "opa");
    CHECK(bench.requests() == 1);
}

TEST_CASE("a device that is renamed between the kernel's answer and a look at sysfs is found",
          "[finder]")
{
    Bench bench;
    RenamingKernel kernel(bench.tree);
    nldev::Client client(kernel);
    bench.remember_last(100);
    Finder finder(client, bench.root, {bench.tree.path("run"), true});
    CHECK(must_find(finder.find(bench.open("opa"), 1)).name == "ibp2s0");
    CHECK(kernel.dumps() == 0);
}

TEST_CASE("a dump that misses a device which sysfs shows is repeated", "[finder]")
{
    Bench bench;
    // a dump that runs while any device is removed skips others
    ReplayTransport kernel;
    const Capture capture("7.2");
    const auto dump = capture.datagrams("dump");
    auto skipping = dump;
    skipping.erase(skipping.begin() + 1);
    constexpr int probes = 20;
    for (int i = 0; i < probes; i++)
        kernel.answer(capture.datagram("device 99"));
    kernel.answer(skipping);
    kernel.answer(dump);
    nldev::Client client(kernel);
    bench.remember_last(100);
    Finder finder(client, bench.root, {bench.tree.path("run"), true});
    CHECK(must_find(finder.find(bench.open("opa"))).index == 1);
    CHECK(kernel.sent().size() == probes + 2);
}

TEST_CASE("a device that sysfs shows and the kernel denies is an error, and leaves no hint",
          "[finder]")
{
    Bench bench;
    bench.kernel.remove(1);
    const auto found = bench.find("opa", 1);
    REQUIRE_FALSE(found);
    CHECK(found.error().code == EAGAIN);
    CHECK_FALSE(bench.hints.find(bench.inode("opa")).has_value());
}

TEST_CASE("the kernel's refusal is an error, not a missing device", "[finder]")
{
    Bench bench;
    bench.kernel.fail_next_send(EPERM);
    CHECK(error_of(bench.find(
              "opa", GENERATE(std::optional<uint32_t>(), std::optional<uint32_t>(1)))) == EPERM);
}
