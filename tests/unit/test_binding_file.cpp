// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/binding_file.hpp"
#include "core/config/specifiers.hpp"
#include "tests/catch.hpp"

using namespace rdmad::config;

namespace {

using Units = std::vector<std::string>;

constexpr char path[] = "/etc/rdmad/binding.d/10-fabric.binding";
const std::string match_all = "[Match]\nDevice=*\n[Binding]\n";

BindingFile parse(const std::string& text)
{
    auto ini = parse_ini(text, path);
    return parse_binding({.name = "10-fabric.binding",
                          .path = path,
                          .assignments = std::move(ini.assignments),
                          .problems = std::move(ini.problems)});
}

/// The message of the only problem.
std::string problem(const std::string& text)
{
    const auto problems = parse(text).problems;
    REQUIRE(problems.size() == 1);
    return problems[0].message();
}

} // namespace

TEST_CASE("a file with all keys of [Binding] is understood", "[binding_file]")
{
    const auto binding = parse(match_all + "Description=all that there is\n"
                                           "Unit=srp_daemon_port@%d:%p.service other.target\n"
                                           "Unit=g-%g-%n-%t.service\n"
                                           "Node=umad\nRequire=any\nWaitFor=ready\nRestart=no\n"
                                           "OnReplaced=wait\nOnBlocked=stop\n"
                                           "Stage=initiators\n");
    CHECK(binding.problems.empty());
    CHECK(binding.path == path);
    CHECK(binding.units ==
          Units{"srp_daemon_port@%d:%p.service", "other.target", "g-%g-%n-%t.service"});
    CHECK(binding.node == BindingNode::umad);
    CHECK(binding.require == Require::any);
    CHECK(binding.wait_for == WaitFor::ready);
    CHECK(binding.on_replaced == OnReplaced::wait);
    CHECK(binding.on_blocked == OnBlocked::stop);
    CHECK(binding.stage == Stage::initiators);
    CHECK(binding.restart == Restart::no);
    CHECK(binding.match.why_not({.device = "mlx5_0"}).empty());
}

TEST_CASE("what a file does not say, or takes back, is the default", "[binding_file]")
{
    for (const auto* lines :
         {"", "Node=issm\nNode=\nRequire=any\nRequire=\nWaitFor=active\nWaitFor=\n"
              "Restart=no\nRestart=\nOnReplaced=wait\nOnReplaced=\nOnBlocked=stop\nOnBlocked=\n"
              "Stage=targets\nStage=\nUnit=gone.service\nUnit=\n"}) {
        const auto binding = parse(match_all + lines + "Unit=a.service\n");
        CHECK(binding.problems.empty());
        CHECK(binding.units == Units{"a.service"});
        CHECK(binding.node == BindingNode::uverbs);
        CHECK(binding.require == Require::all);
        CHECK(binding.wait_for == WaitFor::present);
        CHECK(binding.restart == Restart::on_return);
        CHECK(binding.on_replaced == OnReplaced::start);
        CHECK(binding.on_blocked == OnBlocked::report);
        CHECK(binding.stage == Stage::applications);
    }
}

TEST_CASE("a binding matches by what a port is", "[binding_file]")
{
    const auto binding =
        parse("[Match]\nPort=2\nLinkType=infiniband\nPortGUID=0002:c9*\nNetDev=ib*\n"
              "[Binding]\nUnit=a.service\n");
    CHECK(binding.problems.empty());
    Facts port{.port = "2",
               .port_guids = {"0002c90300000a02"},
               .link_types = {"infiniband"},
               .netdevs = {"ib1"}};
    CHECK(binding.match.why_not(port).empty());
    port.port = "1";
    CHECK(binding.match.why_not(port) == "Port=2 does not match '1'");
}

TEST_CASE("keys that need an event are none of a binding", "[binding_file]")
{
    CHECK(problem("[Match]\nDevice=*\nProperty=A=1\n[Binding]\nUnit=a.service\n") ==
          std::string(path) + ":3: Property: unknown key in [Match]");
}

TEST_CASE("what is wrong is told with file, line and key, and the file binds nothing",
          "[binding_file]")
{
    const auto at = [](const char* rest) { return std::string(path) + rest; };
    CHECK(problem(match_all + "Unit=a.service\nNode=infiniband\n") ==
          at(":5: Node: 'infiniband' is not one of uverbs, umad, issm"));
    CHECK(problem(match_all + "Unit=a.service\nRequire=some\n") ==
          at(":5: Require: 'some' is not one of all, any"));
    CHECK(problem(match_all + "Unit=a.service\nWaitFor=up\n") ==
          at(":5: WaitFor: 'up' is not one of present, active, ready"));
    CHECK(problem(match_all + "Unit=a.service\nRestart=yes\n") ==
          at(":5: Restart: 'yes' is not one of return, no"));
    CHECK(problem(match_all + "Unit=a.service b\n") ==
          at(":4: Unit: 'b' is not allowed: it does not end in .service, .target, .socket, .mount, "
             ".path, "
             ".timer or .slice"));
    CHECK(problem(match_all + "Unit=a%i.service\n") ==
          at(":4: Unit: 'a%i.service' has a '%' that starts no specifier"));
    CHECK(problem(match_all + "Unit=a.service%\n") ==
          at(":4: Unit: 'a.service%' has a '%' that starts no specifier"));
    CHECK(problem(match_all + "Unit=\"a.service\n") == at(":4: Unit: a quote does not end"));
    CHECK(problem(match_all + "Units=a.service\n") == at(":4: Units: unknown key in [Binding]"));
    CHECK(problem("[Binding]\nUnit=a.service\n") ==
          at(": matches nothing without a [Match] key; Device=* matches every one"));
    CHECK(problem("[Match]\nDevice=*\n") == at(": has no Unit=, so it binds nothing"));
}

TEST_CASE("of many mistakes the first 100 are told, and how many more there are", "[binding_file]")
{
    const auto lines = GENERATE(as<std::string>(), "no assignment\n", "[Match]\nUnknown=\n");
    std::string text;
    for (int i = 0; i < 250; i++)
        text += lines;
    const auto problems = parse(text).problems;
    REQUIRE(problems.size() == 101);
    CHECK(problems[99].line != 0);
    CHECK(problems[100].message() == std::string(path) + ": has 150 more problems");
}

TEST_CASE("a file may name 64 units", "[binding_file]")
{
    std::string units = "Unit=";
    for (int i = 0; i < 64; i++)
        units += "u" + std::to_string(i) + ".service ";
    CHECK(parse(match_all + units + "\n").units.size() == 64);
    CHECK(problem(match_all + units + "one.service\n") ==
          std::string(path) + ":4: Unit: more than 64 units");
}

TEST_CASE("specifiers of a unit stand for the port", "[binding_file]")
{
    const UnitSpecifiers port{.device = "ibp1s0",
                              .port = "1",
                              .port_guid = "0002c90300000a01",
                              .node_guid = "0002c90300000a00",
                              .link_type = "infiniband"};
    CHECK(expand_unit("srp_daemon_port@%d:%p.service", port) == "srp_daemon_port@ibp1s0:1.service");
    CHECK(expand_unit("a-%g-%n-%t.service", port) ==
          "a-0002c90300000a01-0002c90300000a00-infiniband.service");
    CHECK(expand_unit("plain.service", port) == "plain.service");
}

TEST_CASE("a unit whose name cannot be made is none", "[binding_file]")
{
    CHECK_FALSE(expand_unit("a@%g.service", {.device = "siw0"}).has_value());
    CHECK_FALSE(expand_unit("a@%x.service", {.device = "siw0"}).has_value());
    CHECK_FALSE(expand_unit("a.service%", {.device = "siw0"}).has_value());
    CHECK_FALSE(expand_unit("a@%d.service", {.device = "a/b"}).has_value());
    CHECK_FALSE(expand_unit("a@%d.service", {.device = std::string(255, 'a')}).has_value());
}

TEST_CASE("a unit is known by the name with specifiers that it comes of", "[binding_file]")
{
    CHECK(could_become("a@%d:%p.service", "a@mlx5_0:1.service"));
    CHECK(could_become("a\\x2db@%g.service", "a\\x2db@0002.service"));
    CHECK_FALSE(could_become("a@%d:%p.service", "a@mlx5_0.service"));
    CHECK_FALSE(could_become("a@%d.service", "b@mlx5_0.service"));
    CHECK_FALSE(could_become("a.service", "a.service"));
}

TEST_CASE("nodes read as they are written", "[binding_file]")
{
    for (const auto* node : {"uverbs", "umad", "issm"})
        CHECK(to_string(parse(match_all + "Unit=a.service\nNode=" + node + "\n").node) == node);
}
