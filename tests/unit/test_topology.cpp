// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/topology.hpp"
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"

using namespace rdmad;
using namespace rdmad::test;
using namespace std::string_literals;
using naming::PciAddress;
using naming::PciPlace;
using naming::Scheme;

namespace {

constexpr char zero_header = '\0';
constexpr char multifunction_header = '\x80';
const PciAddress adapter{0, 3, 0, 0};

std::string directory_of(const std::string& function)
{
    return "devices/pci0000:00/" + function;
}

/// sysfs with the device mlx5_0, and what the kernel said of it.
struct Bench {
    FixtureTree tree;
    DeviceInfo info;

    Bench()
    {
        tree.directory("class/infiniband/mlx5_0");
        tree.directory("bus/pci/slots");
        info.device.name = "mlx5_0";
        info.device.port_count = 1;
        info.device.node_guid = UINT64_C(0x506b4b0300a1b2c3);
        info.device.protocol = "ib";
        info.ports = {{.port = 1}};
    }
    void function(const std::string& address) const
    {
        const auto directory = directory_of(address);
        tree.link(directory + "/subsystem", "../../../bus/pci");
        tree.file(directory + "/uevent", "DRIVER=mlx5_core\nPCI_CLASS=20700\nPCI_ID=15B3:1017\n"
                                         "PCI_SLOT_NAME=" +
                                             address + "\nMODALIAS=pci:v000015B3\n");
        tree.file(directory + "/ari_enabled", "0\n");
        header(address, zero_header);
    }
    void header(const std::string& address, char type) const
    {
        std::string config(64, '\0');
        config[0x0e] = type;
        tree.file(directory_of(address) + "/config", config);
    }
    void attribute(const std::string& function, const std::string& name,
                   const std::string& text) const
    {
        tree.file(directory_of(function) + "/" + name, text + "\n");
    }
    /// A virtual function, and what its physical function says of all of them.
    void virtual_function(const std::string& address, const std::string& physical,
                          const std::string& offset, const std::string& stride) const
    {
        function(physical);
        attribute(physical, "sriov_offset", offset);
        attribute(physical, "sriov_stride", stride);
        function(address);
        tree.link(directory_of(address) + "/physfn", "../" + physical);
    }
    void names_virtual_function(const std::string& physical, const std::string& link,
                                const std::string& address) const
    {
        tree.link(directory_of(physical) + "/" + link, "../" + address);
    }
    void auxiliary(const std::string& parent, const std::string& name) const
    {
        tree.link(parent + "/" + name + "/subsystem", "../../../../bus/auxiliary");
        parent_is(parent + "/" + name);
    }
    void slot(const std::string& name, const std::string& address) const
    {
        tree.file("bus/pci/slots/" + name + "/address", address + "\n");
    }
    void parent_is(const std::string& path) const
    {
        tree.link("class/infiniband/mlx5_0/device", "../../../" + path);
    }
    void is_on(const std::string& function) const
    {
        parent_is(directory_of(function));
    }
    void has_netdev(const std::string& name)
    {
        info.ports[0].netdev = name;
    }

    [[nodiscard]] std::string path() const
    {
        const auto root = tree.root();
        return read_path(root, must_find(find_device_target(root, "mlx5_0")).device);
    }
    [[nodiscard]] naming::Place read(const TopologyOptions& options = {}) const
    {
        const auto root = tree.root();
        const Snapshot device = {must_find(find_device_target(root, "mlx5_0")), info};
        return read_topology(root, device, options);
    }
    [[nodiscard]] PciPlace pci(const TopologyOptions& options = {}) const
    {
        const auto place = read(options);
        REQUIRE(place.pci.has_value());
        return *place.pci;
    }
    [[nodiscard]] std::optional<uint32_t> virtual_number(Scheme scheme) const
    {
        const auto place = read({.scheme = scheme});
        return place.pci ? place.pci->virtual_function : std::nullopt;
    }
};

/// A device on the first function of the adapter.
struct OnPci : Bench {
    OnPci()
    {
        function("0000:03:00.0");
        is_on("0000:03:00.0");
    }
};

} // namespace

TEST_CASE("a device sits where its PCI function does", "[topology]")
{
    const OnPci bench;
    const auto place = bench.read();
    CHECK(bench.path() == "pci-0000:03:00.0");
    REQUIRE(place.pci.has_value());
    const auto& pci = *place.pci;
    CHECK(pci.address == adapter);
    CHECK_FALSE(pci.has_ari);
    CHECK_FALSE(pci.is_multifunction);
    CHECK_FALSE(pci.virtual_function.has_value());
    CHECK_FALSE(pci.slot.has_value());
    CHECK(place.auxiliary_kind.empty());
    CHECK_FALSE(place.sub_function.has_value());
    CHECK_FALSE(place.onboard_index.has_value());
    CHECK_FALSE(place.onboard_index_is_of_parent);
}

TEST_CASE("the address is what the kernel says, not what a directory is called", "[topology]")
{
    Bench bench;
    bench.tree.link("devices/vmd/elsewhere/subsystem", "../../../bus/pci");
    bench.tree.file("devices/vmd/elsewhere/uevent",
                    "PCI_SLOT_NAMES=0000:01:00.0\nX_PCI_SLOT_NAME=0000:02:00.0\n"
                    "PCI_SLOT_NAME=10000:c1:1f.7\n");
    bench.parent_is("devices/vmd/elsewhere");
    CHECK(bench.pci().address == PciAddress{0x10000, 0xc1, 0x1f, 7});
}

TEST_CASE("a function without an address has no place", "[topology]")
{
    const OnPci bench;
    const auto uevent =
        GENERATE(""s, "DRIVER=mlx5_core\n"s, "PCI_SLOT_NAME=\n"s, "PCI_SLOT_NAME=03:00.0\n"s,
                 "PCI_SLOT_NAME=0000:03:00\n"s, "PCI_SLOT_NAME=0000:03:00.8\n"s,
                 "PCI_SLOT_NAME 0000:03:00.0\n"s, std::string(5000, 'x'));
    CAPTURE(uevent);
    bench.tree.file(directory_of("0000:03:00.0") + "/uevent", uevent);
    bench.attribute("0000:03:00.0", "acpi_index", "1");
    const auto place = bench.read();
    CHECK_FALSE(place.pci.has_value());
    CHECK_FALSE(place.onboard_index.has_value());
}

TEST_CASE("bit 7 of the header type tells of several functions", "[topology]")
{
    const OnPci bench;
    SECTION("set")
    {
        bench.header("0000:03:00.0", multifunction_header);
        CHECK(bench.pci().is_multifunction);
    }
    SECTION("the type of header is another matter")
    {
        bench.header("0000:03:00.0", '\x7f');
        CHECK_FALSE(bench.pci().is_multifunction);
    }
    SECTION("its neighbours")
    {
        auto config = std::string(64, '\xff');
        config[0x0e] = zero_header;
        bench.tree.file(directory_of("0000:03:00.0") + "/config", config);
        CHECK_FALSE(bench.pci().is_multifunction);
    }
    SECTION("the configuration space is too short")
    {
        bench.tree.file(directory_of("0000:03:00.0") + "/config", std::string(0x0e, '\xff'));
        CHECK_FALSE(bench.pci().is_multifunction);
    }
    SECTION("there is none")
    {
        bench.tree.remove(directory_of("0000:03:00.0") + "/config");
        CHECK_FALSE(bench.pci().is_multifunction);
    }
}

TEST_CASE("ARI is on where the kernel says 1", "[topology]")
{
    const OnPci bench;
    bench.attribute("0000:03:00.0", "ari_enabled", "1");
    CHECK(bench.pci().has_ari);
    const auto text = GENERATE("0", "", "2", "yes", "-1", "1x");
    CAPTURE(text);
    bench.attribute("0000:03:00.0", "ari_enabled", text);
    CHECK_FALSE(bench.pci().has_ari);
    bench.tree.remove(directory_of("0000:03:00.0") + "/ari_enabled");
    CHECK_FALSE(bench.pci().has_ari);
}

// pci_iov_virtfn_bus() and pci_iov_virtfn_devfn(), drivers/pci/iov.c
TEST_CASE("scheme v1 computes the number of a virtual function from its address", "[topology]")
{
    struct Case {
        const char *own, *physical, *offset, *stride;
        uint32_t number;
    };
    const auto c = GENERATE(values<Case>({
        {"0000:01:00.1", "0000:01:00.0", "1", "1", 0},
        {"0000:01:00.2", "0000:01:00.0", "1", "1", 1},
        {"0000:01:01.0", "0000:01:00.0", "1", "1", 7},
        {"0000:02:00.0", "0000:01:00.0", "1", "1", 255},
        {"0000:02:00.1", "0000:01:00.0", "1", "1", 256},
        {"0000:01:10.0", "0000:01:00.0", "128", "2", 0},
        {"0000:01:10.2", "0000:01:00.0", "128", "2", 1},
        {"0000:02:10.2", "0000:01:00.0", "128", "2", 129},
        {"0000:02:10.3", "0000:01:00.1", "128", "2", 129},
        {"0000:02:00.0", "0000:01:00.0", "256", "1", 0},
        {"0000:02:00.1", "0000:01:00.1", "256", "2", 0},
        {"0000:05:00.0", "0000:03:00.0", "512", "1", 0},
        {"0000:01:00.4", "0000:01:00.0", "4", "0", 0},
        {"10000:e1:00.3", "10000:e1:00.1", "1", "1", 1},
    }));
    CAPTURE(c.own);
    CAPTURE(c.physical);
    Bench bench;
    bench.virtual_function(c.own, c.physical, c.offset, c.stride);
    bench.is_on(c.own);
    CHECK(bench.pci().virtual_function == c.number);
    CHECK(bench.pci().address == naming::parse_pci_address(c.physical));
    CHECK(bench.path() == "pci-"s + c.own);
}

TEST_CASE("an address that no virtual function can have is no place", "[topology]")
{
    struct Case {
        const char *own, *physical, *offset, *stride;
    };
    const auto c = GENERATE(values<Case>({
        {"0000:02:10.3", "0000:01:00.0", "128", "2"}, // of 0000:01:00.1
        {"0000:01:00.2", "0000:01:00.0", "4", "1"},
        {"0000:01:00.0", "0000:02:00.0", "1", "1"},
        {"0000:01:00.5", "0000:01:00.0", "4", "0"},
        {"0000:01:00.1", "0000:01:00.0", "", "1"},
        {"0000:01:00.1", "0000:01:00.0", "1", ""},
        {"0000:01:00.1", "0000:01:00.0", "-1", "1"},
        {"0000:01:00.1", "0000:01:00.0", "0x1", "1"},
        {"0000:01:00.1", "0000:01:00.0", "1", "1 1"},
        {"0000:01:00.1", "0000:01:00.0", "1", "4294967296"},
    }));
    CAPTURE(c.own);
    CAPTURE(c.offset);
    CAPTURE(c.stride);
    Bench bench;
    bench.virtual_function(c.own, c.physical, c.offset, c.stride);
    bench.attribute(c.physical, "acpi_index", "1");
    bench.is_on(c.own);
    const auto place = bench.read();
    CHECK_FALSE(place.pci.has_value());
    CHECK_FALSE(place.onboard_index.has_value());
}

// the capability has 16 bits for it, so the kernel cannot say so
TEST_CASE("an offset that no number of functions reaches is no place", "[topology]")
{
    Bench bench;
    bench.virtual_function("0000:01:00.1", "0000:01:00.0", "4294967295", "1");
    bench.is_on("0000:01:00.1");
    CHECK_FALSE(bench.read().pci.has_value());
}

TEST_CASE("a virtual function has no place if the kernel does not say how they count", "[topology]")
{
    Bench bench;
    bench.virtual_function("0000:01:00.1", "0000:01:00.0", "1", "1");
    bench.is_on("0000:01:00.1");
    const auto attribute = GENERATE("sriov_offset", "sriov_stride", "uevent");
    CAPTURE(attribute);
    bench.tree.remove(directory_of("0000:01:00.0") + "/" + attribute);
    CHECK_FALSE(bench.read().pci.has_value());
}

TEST_CASE("scheme rdma-core compares a virtual function with those of its parent", "[topology]")
{
    Bench bench;
    bench.virtual_function("0000:01:00.2", "0000:01:00.0", "1", "1");
    bench.names_virtual_function("0000:01:00.0", "virtfn0", "0000:01:00.1");
    bench.names_virtual_function("0000:01:00.0", "virtfn1", "0000:01:00.2");
    bench.names_virtual_function("0000:01:00.0", "virtfn2", "0000:01:01.2");
    bench.names_virtual_function("0000:01:00.0", "virtfn", "0000:01:00.2");
    bench.is_on("0000:01:00.2");
    CHECK(bench.virtual_number(Scheme::rdma_core) == 1U);
    CHECK(bench.pci({.scheme = Scheme::rdma_core}).address == PciAddress{0, 1, 0, 0});
}

TEST_CASE("scheme rdma-core does not look at the bus of a virtual function", "[topology]")
{
    Bench bench;
    bench.virtual_function("0000:02:00.1", "0000:01:00.0", "1", "1");
    bench.names_virtual_function("0000:01:00.0", "virtfn0", "0000:01:00.1");
    bench.is_on("0000:02:00.1");
    CHECK(bench.virtual_number(Scheme::rdma_core) == 0U);
    CHECK(bench.virtual_number(Scheme::v1) == 256U);
    SECTION("the first of both")
    {
        bench.names_virtual_function("0000:01:00.0", "virtfn256", "0000:02:00.1");
        uint32_t first = 1;
        for (const auto& name : bench.tree.root().names(directory_of("0000:01:00.0")))
            if (first == 1 && name.starts_with("virtfn"))
                first = name == "virtfn0" ? 0 : 256;
        CHECK(bench.virtual_number(Scheme::rdma_core) == first);
    }
}

TEST_CASE("scheme rdma-core takes 0 if there is no such virtual function", "[topology]")
{
    Bench bench;
    bench.virtual_function("0000:01:00.2", "0000:01:00.0", "1", "1");
    bench.is_on("0000:01:00.2");
    CHECK(bench.virtual_number(Scheme::rdma_core) == 0U);
    bench.names_virtual_function("0000:01:00.0", "virtfn", "0000:01:00.2");
    bench.names_virtual_function("0000:01:00.0", "virtfn3", "rubbish");
    bench.names_virtual_function("0000:01:00.0", "virt7", "0000:01:00.2");
    bench.names_virtual_function("0000:01:00.0", "virtfn5", "0000:01:02.2");
    bench.tree.file(directory_of("0000:01:00.0") + "/virtfn6", "0000:01:00.2\n");
    CHECK(bench.virtual_number(Scheme::rdma_core) == 0U);
}

TEST_CASE("scheme rdma-core needs no offset and no stride", "[topology]")
{
    Bench bench;
    bench.virtual_function("0000:01:00.2", "0000:01:00.0", "", "");
    bench.names_virtual_function("0000:01:00.0", "virtfn1", "0000:01:00.2");
    bench.is_on("0000:01:00.2");
    CHECK(bench.virtual_number(Scheme::rdma_core) == 1U);
    CHECK_FALSE(bench.virtual_number(Scheme::v1).has_value());
}

TEST_CASE("a virtual function has the ARI, functions and slot of its physical one", "[topology]")
{
    Bench bench;
    bench.virtual_function("0000:03:00.2", "0000:03:00.0", "2", "1");
    bench.is_on("0000:03:00.2");
    bench.slot("3", "0000:03:00");
    SECTION("the physical one")
    {
        bench.header("0000:03:00.0", multifunction_header);
        bench.attribute("0000:03:00.0", "ari_enabled", "1");
        CHECK(bench.pci().is_multifunction);
        CHECK(bench.pci().has_ari);
    }
    SECTION("its own")
    {
        bench.header("0000:03:00.2", multifunction_header);
        bench.attribute("0000:03:00.2", "ari_enabled", "1");
        CHECK_FALSE(bench.pci().is_multifunction);
        CHECK_FALSE(bench.pci().has_ari);
    }
    CHECK(bench.pci().slot == 3U);
}

TEST_CASE("ACPI's index comes before SMBIOS's", "[topology]")
{
    const OnPci bench;
    bench.attribute("0000:03:00.0", "index", "7");
    CHECK(bench.read().onboard_index == 7U);
    bench.attribute("0000:03:00.0", "acpi_index", "2");
    CHECK(bench.read().onboard_index == 2U);
    CHECK_FALSE(bench.read().onboard_index_is_of_parent);
}

TEST_CASE("an onboard index that is no number is none", "[topology]")
{
    const OnPci bench;
    const auto attribute = GENERATE("acpi_index", "index");
    const auto text = GENERATE("", "-1", "x", "1 2", "4294967296", "0x1");
    CAPTURE(text);
    bench.attribute("0000:03:00.0", attribute, text);
    CHECK_FALSE(bench.read().onboard_index.has_value());
}

TEST_CASE("a virtual function has its own onboard index, or its parent's", "[topology]")
{
    Bench bench;
    bench.virtual_function("0000:01:00.1", "0000:01:00.0", "1", "1");
    bench.is_on("0000:01:00.1");
    bench.attribute("0000:01:00.0", "acpi_index", "4");
    CHECK(bench.read().onboard_index == 4U);
    CHECK(bench.read().onboard_index_is_of_parent);
    bench.attribute("0000:01:00.1", "index", "5");
    CHECK(bench.read().onboard_index == 5U);
    CHECK_FALSE(bench.read().onboard_index_is_of_parent);
}

TEST_CASE("a hot-plug slot is the one with just this address", "[topology]")
{
    const OnPci bench;
    bench.slot("2", "0000:02:00");
    bench.slot("5", "0001:03:00");
    bench.slot("6", "0000:03:01");
    bench.slot("7", "0000:03");
    bench.slot("8", "rubbish");
    bench.tree.directory("bus/pci/slots/9");
    CHECK_FALSE(bench.pci().slot.has_value());
    bench.slot("3", "0000:03:00");
    CHECK(bench.pci().slot == 3U);
}

TEST_CASE("a slot without a number of its own is none", "[topology]")
{
    const OnPci bench;
    const auto name = GENERATE("3-1", "0", "abc", "-3", "4294967296");
    CAPTURE(name);
    bench.slot(name, "0000:03:00");
    CHECK_FALSE(bench.pci().slot.has_value());
    bench.slot("3", "0000:03:00");
    CHECK(bench.pci().slot == 3U);
}

TEST_CASE("all functions of a device are in its slot", "[topology]")
{
    Bench bench;
    bench.slot("3", "0000:03:00");
    bench.slot("4", "0000:03:01");
    SECTION("function 1")
    {
        bench.function("0000:03:00.1");
        bench.is_on("0000:03:00.1");
        CHECK(bench.pci().slot == 3U);
    }
    SECTION("another device")
    {
        bench.function("0000:03:01.1");
        bench.is_on("0000:03:01.1");
        CHECK(bench.pci().slot == 4U);
    }
    SECTION("function 9, by ARI")
    {
        bench.function("0000:03:01.1");
        bench.attribute("0000:03:01.1", "ari_enabled", "1");
        bench.is_on("0000:03:01.1");
        CHECK(bench.pci().slot == 3U);
        CHECK(bench.pci().address == PciAddress{0, 3, 1, 1});
    }
}

TEST_CASE("a machine without hot-plug slots has none", "[topology]")
{
    const OnPci bench;
    bench.tree.remove("bus/pci/slots");
    CHECK_FALSE(bench.pci().slot.has_value());
}

TEST_CASE("nobody looks at slots unless asked to", "[topology]")
{
    const OnPci bench;
    bench.slot("3", "0000:03:00");
    const auto pci = bench.pci({.with_slot = false});
    CHECK_FALSE(pci.slot.has_value());
    CHECK(pci.address == adapter);
}

TEST_CASE("a sub-function sits where its PCI function does", "[topology]")
{
    Bench bench;
    bench.function("0000:03:00.0");
    bench.attribute("0000:03:00.0", "acpi_index", "4");
    bench.attribute("0000:03:00.0", "ari_enabled", "1");
    bench.header("0000:03:00.0", multifunction_header);
    bench.slot("3", "0000:03:00");
    bench.auxiliary(directory_of("0000:03:00.0"), "mlx5_core.sf.4");
    bench.attribute("0000:03:00.0/mlx5_core.sf.4", "sfnum", "88");
    const auto place = bench.read();
    CHECK(bench.path() == "pci-0000:03:00.0-sf-88");
    CHECK(place.auxiliary_kind == "sf");
    CHECK(place.sub_function == 88U);
    CHECK(place.onboard_index == 4U);
    CHECK(place.onboard_index_is_of_parent);
    REQUIRE(place.pci.has_value());
    CHECK(place.pci->address == adapter);
    CHECK(place.pci->has_ari);
    CHECK(place.pci->is_multifunction);
    CHECK(place.pci->slot == 3U);
    CHECK_FALSE(place.pci->virtual_function.has_value());
}

TEST_CASE("a sub-function of a virtual function has both numbers", "[topology]")
{
    Bench bench;
    bench.virtual_function("0000:01:00.2", "0000:01:00.0", "1", "1");
    bench.attribute("0000:01:00.0", "acpi_index", "4");
    bench.auxiliary(directory_of("0000:01:00.2"), "mlx5_core.sf.4");
    bench.attribute("0000:01:00.2/mlx5_core.sf.4", "sfnum", "0");
    const auto place = bench.read();
    CHECK(place.sub_function == 0U);
    CHECK(bench.path() == "pci-0000:01:00.2-sf-0");
    CHECK(place.onboard_index == 4U);
    CHECK(place.onboard_index_is_of_parent);
    CHECK(bench.pci().virtual_function == 1U);
    CHECK(bench.pci().address == PciAddress{0, 1, 0, 0});
}

TEST_CASE("an auxiliary device without a number has its kind", "[topology]")
{
    Bench bench;
    bench.function("0000:03:00.0");
    struct Case {
        const char *name, *kind;
    };
    const auto c = GENERATE(values<Case>({
        {"ice.roce.0", "roce"},
        {"bnxt_en.rdma.3", "rdma"},
    }));
    bench.auxiliary(directory_of("0000:03:00.0"), c.name);
    CHECK(bench.read().auxiliary_kind == c.kind);
    CHECK_FALSE(bench.read().sub_function.has_value());
    const auto text = GENERATE("", "x", "-1", "4294967296");
    bench.attribute("0000:03:00.0/"s + c.name, "sfnum", text);
    CHECK_FALSE(bench.read().sub_function.has_value());
}

TEST_CASE("an auxiliary device with an odd name is still told from its PCI function", "[topology]")
{
    Bench bench;
    bench.function("0000:03:00.0");
    bench.auxiliary(directory_of("0000:03:00.0"), GENERATE("x", "a.b", "a..b"));
    CHECK_FALSE(bench.read().auxiliary_kind.empty());
}

TEST_CASE("an auxiliary device that is not on PCI has no place there", "[topology]")
{
    Bench bench;
    bench.tree.link("devices/platform/HISI00D1:00/subsystem", "../../../bus/platform");
    bench.tree.file("devices/platform/HISI00D1:00/uevent", "PCI_SLOT_NAME=0000:03:00.0\n");
    bench.tree.file("devices/platform/HISI00D1:00/acpi_index", "1\n");
    bench.auxiliary("devices/platform/HISI00D1:00", "hns.roce.0");
    const auto place = bench.read();
    CHECK_FALSE(place.pci.has_value());
    CHECK(place.auxiliary_kind == "roce");
    CHECK_FALSE(place.onboard_index.has_value());
}

TEST_CASE("a platform device has a path, and no place on PCI", "[topology]")
{
    Bench bench;
    bench.tree.link("devices/platform/HISI00D1:00/subsystem", "../../../bus/platform");
    bench.tree.file("devices/platform/HISI00D1:00/uevent", "PCI_SLOT_NAME=0000:03:00.0\n");
    bench.tree.file("devices/platform/HISI00D1:00/acpi_index", "1\n");
    bench.parent_is("devices/platform/HISI00D1:00");
    const auto place = bench.read();
    CHECK(bench.path() == "platform-HISI00D1:00");
    CHECK_FALSE(place.pci.has_value());
    CHECK_FALSE(place.onboard_index.has_value());
}

TEST_CASE("a device that hangs on nothing is nowhere", "[topology]")
{
    Bench bench;
    if (GENERATE(false, true))
        bench.parent_is("devices/gone");
    const auto place = bench.read();
    CHECK(bench.path().empty());
    CHECK_FALSE(place.pci.has_value());
    CHECK(place.node_guid == UINT64_C(0x506b4b0300a1b2c3));
    CHECK(place.prefix == "ib");
}

TEST_CASE("a parent without a bus is no path", "[topology]")
{
    Bench bench;
    bench.tree.directory("devices/odd");
    bench.parent_is("devices/odd");
    CHECK(bench.path().empty());
}

TEST_CASE("prefix, node GUID and ports are those of the kernel", "[topology]")
{
    Bench bench;
    bench.info.device.protocol = GENERATE("roce", "opa");
    bench.info.device.port_count = 2;
    const auto place = bench.read();
    CHECK(place.prefix == *bench.info.device.protocol);
    CHECK(place.node_guid == bench.info.device.node_guid);
    CHECK(place.ports == 2);
    bench.info.device.protocol = std::nullopt;
    CHECK(bench.read().prefix.empty());
}

TEST_CASE("the network device of the only port tells the port's label", "[topology]")
{
    OnPci bench;
    bench.has_netdev("ens3np0");
    bench.tree.file("class/net/ens3np0/phys_port_name", "p0\n");
    CHECK(bench.read().netdev == "ens3np0");
    CHECK(bench.read().port_label == "p0");
    const auto without = bench.read({.with_label = false});
    CHECK(without.netdev == "ens3np0");
    CHECK_FALSE(without.port_label.has_value());
}

TEST_CASE("of two ports neither gives a network device or a label", "[topology]")
{
    OnPci bench;
    bench.has_netdev("ens3np0");
    bench.info.ports.push_back({.port = 2});
    bench.tree.file("class/net/ens3np0/phys_port_name", "p0\n");
    CHECK_FALSE(bench.read().netdev.has_value());
    CHECK_FALSE(bench.read().port_label.has_value());
}

TEST_CASE("a label that cannot be read is none", "[topology]")
{
    OnPci bench;
    bench.has_netdev("ens3");
    SECTION("no such attribute")
    {
        bench.tree.directory("class/net/ens3");
    }
    SECTION("no such network device") {}
    SECTION("the driver refuses")
    {
        bench.tree.directory("class/net/ens3/phys_port_name");
    }
    SECTION("a name that leads elsewhere")
    {
        bench.has_netdev("../elsewhere");
        bench.tree.file("class/elsewhere/phys_port_name", "p0\n");
        bench.tree.directory("class/net");
    }
    CHECK_FALSE(bench.read().port_label.has_value());
}

TEST_CASE("a label without a character is none", "[topology]")
{
    OnPci bench;
    bench.has_netdev("ens3");
    bench.tree.file("class/net/ens3/phys_port_name", "\n");
    CHECK_FALSE(bench.read().port_label.has_value());
}
