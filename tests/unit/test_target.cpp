// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/target.hpp"
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"
#include "tests/support/open_hook.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

using namespace rdmad;
using namespace rdmad::test;
using namespace std::string_literals;

namespace {

/// As the kernel has it: the devices are below devices/, the classes are full of links.
struct Bench {
    FixtureTree tree;
    sysfs::Directory root = tree.root();

    Bench()
    {
        tree.directory("class/net");
        add("infiniband", "mixed");
        tree.file("devices/virtual/infiniband/mixed/ports/1/gids/0",
                  "fe80:0000:0000:0000:0002:c903:0000:0a01\n");
        add_node("infiniband_verbs", "uverbs0", "mixed\n");
        add_node("infiniband_mad", "umad1", "mixed\n");
        tree.file("devices/virtual/infiniband_mad/umad1/port", "2\n");
        add_node("infiniband_mad", "issm0", "mixed\n");
        tree.file("devices/virtual/infiniband_mad/issm0/port", "1\n");
        tree.file("class/infiniband_mad/abi_version", "5\n");
    }
    void add(const std::string& subsystem, const std::string& name) const
    {
        const std::string device = "devices/virtual/" + subsystem + "/" + name;
        tree.directory("class/" + subsystem);
        tree.directory(device);
        tree.link(device + "/subsystem", "../../../../class/" + subsystem);
        tree.link("class/" + subsystem + "/" + name, "../../" + device);
    }
    void add_node(const std::string& subsystem, const std::string& name,
                  const std::string& ibdev) const
    {
        add(subsystem, name);
        tree.file("devices/virtual/" + subsystem + "/" + name + "/ibdev", ibdev);
    }
    void rename_device(const std::string& from, const std::string& to) const
    {
        tree.rename("devices/virtual/infiniband/" + from, "devices/virtual/infiniband/" + to);
        tree.remove("class/infiniband/" + from);
        tree.link("class/infiniband/" + to, "../../devices/virtual/infiniband/" + to);
    }
    void set_ibdev(const std::string& name) const
    {
        tree.file("devices/virtual/infiniband_verbs/uverbs0/ibdev", name + "\n");
    }
    [[nodiscard]] Result<std::optional<Target>> event(const std::string& subsystem,
                                                      const std::string& name) const
    {
        return find_event_target(root, "/devices/virtual/" + subsystem + "/" + name, subsystem);
    }
};

void check_umad1(const Target& target)
{
    CHECK(target.node == Node::umad);
    CHECK(target.sysname == "umad1");
    CHECK(target.port == 2U);
    CHECK(target.device_name == "mixed");
    CHECK(target.device.port_guid(1) == UINT64_C(0x0002c90300000a01));
}

} // namespace

TEST_CASE("a node is known by its class and its name", "[target]")
{
    CHECK(node_of("infiniband", "mlx5_0") == Node::device);
    CHECK(node_of("infiniband", "umad0") == Node::device);
    CHECK(node_of("infiniband_verbs", "uverbs0") == Node::uverbs);
    CHECK(node_of("infiniband_mad", "umad0") == Node::umad);
    CHECK(node_of("infiniband_mad", "issm0") == Node::issm);
    CHECK_FALSE(node_of("infiniband_mad", "abi_version").has_value());
    CHECK_FALSE(node_of("infiniband_verbs", "abi_version").has_value());
    CHECK_FALSE(node_of("infiniband_verbs", "umad0").has_value());
    CHECK_FALSE(node_of("misc", "rdma_cm").has_value());
    CHECK_FALSE(node_of("net", "eth0").has_value());
    CHECK_FALSE(node_of("", "").has_value());
}

TEST_CASE("kinds of nodes have a name and a class", "[target]")
{
    CHECK(to_string(Node::device) == "device");
    CHECK(to_string(Node::uverbs) == "uverbs");
    CHECK(to_string(Node::umad) == "umad");
    CHECK(to_string(Node::issm) == "issm");
    CHECK(class_path(Node::device, "mock0") == "class/infiniband/mock0");
    CHECK(class_path(Node::uverbs, "uverbs0") == "class/infiniband_verbs/uverbs0");
    CHECK(class_path(Node::umad, "umad0") == "class/infiniband_mad/umad0");
    CHECK(class_path(Node::issm, "issm0") == "class/infiniband_mad/issm0");
}

TEST_CASE("the event of a device is about the device", "[target]")
{
    const Bench bench;
    const auto target = must_find(bench.event("infiniband", "mixed"));
    CHECK(target.node == Node::device);
    CHECK(target.sysname == "mixed");
    CHECK(target.device_name == "mixed");
    CHECK_FALSE(target.port.has_value());
}

TEST_CASE("the event of a node is about its device, and port", "[target]")
{
    const Bench bench;
    check_umad1(must_find(bench.event("infiniband_mad", "umad1")));
    const auto issm = must_find(bench.event("infiniband_mad", "issm0"));
    CHECK(issm.node == Node::issm);
    CHECK(issm.port == 1U);
    const auto uverbs = must_find(bench.event("infiniband_verbs", "uverbs0"));
    CHECK(uverbs.node == Node::uverbs);
    CHECK(uverbs.device_name == "mixed");
    CHECK_FALSE(uverbs.port.has_value());
}

TEST_CASE("an event about something else, or something gone, is about nothing", "[target]")
{
    const Bench bench;
    bench.add("misc", "rdma_cm");
    CHECK(is_none(bench.event("misc", "rdma_cm")));
    CHECK(is_none(bench.event("infiniband", "gone")));
    CHECK(is_none(bench.event("infiniband_mad", "umad9")));
    CHECK(is_none(find_event_target(bench.root, "", "infiniband")));
    CHECK(is_none(find_event_target(bench.root, "/", "infiniband")));
}

TEST_CASE("a node whose ibdev names no device is none", "[target]")
{
    const Bench bench;
    bench.tree.directory("class/infiniband/a");
    const auto* name = GENERATE("gone", "", "/", ".", "..", "a/b", "../net",
                                "../../class/infiniband/mixed", "mixed/", "mixed/.");
    CAPTURE(name);
    bench.set_ibdev(name);
    CHECK(is_none(bench.event("infiniband_verbs", "uverbs0")));
}

TEST_CASE("a node without ibdev, or a port's node without its port, is none", "[target]")
{
    const Bench bench;
    bench.tree.remove("devices/virtual/infiniband_verbs/uverbs0/ibdev");
    CHECK(is_none(bench.event("infiniband_verbs", "uverbs0")));
    bench.tree.file("devices/virtual/infiniband_mad/umad1/port",
                    GENERATE("", "x\n", "-1\n", "1 2\n", "99999999999\n"));
    CHECK(is_none(bench.event("infiniband_mad", "umad1")));
    bench.tree.remove("devices/virtual/infiniband_mad/issm0/port");
    CHECK(is_none(bench.event("infiniband_mad", "issm0")));
}

TEST_CASE("a rename before or after the device is opened is followed", "[target]")
{
    const auto when = GENERATE(OpenHook::When::before, OpenHook::When::after);
    const Bench bench;
    const OpenHook hook("class/infiniband/mixed", when, [&] {
        bench.rename_device("mixed", "ibp1s0");
        bench.set_ibdev("ibp1s0");
    });
    const auto target = must_find(bench.event("infiniband_verbs", "uverbs0"));
    CHECK(hook.has_run());
    CHECK(target.device_name == "ibp1s0");
    CHECK(target.device.port_guid(1) == UINT64_C(0x0002c90300000a01));
}

TEST_CASE("a rename that the kernel takes its time for is waited for", "[target]")
{
    const Bench bench;
    // the class has the new name, and the node still tells the old one
    bench.rename_device("mixed", "ibp1s0");
    const OpenHook hook(
        "class/infiniband/mixed", OpenHook::When::before, [&] { bench.set_ibdev("ibp1s0"); }, 6);
    const auto target = must_find(bench.event("infiniband_verbs", "uverbs0"));
    CHECK(hook.has_run());
    CHECK(target.device_name == "ibp1s0");
}

TEST_CASE("another device that takes the name meanwhile is not mistaken for the node's", "[target]")
{
    const Bench bench;
    const OpenHook hook("class/infiniband/mixed", OpenHook::When::before, [&] {
        bench.rename_device("mixed", "ibp1s0");
        bench.set_ibdev("ibp1s0");
        bench.add("infiniband", "mixed");
        bench.tree.file("devices/virtual/infiniband/mixed/ports/1/gids/0",
                        "fe80:0000:0000:0000:0002:c903:0000:0b01\n");
    });
    const auto target = must_find(bench.event("infiniband_verbs", "uverbs0"));
    CHECK(hook.has_run());
    CHECK(target.device_name == "ibp1s0");
    CHECK(target.device.port_guid(1) == UINT64_C(0x0002c90300000a01));
}

// since Linux 7.3 a device in another network namespace, whose nodes are seen here, may be called
// so
TEST_CASE("a device of the same name that the node does not belong to is not taken for its own",
          "[target]")
{
    const Bench bench;
    bench.tree.directory("devices/pci0000:00/0000:01:00.0");
    bench.tree.directory("devices/pci0000:00/0000:02:00.0");
    bench.tree.link("devices/virtual/infiniband/mixed/device", "../../../pci0000:00/0000:01:00.0");
    const auto hangs_on = GENERATE("0000:01:00.0", "0000:02:00.0", "");
    CAPTURE(hangs_on);
    if (*hangs_on)
        bench.tree.link("devices/virtual/infiniband_verbs/uverbs0/device",
                        "../../../pci0000:00/"s + hangs_on);
    const auto target = must(bench.event("infiniband_verbs", "uverbs0"));
    CHECK(target.has_value() == (hangs_on == "0000:01:00.0"s));
}

TEST_CASE("a device that goes while one looks is none", "[target]")
{
    const Bench bench;
    const OpenHook hook("class/infiniband/mixed", OpenHook::When::before,
                        [&] { bench.tree.remove("devices/virtual/infiniband/mixed"); });
    CHECK(is_none(bench.event("infiniband_verbs", "uverbs0")));
    CHECK(hook.has_run());
}

TEST_CASE("a target is found by the name of a device or node", "[target]")
{
    const Bench bench;
    CHECK(must_find(find_target(bench.root, "mixed")).node == Node::device);
    CHECK(must_find(find_target(bench.root, "uverbs0")).node == Node::uverbs);
    CHECK(must_find(find_target(bench.root, "issm0")).node == Node::issm);
    check_umad1(must_find(find_target(bench.root, "umad1")));
}

TEST_CASE("a device that is called like a node goes first", "[target]")
{
    const Bench bench;
    bench.add("infiniband", "umad1");
    CHECK(must_find(find_target(bench.root, "umad1")).node == Node::device);
}

TEST_CASE("a name that is nobody's is none", "[target]")
{
    const Bench bench;
    const auto name = GENERATE(""s, "."s, ".."s, "nobody"s, "abi_version"s, "mixed "s, "mixed\n"s,
                               std::string(5000, 'x'));
    CAPTURE(name);
    const auto target = find_target(bench.root, name);
    REQUIRE(target);
    CHECK_FALSE(target->has_value());
}

TEST_CASE("a target is found by its path in sysfs, whatever links lead there", "[target]")
{
    const Bench bench;
    const auto path =
        GENERATE("class/infiniband_mad/umad1"s, "devices/virtual/infiniband_mad/umad1"s,
                 "class/infiniband_mad/umad1/"s, "class/infiniband_mad/umad1/subsystem/umad1"s,
                 "class/infiniband/../infiniband_mad/umad1"s, "shortcut"s);
    bench.tree.link("shortcut", "class/infiniband_mad/umad1");
    CAPTURE(path);
    check_umad1(must_find(find_target(bench.root, bench.tree.path(path))));
    CHECK(
        must_find(find_target(bench.root, bench.tree.path("class/infiniband/mixed"))).device_name ==
        "mixed");
}

TEST_CASE("a path to something else is none", "[target]")
{
    const Bench bench;
    const auto path =
        GENERATE("class/infiniband"s, "class/infiniband_mad/abi_version"s,
                 "class/infiniband/mixed/ports"s, "nothing"s, "devices/virtual"s, ""s);
    CAPTURE(path);
    CHECK(is_none(find_target(bench.root, bench.tree.path() + "/" + path)));
}

TEST_CASE("a target is found by its device node", "[target]")
{
    // any character device will do: what it is, the tree says
    struct stat status;
    if (stat("/dev/null", &status) < 0 || !S_ISCHR(status.st_mode)) {
        WARN("skipped: there is no /dev/null");
        return;
    }
    const Bench bench;
    CHECK(is_none(find_target(bench.root, "/dev/null")));
    const auto numbers =
        std::to_string(major(status.st_rdev)) + ":" + std::to_string(minor(status.st_rdev));
    bench.tree.link("dev/char/" + numbers, "../../devices/virtual/infiniband_mad/umad1");
    check_umad1(must_find(find_target(bench.root, "/dev/null")));
}
