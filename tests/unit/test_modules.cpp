// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"
#include "tests/support/replay_transport.hpp"
#include "udev-helpers/rdma_id/modules.hpp"

#include <cerrno>
#include <rdma/rdma_netlink.h>

using namespace rdmad;
using namespace rdmad::rdma_id;
using namespace rdmad::test;
using naming::LinkType;

namespace {

struct Bench {
    FixtureTree sys;
    FixtureTree lists;
    CapturedKernel kernel{"7.2"};
    nldev::Client client{kernel};
    sysfs::Directory root = sys.root();
    DeviceInfo info;

    Bench()
    {
        info.device.index = 0;
        info.ports = {{.port = 1, .link_type = LinkType::roce},
                      {.port = 2, .link_type = LinkType::infiniband}};
    }
    /// What the kernel was asked about.
    std::vector<std::string> asked(Load load)
    {
        CHECK(error_of(load_modules(client, root, info, load, lists.path("modules"))) == 0);
        std::vector<std::string> types;
        for (const auto& request : kernel.sent()) {
            CHECK(request.command == RDMA_NLDEV_CMD_GET_CHARDEV);
            CHECK(request.index == 0U);
            types.push_back(request.char_device +
                            (request.port ? "/" + std::to_string(*request.port) : ""));
        }
        return types;
    }
};

using Types = std::vector<std::string>;

} // namespace

TEST_CASE("a list names a module on a line of its own", "[modules]")
{
    CHECK(lists_module("ib_uverbs", "ib_uverbs"));
    CHECK(lists_module("ib_ipoib\nib_umad\n", "ib_umad"));
    CHECK(lists_module("  ib_umad \r\n", "ib_umad"));
    CHECK(lists_module("ib-umad", "ib_umad"));
    CHECK_FALSE(lists_module("", "ib_umad"));
    CHECK_FALSE(lists_module("# ib_umad", "ib_umad"));
    CHECK_FALSE(lists_module("; ib_umad", "ib_umad"));
    CHECK_FALSE(lists_module("#ib_umad", "ib_umad"));
    CHECK_FALSE(lists_module("ib_umad2", "ib_umad"));
    CHECK_FALSE(lists_module("ib_uma", "ib_umad"));
    CHECK_FALSE(lists_module("ib_umad ib_uverbs", "ib_umad"));
}

TEST_CASE("modules are loaded by a question that needs them", "[modules]")
{
    Bench bench;
    CHECK(bench.asked(Load::needed) == Types{"uverbs", "umad/2"});
}

TEST_CASE("a module that is loaded already is not asked for", "[modules]")
{
    Bench bench;
    SECTION("ib_uverbs")
    {
        bench.sys.directory("class/infiniband_verbs");
        CHECK(bench.asked(Load::needed) == Types{"umad/2"});
    }
    SECTION("ib_umad")
    {
        bench.sys.directory("class/infiniband_mad");
        CHECK(bench.asked(Load::needed) == Types{"uverbs"});
    }
}

TEST_CASE("a device without a managed port needs no ib_umad", "[modules]")
{
    Bench bench;
    bench.info.ports.pop_back();
    CHECK(bench.asked(Load::needed) == Types{"uverbs"});
}

TEST_CASE("an OPA port needs ib_umad", "[modules]")
{
    Bench bench;
    bench.info.ports = {{.port = 1, .link_type = LinkType::opa}};
    CHECK(bench.asked(Load::needed) == Types{"uverbs", "umad/1"});
}

TEST_CASE("nothing is loaded if that is wanted", "[modules]")
{
    Bench bench;
    CHECK(bench.asked(Load::nothing).empty());
}

TEST_CASE("without lists all that is needed is loaded", "[modules]")
{
    Bench bench;
    CHECK(bench.asked(Load::listed) == Types{"uverbs", "umad/2"});
}

TEST_CASE("a list of a link type that the device has counts", "[modules]")
{
    Bench bench;
    SECTION("that of all devices")
    {
        bench.lists.file("modules/rdma.conf", "# comment\nib_uverbs\nib_umad\n");
        CHECK(bench.asked(Load::listed) == Types{"uverbs", "umad/2"});
    }
    SECTION("that of one port")
    {
        bench.lists.file("modules/infiniband.conf", "ib_ipoib\nib_umad\n");
        CHECK(bench.asked(Load::listed) == Types{"umad/2"});
    }
    SECTION("that of another type")
    {
        bench.lists.file("modules/iwarp.conf", "ib_umad\nib_uverbs\n");
        CHECK(bench.asked(Load::listed).empty());
    }
    SECTION("commented out")
    {
        bench.lists.file("modules/rdma.conf", "# ib_uverbs\n#ib_umad\n");
        CHECK(bench.asked(Load::listed).empty());
    }
}

TEST_CASE("a device that has no such node is no error", "[modules]")
{
    Bench bench;
    bench.kernel.remove(0);
    CHECK(bench.asked(Load::needed) == Types{"uverbs", "umad/2"});
}

TEST_CASE("an error of the kernel is passed on by the loading of modules", "[modules]")
{
    Bench bench;
    bench.kernel.fail_next_send(EPERM);
    CHECK(error_of(load_modules(bench.client, bench.root, bench.info, Load::needed, "")) == EPERM);
}
