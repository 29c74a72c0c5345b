// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/bindings/bindings.hpp"
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"
#include "tests/support/sample_device.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

using namespace rdmad;
using namespace rdmad::test;
using namespace std::string_literals;

namespace {

using List = std::vector<std::string>;
using Keys = std::vector<std::pair<std::string, std::string>>;

constexpr char runtime_folder[] = "run/rdmad/binding.d";

config::BindingFile binding(const std::string& text)
{
    auto ini = config::parse_ini(text, "/etc/rdmad/binding.d/50-a.binding");
    return config::parse_binding({.name = "50-a.binding",
                                  .path = "/etc/rdmad/binding.d/50-a.binding",
                                  .assignments = std::move(ini.assignments),
                                  .problems = std::move(ini.problems)});
}

config::BindingFile binding(const std::string& match, const std::string& keys)
{
    auto file = binding("[Match]\n" + match + "\n[Binding]\n" + keys + "\n");
    REQUIRE(file.problems.empty());
    return file;
}

std::vector<Claim> claims(const config::BindingFile& file, const Device& device = sample_device())
{
    return claims_of({file}, device, {});
}

/// "unit node port" of each.
List summary(const std::vector<Claim>& claims)
{
    List lines;
    for (const auto& [unit, member] : claims)
        lines.push_back(unit + " " + member.node + " " + std::to_string(member.port));
    return lines;
}

/// A root with nothing but /run.
struct Bench {
    FixtureTree tree;
    Bindings bindings{tree.path()};

    Bench()
    {
        tree.directory("run");
    }
    [[nodiscard]] List names()
    {
        bindings.read();
        List names;
        for (const auto& file : bindings.files())
            names.push_back(file.name);
        return names;
    }
};

const Keys any_device = {{"Device", "*"}};

std::string text_for(const std::string& unit)
{
    return "[Match]\nDevice=*\n[Binding]\nUnit=" + unit + "\n";
}

} // namespace

// -- what files ask for ---------------------------------------------------------------------------

TEST_CASE("each key of [Match] asks about the port", "[bindings]")
{
    struct Row {
        const char* good; ///< of port 1 alone
        const char* bad;
    };
    const auto row =
        GENERATE(Row{"Port=1\nDevice=mlx5_*", "Device=siw*"}, Row{"Port=1", "Port=3"},
                 Row{"Port=1\nDriver=mlx5_core", "Driver=siw"},
                 Row{"Port=1\nPath=pci-0000:c1:*", "Path=pci-0000:c2:*"},
                 Row{"Port=1\nNodeGUID=0002:c903:0000:0a00", "NodeGUID=0002:c903:0000:0a01"},
                 Row{"Port=1\nSysImageGUID=0002c90300000aff", "SysImageGUID=0002c90300000a00"},
                 Row{"PortGUID=0002c90300000a01", "PortGUID=0002c90300000a00"},
                 Row{"LinkType=infiniband", "LinkType=opa"}, Row{"NetDev=ib*", "NetDev=mlx*"},
                 Row{"Port=1\nHost=node1", "Host=node2"}, Row{"Port=1\nHost=abc", "Host=abd"},
                 Row{"Port=1\nKernelCommandLine=rdma", "KernelCommandLine=quiet"});
    const config::Facts host = {
        .host = "node1", .machine_id = "abc", .kernel_command_line = "ro rdma=1"};
    const auto device = sample_device();
    const auto good = binding(row.good, "Unit=a.service");
    const auto bad = binding(row.bad, "Unit=a.service");
    CAPTURE(row.good, row.bad);
    CHECK(matches(good, facts_of(device, device.ports[0], host)));
    CHECK_FALSE(matches(good, facts_of(device, device.ports[1], host)));
    CHECK_FALSE(matches(bad, facts_of(device, device.ports[0], host)));
    CHECK(summary(claims_of({good, bad}, device, host)) == List{"a.service uverbs0 1"});
}

TEST_CASE("a port that a container made matches nothing", "[bindings]")
{
    const auto any = binding("Device=*", "Unit=a.service");
    auto device = sample_device();
    auto& port = device.ports[1];
    port.has_guid = true;
    port.netdev.clear();
    // one that went there is as it was
    CHECK(summary(claims(any, device)) == List{"a.service uverbs0 1", "a.service uverbs0 2"});
    port.guid.reset();
    CHECK(summary(claims(any, device)) == List{"a.service uverbs0 1"});
}

TEST_CASE("what a port lacks matches no pattern", "[bindings]")
{
    auto device = sample_device();
    device.driver.clear();
    device.path.clear();
    device.ports[0].guid.reset();
    device.ports[0].netdev.clear();
    const auto* match = GENERATE("Driver=*", "Path=*", "PortGUID=*", "NetDev=*", "Host=*");
    CHECK_FALSE(matches(binding(match, "Unit=a.service"), facts_of(device, device.ports[0], {})));
}

TEST_CASE("a file with a problem matches nothing", "[bindings]")
{
    const auto device = sample_device();
    auto file = binding("Device=*", "Unit=a.service");
    CHECK(matches(file, facts_of(device, device.ports[0], {})));
    file.problems.push_back({.what = "something"});
    CHECK_FALSE(matches(file, facts_of(device, device.ports[0], {})));
    CHECK(claims(file).empty());
}

TEST_CASE("a unit that is called after the device waits for its name", "[bindings]")
{
    auto device = sample_device();
    device.is_named = false;
    const auto found =
        claims_of({binding("Device=*\nPort=1", "Unit=a@%d.service b@%g.service")}, device, {});
    REQUIRE(found.size() == 1);
    CHECK(found[0].unit == "b@0002c90300000a01.service");
}

TEST_CASE("each port that matches has the units of the file, by its specifiers", "[bindings]")
{
    CHECK(
        summary(claims(binding("Device=*", "Unit=a.service b@%d:%p.service c-%g-%n-%t.target"))) ==
        List{"a.service uverbs0 1", "b@mlx5_0:1.service uverbs0 1",
             "c-0002c90300000a01-0002c90300000a00-infiniband.target uverbs0 1",
             "a.service uverbs0 2", "b@mlx5_0:2.service uverbs0 2",
             "c-0002c9fffe000a02-0002c90300000a00-roce.target uverbs0 2"});
}

TEST_CASE("a unit that has no name for a port is left out", "[bindings]")
{
    auto device = sample_device();
    device.ports[1].guid.reset();
    CHECK(summary(claims(binding("Device=*", "Unit=a-%g.service"), device)) ==
          List{"a-0002c90300000a01.service uverbs0 1"});
}

TEST_CASE("a port without the node that the file asks for is left out", "[bindings]")
{
    struct Row {
        const char* node;
        List expected;
    };
    const auto row =
        GENERATE(Row{"uverbs", {"a.service uverbs0 1", "a.service uverbs0 2"}},
                 Row{"umad", {"a.service umad0 1"}}, Row{"issm", {"a.service issm0 1"}});
    const auto file = binding("Device=*", "Unit=a.service\nNode="s + row.node);
    CHECK(summary(claims(file)) == row.expected);
    auto bare = sample_device();
    bare.uverbs.reset();
    bare.ports[0].umad.reset();
    bare.ports[0].issm.reset();
    CHECK(claims(file, bare).empty());
}

TEST_CASE("a claim has all that identifies the port", "[bindings]")
{
    const auto all = claims(binding("Port=1", "Unit=a.service\nNode=umad"));
    REQUIRE(all.size() == 1);
    CHECK(all[0].member == Member{.binding = "50-a.binding",
                                  .device = "mlx5_0",
                                  .index = 3,
                                  .port = 1,
                                  .guid = "0002c90300000a01",
                                  .node_guid = "0002c90300000a00",
                                  .path = "pci-0000:c1:00.0",
                                  .node = "umad0",
                                  .syspath = "/sys/devices/umad0",
                                  .is_ready = true});
}

TEST_CASE("a port is ready as WaitFor= asks", "[bindings]")
{
    auto device = sample_device();
    auto& port = device.ports[1];
    port.state = GENERATE("active", "down", "init", "");
    port.has_address = GENERATE(true, false);
    const bool can_carry = port.state == "active" && port.has_address;
    CHECK(claims(binding("Port=2", "Unit=a.service"), device).at(0).member.is_ready);
    CHECK(
        claims(binding("Port=2", "Unit=a.service\nWaitFor=active"), device).at(0).member.is_ready ==
        can_carry);
}

// -- the files ------------------------------------------------------------------------------------

TEST_CASE("files are read in the order of their names, the first folder's first", "[bindings]")
{
    Bench bench;
    bench.tree.file("usr/lib/rdmad/binding.d/10-vendor.binding", text_for("vendor.service"));
    bench.tree.file("usr/local/lib/rdmad/binding.d/20-local.binding", text_for("local.service"));
    bench.tree.file("run/rdmad/binding.d/30-run.binding", text_for("run.service"));
    bench.tree.file("etc/rdmad/binding.d/05-admin.binding", text_for("admin.service"));
    bench.tree.file("etc/rdmad/binding.d/10-vendor.binding", text_for("changed.service"));
    bench.tree.file("run/rdmad/binding.d/20-local.binding", "");
    bench.tree.file("etc/rdmad/binding.d/notes.txt", "x");
    CHECK(bench.names() == List{"05-admin.binding", "10-vendor.binding", "30-run.binding"});
    CHECK(bench.bindings.find("10-vendor.binding")->units == List{"changed.service"});
    CHECK(bench.bindings.find("20-local.binding") == nullptr);
    CHECK_FALSE(is_runtime(*bench.bindings.find("10-vendor.binding")));
    CHECK(is_runtime(*bench.bindings.find("30-run.binding")));
    // what was read is not what is there
    bench.tree.remove("etc");
    CHECK(bench.bindings.files().size() == 3);
    CHECK(bench.names() == List{"10-vendor.binding", "30-run.binding"});
}

TEST_CASE("the first stage that a file says is known, as long as one says it", "[bindings]")
{
    using config::Stage;
    FixtureTree tree;
    Bindings bindings(tree.path());
    const auto stage_with = [&](const std::string& name, const std::string& key) {
        tree.file("etc/rdmad/binding.d/" + name,
                  "[Match]\nDevice=*\n[Binding]\nUnit=a.service\n" + key);
        (void)bindings.read();
        return bindings.earliest_stage();
    };
    CHECK(bindings.earliest_stage() == Stage::applications);
    CHECK(stage_with("a.binding", "") == Stage::applications);
    CHECK(stage_with("b.binding", "Stage=targets\n") == Stage::targets);
    CHECK(stage_with("c.binding", "Stage=initiators\n") == Stage::targets);
    CHECK(stage_with("b.binding", "") == Stage::initiators);
}

TEST_CASE("reading tells which files came, went, or say something else", "[bindings]")
{
    const Bench bench;
    Bindings bindings(bench.tree.path());
    using Changes = std::map<std::string, std::string>;
    const std::string folder = "etc/rdmad/binding.d/";
    CHECK(bindings.read().empty());
    bench.tree.file(folder + "10-a.binding", text_for("a.service"));
    bench.tree.file(folder + "20-b.binding", text_for("b.service"));
    CHECK(bindings.read() == Changes{{"10-a.binding", "added"}, {"20-b.binding", "added"}});
    CHECK(bindings.read().empty());
    bench.tree.file(folder + "10-a.binding", "# the same\n" + text_for("a.service"));
    CHECK(bindings.read().empty());
    bench.tree.file(folder + "20-b.binding.d/x.conf", "[Binding]\nNode=umad\n");
    CHECK(bindings.read() == Changes{{"20-b.binding", "changed"}});
    bench.tree.remove(folder + "20-b.binding");
    bench.tree.file("run/rdmad/binding.d/10-a.binding", text_for("a.service"));
    CHECK(bindings.read() == Changes{{"20-b.binding", "removed"}});
    bench.tree.remove(folder + "10-a.binding");
    // another file of the name
    CHECK(bindings.read() == Changes{{"10-a.binding", "changed"}});
}

TEST_CASE("a file that rdmad writes binds the unit as it was asked to", "[bindings]")
{
    Bench bench;
    const auto name = must(bench.bindings.add(
        "a.service", {{"PortGUID", "0002c90300000a01"}, {"Driver", "mlx5_*"}},
        {{"Node", "umad"}, {"Require", "any"}, {"WaitFor", "active"}, {"Restart", "no"}}));
    CHECK(name.starts_with("50-a.service-"));
    CHECK(name.ends_with(".binding"));
    CHECK(bench.names() == List{name});
    const auto& file = *bench.bindings.find(name);
    CHECK(file.problems.empty());
    CHECK(is_runtime(file));
    CHECK(file.units == List{"a.service"});
    CHECK(file.node == config::BindingNode::umad);
    CHECK(file.require == config::Require::any);
    CHECK(file.wait_for == config::WaitFor::active);
    CHECK(file.restart == config::Restart::no);
    CHECK(file.match.port_guids() == List{"0002c90300000a01"});
    const auto device = sample_device();
    CHECK(matches(file, facts_of(device, device.ports[0], {})));
    CHECK_FALSE(matches(file, facts_of(device, device.ports[1], {})));
}

TEST_CASE("what is bound already is bound once", "[bindings]")
{
    Bench bench;
    const auto name = must(bench.bindings.add("a.service", any_device, {}));
    CHECK(must(bench.bindings.add("a.service", any_device, {})) == name);
    CHECK(bench.tree.list(runtime_folder) == List{name});
    CHECK(must(bench.bindings.add("a.service", {{"Device", "mlx5_0"}}, {})) != name);
    CHECK(must(bench.bindings.add("b.service", any_device, {})) != name);
    CHECK(bench.names().size() == 3);
    // one that asks for the same ports in another way takes its place
    CHECK(must(bench.bindings.add("a.service", any_device, {{"Node", "umad"}})) == name);
    CHECK(bench.names().size() == 3);
    CHECK(bench.bindings.find(name)->node == config::BindingNode::umad);
}

TEST_CASE("a unit's name may be as long as one may be", "[bindings]")
{
    Bench bench;
    const auto unit = std::string(247, 'a') + ".service";
    const auto other = std::string(246, 'a') + "b.service";
    CHECK(must(bench.bindings.add(unit, any_device, {})) !=
          must(bench.bindings.add(other, any_device, {})));
    CHECK(bench.names().size() == 2);
    CHECK(must(bench.bindings.remove(unit)).size() == 1);
    CHECK(bench.names().size() == 1);
}

TEST_CASE("a value that would not stay one line is refused", "[bindings]")
{
    const Bench bench;
    const auto value = GENERATE("a\nUnit=b.service"s, "a\r"s, "a\\"s, "\n"s, "\\"s);
    CHECK(error_of(bench.bindings.add("a.service", {{"Device", value}}, {})) == EINVAL);
    CHECK(error_of(bench.bindings.add("a.service", any_device, {{"Node", value}})) == EINVAL);
    CHECK(bench.tree.list("run").empty());
}

TEST_CASE("a unit whose name would not stay one line is refused", "[bindings]")
{
    const Bench bench;
    const auto unit = GENERATE("a\nUnit=b.service"s, "a\r.service"s, "\n.service"s);
    CHECK(error_of(bench.bindings.add(unit, any_device, {})) == EINVAL);
    CHECK(bench.tree.list("run").empty());
}

TEST_CASE("a unit with a backslash in its name is bound, and no other", "[bindings]")
{
    Bench bench;
    const auto unit = "dev-a\\x2db.service"s;
    (void)must(bench.bindings.add(unit, any_device, {}));
    (void)bench.bindings.read();
    REQUIRE(bench.bindings.files().size() == 1);
    CHECK(bench.bindings.files()[0].units == std::vector<std::string>{unit});
    CHECK(must(bench.bindings.remove(unit)).size() == 1);
}

TEST_CASE("a unit is one word, and one that can be", "[bindings]")
{
    const Bench bench;
    const auto unit = GENERATE(""s, "a"s, "a.service b.service"s, "a.device"s, "@.service"s,
                               "a.service\n[Match]\nDevice=*"s, "a%x.service"s, "../a.service"s,
                               "\"a.service\""s, std::string(256, 'a') + ".service");
    CAPTURE(unit);
    CHECK(error_of(bench.bindings.add(unit, any_device, {})) == EINVAL);
    CHECK(bench.tree.list("run").empty());
}

TEST_CASE("what is wrong with a key is told", "[bindings]")
{
    const Bench bench;
    const auto reason = [&](const Keys& match, const Keys& keys) {
        const auto outcome = bench.bindings.add("a.service", match, keys);
        REQUIRE(error_of(outcome) == EINVAL);
        return outcome.error().context;
    };
    CHECK(reason({{"PortGUID", "12"}}, {}) ==
          "PortGUID: '12' is not a GUID of 16 hexadecimal digits");
    CHECK(reason(any_device, {{"Node", "infiniband"}}) ==
          "Node: 'infiniband' is not one of uverbs, umad, issm");
    CHECK(reason({}, {}).find("matches nothing without a [Match] key") != std::string::npos);
    CHECK(bench.tree.list("run").empty());
}

TEST_CASE("files that rdmad did not write stay", "[bindings]")
{
    Bench bench;
    const auto added = must(bench.bindings.add("a.service", any_device, {}));
    const auto of_another = must(bench.bindings.add("aa.service", any_device, {}));
    bench.tree.file("run/rdmad/binding.d/50-a.service-0.binding", text_for("a.service"));
    bench.tree.file("etc/rdmad/binding.d/50-a.binding", text_for("a.service"));
    CHECK(must(bench.bindings.remove("a.service")) == List{added});
    CHECK(bench.names() == List{"50-a.binding", "50-a.service-0.binding", of_another});
    CHECK(must(bench.bindings.remove("a.service")).empty());
    CHECK(must(bench.bindings.remove(".service")).empty());
}

TEST_CASE("nothing is removed where nothing was added", "[bindings]")
{
    const Bench bench;
    CHECK(must(bench.bindings.remove("a.service")).empty());
}

TEST_CASE("a file that cannot be written is an error that names it", "[bindings]")
{
    const FixtureTree tree;
    const auto outcome = Bindings(tree.path()).add("a.service", any_device, {});
    REQUIRE(error_of(outcome) == ENOENT);
    CHECK(outcome.error().context == tree.path("run/rdmad"));
    tree.file("run/rdmad/binding.d", "");
    const auto blocked = Bindings(tree.path()).add("a.service", any_device, {});
    REQUIRE(error_of(blocked) == ENOTDIR);
    CHECK(blocked.error().context.starts_with(tree.path(runtime_folder)));
}
