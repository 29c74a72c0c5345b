// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"
#include "udev-helpers/rdma_id/naming/decision.hpp"

using namespace rdmad;
using namespace rdmad::rdma_id;
using namespace rdmad::test;
using namespace std::string_literals;
using naming::LinkType;
using naming::Scheme;

namespace {

using List = std::vector<std::string>;

const std::string folder = "etc/rdmad/link.d/";
const std::string match_all = "[Match]\nOriginalName=*\n[Link]\n";
const std::string function = "devices/pci0000:00/0000:03:00.0";

/// A RoCE adapter with one port, on PCI, and what there is to decide by.
struct Bench {
    FixtureTree tree;
    DeviceInfo info;
    NameRecords records{tree.path("run/rdmad")};
    config::Facts host = {};
    EventProperties properties = {};
    std::optional<Scheme> asked = {};
    std::optional<NamingInput> input = {}; ///< of the last decision, which points into it

    Bench()
    {
        tree.directory("run");
        tree.link("class/infiniband/mlx5_0/device", "../../../" + function);
        add_function(function, "0000:03:00.0");
        tree.file("class/net/ens3np0/phys_port_name", "p0\n");
        info.driver = "mlx5_core";
        auto& device = info.device;
        device.index = 4;
        device.name = "mlx5_0";
        device.port_count = 1;
        device.node_guid = UINT64_C(0x506b4b0300a1b2c3);
        device.sys_image_guid = UINT64_C(0x506b4b0300a1b2c0);
        device.node_type = 1;
        device.protocol = "roce";
        info.ports = {{.port = 1,
                       .link_type = LinkType::roce,
                       .guid = UINT64_C(0x526b4bfffea1b2c3),
                       .netdev = "ens3np0"}};
    }
    void add_function(const std::string& path, const std::string& address) const
    {
        tree.link(path + "/subsystem", "../../../bus/pci");
        tree.file(path + "/uevent", "PCI_SLOT_NAME=" + address + "\n");
    }
    void file(const std::string& name, const std::string& text) const
    {
        tree.file(folder + name, text);
    }
    /// One file that matches every device.
    void links(const std::string& lines) const
    {
        file("50-default.link", match_all + lines);
    }
    void is_called(const std::string& name)
    {
        tree.rename("class/infiniband/" + info.device.name, "class/infiniband/" + name);
        info.device.name = name;
    }
    /// A virtual function of the adapter, on the next bus.
    void is_virtual() const
    {
        const auto own = "devices/pci0000:00/0000:04:00.1"s;
        add_function(own, "0000:04:00.1");
        tree.link(own + "/physfn", "../0000:03:00.0");
        tree.file(function + "/sriov_offset", "1\n");
        tree.file(function + "/sriov_stride", "1\n");
        tree.link(function + "/virtfn2", "../0000:03:00.1");
        tree.remove("class/infiniband/mlx5_0/device");
        tree.link("class/infiniband/mlx5_0/device", "../../../" + own);
    }

    Decision decide()
    {
        const auto root = tree.root();
        const Snapshot device = {must_find(find_device_target(root, info.device.name)), info};
        input.emplace(NamingInput{root,
                                  config::read_link_files(tree.path()),
                                  records,
                                  host,
                                  {.scheme = asked},
                                  tree.path("run/udev")});
        return decide_name(*input, device, properties);
    }
    List candidates()
    {
        return decide().candidates();
    }
    /// The name of the file that counts, empty if none does.
    std::string file_that_counts()
    {
        const auto decision = decide();
        return decision.file ? decision.file->path.substr(tree.path(folder).size()) : "";
    }
    bool matches(const std::string& line)
    {
        file("50-default.link", "[Match]\n" + line + "\n[Link]\nName=x\n");
        return decide().file != nullptr;
    }
};

List policies_of(const Decision& decision)
{
    List list;
    for (const auto& attempt : decision.attempts)
        list.push_back(attempt.by);
    return list;
}

} // namespace

TEST_CASE("without a file a device keeps its name", "[decision]")
{
    Bench bench;
    const auto decision = bench.decide();
    CHECK(decision.file == nullptr);
    CHECK(decision.original == "mlx5_0");
    CHECK(decision.attempts.empty());
    CHECK(decision.candidates().empty());
}

TEST_CASE("a device that no file matches keeps its name", "[decision]")
{
    Bench bench;
    bench.file("10-a.link", "[Match]\nDriver=siw\n[Link]\nName=a\n");
    bench.file("20-b.link", "[Match]\nDriver=mlx5_core\nLinkType=infiniband\n[Link]\nName=b\n");
    CHECK(bench.decide().file == nullptr);
    CHECK(bench.candidates().empty());
}

TEST_CASE("the first file that matches counts, and no other", "[decision]")
{
    Bench bench;
    bench.file("10-a.link", "[Match]\nDriver=siw\n[Link]\nName=a\n");
    bench.file("20-b.link", match_all + "Name=b\n");
    bench.file("30-c.link", match_all + "Name=c\n");
    CHECK(bench.file_that_counts() == "20-b.link");
    CHECK(bench.candidates() == List{"b"});
}

TEST_CASE("a file that gives no name leaves none to the next", "[decision]")
{
    Bench bench;
    bench.file("10-a.link", match_all + "NamePolicy=slot\n");
    bench.file("20-b.link", match_all + "Name=b\n");
    CHECK(bench.file_that_counts() == "10-a.link");
    CHECK(bench.candidates().empty());
}

TEST_CASE("a device whose file has problems keeps its name", "[decision]")
{
    Bench bench;
    bench.file("10-a.link", match_all + "NamePolicy=path\nNamePolicy=pth\nName=a\n");
    bench.file("20-b.link", match_all + "Name=b\n");
    const auto decision = bench.decide();
    REQUIRE(decision.file != nullptr);
    CHECK(decision.file->problems.size() == 1);
    CHECK_FALSE(decision.keeps.empty());
    CHECK(decision.candidates().empty());
}

TEST_CASE("after a file whose [Match] is not sound the next one counts", "[decision]")
{
    Bench bench;
    bench.file("10-a.link", "[Match]\nOriginalName=*\nDrivers=x\n[Link]\nName=a\n");
    bench.file("20-b.link", match_all + "Name=b\n");
    CHECK(bench.file_that_counts() == "20-b.link");
    CHECK(bench.candidates() == List{"b"});
}

TEST_CASE("a file matches by what the device is", "[decision]")
{
    Bench bench;
    const auto line =
        GENERATE("OriginalName=mlx5_?", "Driver=mlx5_core", "Path=pci-0000:03:00.0", "NodeType=ca",
                 "NodeGUID=506b:4b03:00a1:b2c3", "SysImageGUID=506b4b0300a1b2c0",
                 "PortGUID=526b4bfffea1b2c3", "LinkType=roce", "NetDev=ens3*");
    CAPTURE(line);
    CHECK(bench.matches(line));
}

TEST_CASE("a file does not match by what another device is", "[decision]")
{
    Bench bench;
    const auto line =
        GENERATE("OriginalName=mlx5_1", "Driver=siw", "Path=pci-0000:03:00.1", "NodeType=rnic",
                 "NodeGUID=506b4b0300a1b2c0", "SysImageGUID=506b4b0300a1b2c3",
                 "PortGUID=506b4b0300a1b2c3", "LinkType=infiniband", "NetDev=p0", "Host=*");
    CAPTURE(line);
    CHECK_FALSE(bench.matches(line));
}

TEST_CASE("a file matches by any port", "[decision]")
{
    Bench bench;
    bench.info.ports.push_back({.port = 2,
                                .link_type = LinkType::infiniband,
                                .guid = UINT64_C(0x526b4bfffea1b2c4),
                                .netdev = "ib1"});
    CHECK(bench.matches(GENERATE("PortGUID=526b4bfffea1b2c3", "PortGUID=526b4bfffea1b2c4",
                                 "LinkType=roce", "LinkType=infiniband", "NetDev=ens3np0",
                                 "NetDev=ib1")));
}

TEST_CASE("a file matches by what the machine is", "[decision]")
{
    Bench bench;
    bench.host.host = "node17";
    bench.host.kernel_command_line = "quiet rdma=on";
    CHECK(bench.matches(GENERATE("Host=node*", "KernelCommandLine=rdma=on")));
}

TEST_CASE("what a device does not have matches nothing", "[decision]")
{
    Bench bench;
    bench.info.driver = std::nullopt;
    bench.info.ports = {{.port = 1, .link_type = LinkType::roce}};
    bench.tree.remove("class/infiniband/mlx5_0/device");
    bench.tree.directory("class/infiniband/mlx5_0");
    const auto line = GENERATE("Driver=*", "Path=*", "PortGUID=*", "NetDev=*");
    CAPTURE(line);
    CHECK_FALSE(bench.matches(line));
}

TEST_CASE("a GUID that is not set matches nothing", "[decision]")
{
    Bench bench;
    bench.info.device.node_guid = 0;
    bench.info.device.sys_image_guid = 0;
    const auto line = GENERATE("NodeGUID=*", "SysImageGUID=*");
    CAPTURE(line);
    CHECK_FALSE(bench.matches(line));
}

TEST_CASE("a file matches by the name before rdmad gave it one", "[decision]")
{
    Bench bench;
    bench.is_called("ibp3s0");
    bench.records.write({4, 0}, {"mlx5_0", "ibp3s0"});
    CHECK(bench.matches("OriginalName=mlx5_0"));
    CHECK_FALSE(bench.matches("OriginalName=ibp3s0"));
    CHECK(bench.decide().original == "mlx5_0");
}

TEST_CASE("the record of another device does not count", "[decision]")
{
    Bench bench;
    bench.records.write({5, 0}, {"mlx5_7", "ibp3s0"});
    bench.links("NamePolicy=keep kernel\n");
    CHECK(bench.decide().original == "mlx5_0");
    CHECK(bench.candidates() == List{"mlx5_0"});
}

TEST_CASE("a name that a user chose stays", "[decision]")
{
    Bench bench;
    bench.links("NamePolicy=path guid\nName=x\n");
    bench.info.device.name_assign_type = uint8_t{1};
    CHECK_FALSE(bench.decide().keeps.empty());
    CHECK(bench.candidates().empty());
}

TEST_CASE("a name that a user chose stays without a file as well", "[decision]")
{
    Bench bench;
    bench.info.device.name_assign_type = uint8_t{1};
    CHECK(bench.decide().file == nullptr);
    CHECK(bench.candidates().empty());
}

TEST_CASE("a name of the kernel, or of nobody knows whom, does not stay", "[decision]")
{
    Bench bench;
    bench.links("Name=x\n");
    bench.info.device.name_assign_type =
        GENERATE(as<std::optional<uint8_t>>(), std::nullopt, uint8_t{0});
    CHECK(bench.decide().keeps.empty());
    CHECK(bench.candidates() == List{"x"});
}

TEST_CASE("policy keep keeps a name that somebody gave after rdmad", "[decision]")
{
    Bench bench;
    bench.links("NamePolicy=keep path\nName=x\n");
    bench.records.write({4, 0}, {"mlx5_0", "rocep3s0"});
    bench.is_called("storage");
    const auto decision = bench.decide();
    CHECK(decision.candidates() == List{"storage"});
    CHECK(decision.original == "mlx5_0");
}

TEST_CASE("policy keep does not keep what rdmad or the kernel gave", "[decision]")
{
    Bench bench;
    bench.links("NamePolicy=keep path\n");
    SECTION("rdmad")
    {
        bench.records.write({4, 0}, {"mlx5_0", "old"});
        bench.is_called("old");
    }
    SECTION("the kernel")
    {
        bench.records.write({4, 0}, {"mlx5_0", "old"});
    }
    SECTION("without a record")
    {
        bench.is_called("storage");
    }
    const auto decision = bench.decide();
    CHECK(decision.keeps.empty());
    CHECK(decision.candidates() == List{"rocep3s0"});
    REQUIRE(decision.attempts.size() == 2);
    CHECK(decision.attempts[0].by == "keep");
    CHECK(decision.attempts[0].outcome.name.empty());
    CHECK_FALSE(decision.attempts[0].outcome.why_not.empty());
}

TEST_CASE("without policy keep a name that somebody gave does not stay", "[decision]")
{
    Bench bench;
    bench.links("NamePolicy=path\n");
    bench.records.write({4, 0}, {"mlx5_0", "rocep3s0"});
    bench.is_called("storage");
    CHECK(bench.candidates() == List{"rocep3s0"});
}

TEST_CASE("policy keep behind one that gives no name keeps", "[decision]")
{
    Bench bench;
    bench.links("NamePolicy=slot keep path\n");
    bench.records.write({4, 0}, {"mlx5_0", "rocep3s0"});
    bench.is_called("storage");
    CHECK(bench.candidates() == List{"storage"});
}

TEST_CASE("a policy before keep goes before it", "[decision]")
{
    Bench bench;
    bench.links("NamePolicy=path keep guid\nName=x\n");
    bench.records.write({4, 0}, {"mlx5_0", "rocep3s0"});
    bench.is_called("storage");
    CHECK(bench.candidates() == List{"rocep3s0", "storage"});
}

TEST_CASE("policy keep does not keep the name for the moment of a swap", "[decision]")
{
    Bench bench;
    bench.links("NamePolicy=keep path\n");
    bench.records.write({4, 0}, {"mlx5_0", "rocep3s0"});
    bench.is_called(naming::temporary_name(4));
    CHECK(bench.candidates() == List{"rocep3s0"});
}

TEST_CASE("policy kernel gives the original name", "[decision]")
{
    Bench bench;
    bench.links("NamePolicy=kernel\n");
    CHECK(bench.candidates() == List{"mlx5_0"});
    bench.records.write({4, 0}, {"mlx5_9", "ibp3s0"});
    CHECK(bench.candidates() == List{"mlx5_9"});
    bench.is_called("storage");
    CHECK(bench.candidates() == List{"mlx5_9"});
}

TEST_CASE("names are tried in the order of the policies, and Name= after them", "[decision]")
{
    Bench bench;
    bench.links("Name=%x-%D\nNamePolicy=guid slot path onboard netdev kernel\n");
    const auto decision = bench.decide();
    CHECK(policies_of(decision) ==
          List{"guid", "slot", "path", "onboard", "netdev", "kernel", "Name="});
    CHECK(decision.candidates() ==
          List{"rocex506b4b0300a1b2c3", "rocep3s0", "roce-ens3np0", "mlx5_0", "roce-mlx5_core"});
    CHECK(decision.keeps.empty());
    for (const auto& attempt : decision.attempts)
        CHECK(attempt.outcome.name.empty() != attempt.outcome.why_not.empty());
}

TEST_CASE("Name= that gives nothing says why", "[decision]")
{
    Bench bench;
    bench.info.ports[0].netdev = std::nullopt;
    bench.links("Name=x%N\n");
    const auto decision = bench.decide();
    REQUIRE(policies_of(decision) == List{"Name="});
    CHECK_FALSE(decision.attempts[0].outcome.why_not.empty());
    CHECK(decision.candidates().empty());
}

TEST_CASE("without Name= there is no attempt for it", "[decision]")
{
    Bench bench;
    bench.links("NamePolicy=path\n");
    CHECK(policies_of(bench.decide()) == List{"path"});
}

TEST_CASE("a specifier stands for what the device is", "[decision]")
{
    struct Case {
        const char *name, *expected;
    };
    const auto c = GENERATE(values<Case>({
        {"a%k", "amlx5_9"},
        {"a%D", "amlx5_core"},
        {"a%x", "aroce"},
        {"a%t", "aroce"},
        {"a%n", "a506b4b0300a1b2c3"},
        {"a%g", "a526b4bfffea1b2c3"},
        {"a%N", "aens3np0"},
        {"a%l", "ap0"},
    }));
    Bench bench;
    bench.records.write({4, 0}, {"mlx5_9", "old"});
    bench.links("Name="s + c.name + "\n");
    CHECK(bench.candidates() == List{c.expected});
}

TEST_CASE("a specifier without a value gives no name", "[decision]")
{
    Bench bench;
    bench.info.driver = std::nullopt;
    bench.info.device.protocol = std::nullopt;
    bench.info.device.node_guid = 0;
    bench.info.ports[0].guid = std::nullopt;
    bench.info.ports[0].netdev = std::nullopt;
    const auto specifier = GENERATE("%D", "%x", "%n", "%g", "%N", "%l");
    CAPTURE(specifier);
    bench.links("Name=a"s + specifier + "\n");
    CHECK(bench.candidates().empty());
}

TEST_CASE("of two ports specifiers stand for the first, or nothing", "[decision]")
{
    Bench bench;
    bench.info.device.port_count = 2;
    bench.info.ports.push_back({.port = 2,
                                .link_type = LinkType::infiniband,
                                .guid = UINT64_C(0x526b4bfffea1b2c4),
                                .netdev = "ib1"});
    bench.links("Name=a%t-%g\n");
    CHECK(bench.candidates() == List{"aroce-526b4bfffea1b2c3"});
    bench.links("Name=a"s + GENERATE("%N", "%l") + "\n");
    CHECK(bench.candidates().empty());
}

TEST_CASE("the port GUID of a name is the first port's, not the first that is set", "[decision]")
{
    Bench bench;
    bench.info.device.port_count = 2;
    bench.info.ports[0].guid = std::nullopt;
    bench.info.ports.push_back({.port = 2, .guid = UINT64_C(0x526b4bfffea1b2c4)});
    bench.links("Name=a%g\n");
    CHECK(bench.candidates().empty());
}

TEST_CASE("the scheme is v1 unless a file says otherwise", "[decision]")
{
    Bench bench;
    bench.is_virtual();
    bench.links("NamePolicy=path\n");
    CHECK(bench.decide().scheme == Scheme::v1);
    CHECK(bench.candidates() == List{"rocep3s0v256"});
    bench.links("NamePolicy=path\nNamingScheme=rdma-core\n");
    CHECK(bench.decide().scheme == Scheme::rdma_core);
    CHECK(bench.candidates() == List{"rocep3s0"});
}

TEST_CASE("the scheme that the kernel is asked for goes before the file's", "[decision]")
{
    Bench bench;
    bench.is_virtual();
    SECTION("rdma-core")
    {
        bench.asked = Scheme::rdma_core;
        bench.links(GENERATE("NamePolicy=path\nNamingScheme=v1\n", "NamePolicy=path\n"));
        CHECK(bench.decide().scheme == Scheme::rdma_core);
        CHECK(bench.candidates() == List{"rocep3s0"});
    }
    SECTION("v1")
    {
        bench.asked = Scheme::v1;
        bench.links("NamePolicy=path\nNamingScheme=rdma-core\n");
        CHECK(bench.decide().scheme == Scheme::v1);
        CHECK(bench.candidates() == List{"rocep3s0v256"});
    }
}

TEST_CASE("a virtual function has its number by the scheme that counts", "[decision]")
{
    Bench bench;
    bench.is_virtual();
    std::string config(64, '\0');
    config[0x0e] = '\x80';
    bench.tree.file(function + "/config", config);
    bench.links("NamePolicy=path\n");
    CHECK(bench.candidates() == List{"rocep3s0f0v256"});
    bench.asked = Scheme::rdma_core;
    CHECK(bench.candidates() == List{"rocep3s0f0v2"});
}

TEST_CASE("a virtual function matches by its own path", "[decision]")
{
    Bench bench;
    bench.is_virtual();
    CHECK(bench.matches("Path=pci-0000:04:00.1"));
    CHECK_FALSE(bench.matches("Path=pci-0000:03:00.0"));
}

TEST_CASE("an onboard index and a slot name a device", "[decision]")
{
    Bench bench;
    bench.tree.file(function + "/acpi_index", "2\n");
    bench.tree.file("bus/pci/slots/7/address", "0000:03:00\n");
    bench.links("NamePolicy=onboard slot path\n");
    CHECK(bench.candidates() == List{"roceo2", "roces7", "rocep3s0"});
}

TEST_CASE("PortLabel= appends the label of the port", "[decision]")
{
    Bench bench;
    bench.tree.file(function + "/acpi_index", "2\n");
    bench.tree.file("bus/pci/slots/7/address", "0000:03:00\n");
    bench.links("NamePolicy=onboard slot path guid netdev kernel\nName=x\nPortLabel=yes\n");
    CHECK(bench.candidates() == List{"roceo2np0", "roces7np0", "rocep3s0np0",
                                     "rocex506b4b0300a1b2c3", "roce-ens3np0", "mlx5_0", "x"});
}

TEST_CASE("PortLabel= without a label gives no such name", "[decision]")
{
    Bench bench;
    bench.tree.remove("class/net/ens3np0");
    bench.links("NamePolicy=path guid\nPortLabel=yes\n");
    const auto decision = bench.decide();
    CHECK(decision.candidates() == List{"rocex506b4b0300a1b2c3"});
    REQUIRE(policies_of(decision) == List{"path", "guid"});
    CHECK_FALSE(decision.attempts[0].outcome.why_not.empty());
}

TEST_CASE("a label that is none gives no name", "[decision]")
{
    Bench bench;
    bench.tree.file("class/net/ens3np0/phys_port_name", GENERATE("a/b\n", "p 0\n", "\xff\n"));
    bench.links("NamePolicy=path\nName=a%l\nPortLabel=yes\n");
    CHECK(bench.candidates().empty());
}

TEST_CASE("candidates are the names that attempts gave, in order", "[decision]")
{
    Decision decision;
    CHECK(decision.candidates().empty());
    decision.attempts = {{"onboard", {.why_not = "no"}},
                         {"path", {.name = "ibp3s0"}},
                         {"guid", {.name = "ibx1"}},
                         {"Name=", {.why_not = "no"}},
                         {"Name=", {.name = "a"}}};
    CHECK(decision.candidates() == List{"ibp3s0", "ibx1", "a"});
    decision.keeps = "a reason";
    CHECK(decision.candidates().empty());
}

TEST_CASE("a device that is called after its network device waits until udev knows that",
          "[decision]")
{
    Bench bench;
    const std::string netdev = function + "/net/ens3np0";
    bench.tree.remove("class/net/ens3np0");
    bench.tree.link("class/net/ens3np0", "../../" + netdev);
    bench.tree.link(netdev + "/device", "../../../0000:03:00.0");
    bench.tree.file(netdev + "/ifindex", "7\n");
    bench.tree.directory(function + "/infiniband/mlx5_0");
    const auto waits = [&] {
        const auto decision = bench.decide();
        CHECK(decision.keeps.empty() == !decision.candidates().empty());
        CHECK(decision.waits == !decision.keeps.empty());
        return decision.keeps == "its network device ens3np0 has not got its own name yet";
    };
    SECTION("by policy")
    {
        bench.links("NamePolicy=netdev path\n");
        CHECK(waits());
        bench.tree.file("run/udev/data/n7",
                        "I:1\nE:ID_NET_NAME=ens3np0\nE:ID_RENAMING=1\nG:systemd\n");
        CHECK(waits());
        bench.tree.file("run/udev/data/n7", "E:ID_RENAMING=1\nV:1\n");
        CHECK(waits());
        bench.tree.file("run/udev/data/n7", "I:1\n");
        CHECK(bench.candidates() == List{"roce-ens3np0", "rocep3s0"});
    }
    SECTION("by Name=")
    {
        bench.links("Name=x-%N\n");
        CHECK(waits());
        bench.tree.file("run/udev/data/n7", "I:1\n");
        CHECK(bench.candidates() == List{"x-ens3np0"});
    }
    SECTION("not if a name before it is to be had")
    {
        bench.links("NamePolicy=path netdev\nName=%N\n");
        CHECK_FALSE(waits());
        bench.links("Name=%D\n");
        CHECK_FALSE(waits());
    }
    SECTION("not for one on another parent")
    {
        bench.tree.remove(function + "/infiniband");
        bench.links("NamePolicy=netdev\n");
        CHECK(bench.candidates() == List{"roce-ens3np0"});
    }
    SECTION("while it is being renamed")
    {
        bench.tree.remove("class/net/ens3np0");
        bench.links("NamePolicy=netdev\n");
        CHECK(waits());
    }
    SECTION("not for one on another parent that has gone")
    {
        bench.tree.remove("class/net/ens3np0");
        bench.tree.remove(function + "/net");
        bench.links("NamePolicy=netdev\n");
        CHECK(bench.candidates() == List{"roce-ens3np0"});
    }
}

TEST_CASE("a name of an initrd is not one that a user gave, while the device waits", "[decision]")
{
    Bench bench;
    bench.links("NamePolicy=keep path\n");
    bench.records.write({4, 0}, {"mlx5_9"});
    CHECK(bench.candidates() == List{"rocep3s0"});
}

TEST_CASE("a device that a file may match by Property= waits where no property is known",
          "[decision]")
{
    Bench bench;
    bench.file("10-role.link", "[Match]\nProperty=ROLE=x\n[Link]\nName=x\n");
    bench.links("NamePolicy=path\n");
    CHECK(bench.decide().waits);
    CHECK(bench.candidates().empty());
    bench.properties = [](const std::string&) { return std::nullopt; };
    CHECK_FALSE(bench.decide().waits);
    CHECK(bench.candidates() == List{"rocep3s0"});
    // one that does not match by another key tells all that is needed
    bench.properties = {};
    bench.file("10-role.link", "[Match]\nProperty=ROLE=x\nDriver=siw\n[Link]\nName=x\n");
    CHECK(bench.candidates() == List{"rocep3s0"});
}

TEST_CASE("a device whose driver a file asks for waits in the event of a umad node that comes "
          "before ib_uverbs has the device",
          "[decision]")
{
    Bench bench;
    std::string subsystem = "infiniband_mad";
    bench.properties = [&](const std::string& key) {
        return key == "SUBSYSTEM" ? std::optional(subsystem) : std::nullopt;
    };
    bench.info.driver = std::nullopt;
    bench.tree.directory("class/infiniband_verbs");
    bench.links("NamePolicy=path\n");
    CHECK(bench.candidates() == List{"rocep3s0"});
    bench.file("10-soft.link", GENERATE("[Match]\nDriver=rdma_rxe\n[Link]\nName=soft\n",
                                        "[Match]\nOriginalName=*\n[Link]\nName=%D\n"));
    CHECK(bench.decide().waits);
    CHECK(bench.candidates().empty());
    SECTION("another event decides in any case")
    {
        subsystem = GENERATE("infiniband_verbs", "infiniband", "net");
    }
    SECTION("the driver is known")
    {
        bench.info.driver = "rdma_rxe";
        CHECK(bench.candidates().size() == 1);
    }
    SECTION("ib_uverbs is not loaded")
    {
        bench.tree.remove("class/infiniband_verbs");
    }
    SECTION("a user chose the name")
    {
        bench.info.device.name_assign_type = uint8_t{1};
    }
    CHECK_FALSE(bench.decide().waits);
}
