// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/path_id.hpp"
#include "tests/support/fixture_tree.hpp"

using namespace rdmad;
using namespace rdmad::test;
using namespace std::string_literals;

namespace {

/// A directory below that of the one before, with the bus that it is on.
struct Level {
    const char* name;
    const char* subsystem = nullptr; ///< none: a device without one
};

/// Where an adapter hangs, and the ID_PATH that udev gave to what is on it.
struct Machine {
    const char* source; ///< of both
    std::vector<Level> levels;
    const char* id_path;
};

std::string add(const FixtureTree& tree, const std::vector<Level>& levels)
{
    std::string path = "devices";
    for (const auto& level : levels) {
        path += "/"s + level.name;
        tree.file(path + "/uevent", "");
        if (level.subsystem)
            tree.link(path + "/subsystem", "/sys/bus/"s + level.subsystem);
    }
    return path;
}

std::string path_id_in(const FixtureTree& tree, const std::string& path)
{
    const auto root = tree.root();
    const auto parent = root.open_below(path);
    REQUIRE(parent);
    REQUIRE(*parent);
    return path_id(root, **parent);
}

// The trees are what the sources show of sysfs, and the results what they show of udev's records.
// udevadm test-builtin path_id of systemd 252 gives the same for each of these trees.
const std::vector<Machine> machines = {
    {"martinpitt/umockdev#78: VMware, e1000 below a bridge",
     {{"pci0000:00"}, {"0000:00:11.0", "pci"}, {"0000:02:01.0", "pci"}},
     "pci-0000:02:01.0"},
    {"coreos/fedora-coreos-tracker#1383: Azure, virtual function of a ConnectX-5",
     {{"LNXSYSTM:00", "acpi"},
      {"LNXSYBUS:00", "acpi"},
      {"ACPI0004:00", "acpi"},
      {"VMBUS:00", "acpi"},
      {"2be94203-89a5-4c73-b9a9-06ee28f2ba7a", "vmbus"},
      {"pci89a5:00"},
      {"89a5:00:02.0", "pci"}},
     "acpi-VMBUS:00-pci-89a5:00:02.0"},
    {"openmediavault/openmediavault#746: Raspberry Pi 4, controller on its PCI Express",
     {{"platform"},
      {"scb", "platform"},
      {"fd500000.pcie", "platform"},
      {"pci0000:00"},
      {"0000:00:00.0", "pci"},
      {"0000:01:00.0", "pci"}},
     "platform-fd500000.pcie-pci-0000:01:00.0"},
    {"systemd/systemd#17625: Raspberry Pi 4, its own network card",
     {{"platform"}, {"scb", "platform"}, {"fd580000.ethernet", "platform"}},
     "platform-fd580000.ethernet"},
    {"a laptop with Intel VMD, Ubuntu with Linux 6.5: NVMe controller",
     {{"pci0000:00"},
      {"0000:00:0e.0", "pci"},
      {"pci10000:e0"},
      {"10000:e0:06.0", "pci"},
      {"10000:e1:00.0", "pci"}},
     "pci-0000:00:0e.0-pci-10000:e1:00.0"},
    {"a guest of Xen with a function passed through: USB controller",
     {{"pci-0", "xen"}, {"pci0000:00"}, {"0000:00:00.0", "pci"}},
     "xen-pci-0-pci-0000:00:00.0"},
};

} // namespace

TEST_CASE("the path of a device is udev's ID_PATH of its nodes", "[path_id]")
{
    const auto& machine = machines[GENERATE(range<size_t>(0, machines.size()))];
    INFO(machine.source);
    const FixtureTree tree;
    CHECK(path_id_in(tree, add(tree, machine.levels)) == machine.id_path);
}

// systemd/systemd#42154, in systemd 261: "prepend an sf-<N> token when the walk crosses an aux
// device with sfnum"; pci-0000:08:00.0-sf-88 on a ConnectX.
TEST_CASE("a sub-function has its number in the path", "[path_id]")
{
    const FixtureTree tree;
    const auto path =
        add(tree, {{"pci0000:00"}, {"0000:08:00.0", "pci"}, {"mlx5_core.sf.4", "auxiliary"}});
    CHECK(path_id_in(tree, path) == "pci-0000:08:00.0");
    tree.file(path + "/sfnum", "88\n");
    CHECK(path_id_in(tree, path) == "pci-0000:08:00.0-sf-88");
}

TEST_CASE("a device below no bus of udev's has no path", "[path_id]")
{
    const FixtureTree tree;
    const auto path = add(tree, {{"virtual"}, {"odd", "odd"}, {"mlx5_core.sf.4", "auxiliary"}});
    tree.file(path + "/sfnum", "88\n");
    CHECK(path_id_in(tree, path).empty());
}

TEST_CASE("a directory that is no device does not count", "[path_id]")
{
    const FixtureTree tree;
    const auto path = add(tree, {{"platform"}, {"a", "platform"}, {"b", "odd"}, {"c", "pci"}});
    tree.remove("devices/platform/a/b/uevent");
    CHECK(path_id_in(tree, path) == "platform-a-pci-c");
    tree.remove("devices/platform/a/uevent");
    CHECK(path_id_in(tree, path) == "pci-c");
}

TEST_CASE("a device that is not below the root has no path", "[path_id]")
{
    const FixtureTree tree;
    const FixtureTree other;
    const std::vector<Level> levels = {{"0000:08:00.0", "pci"}};
    add(tree, levels);
    const auto parent = other.root().open_below(add(other, levels));
    REQUIRE(parent);
    REQUIRE(*parent);
    CHECK(path_id(tree.root(), **parent).empty());
}
