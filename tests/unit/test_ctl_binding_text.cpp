// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/binding_text.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <map>

using namespace rdmad::ctl;
using rdmad::config::WaitFor;

namespace {

constexpr char path[] = "/etc/rdmad/binding.d/x.binding";

/// Takes options as the command line has them.
BindRequest request(std::string unit,
                    const std::vector<std::pair<std::string, std::string>>& options)
{
    BindRequest asked{.unit = std::move(unit)};
    for (const auto& [option, value] : options) {
        const auto key =
            std::find_if(bind_keys().begin(), bind_keys().end(),
                         [&, name = &option](const BindKey& one) { return *name == one.option; });
        REQUIRE(key != bind_keys().end());
        asked.values[static_cast<size_t>(key - bind_keys().begin())] = value;
    }
    return asked;
}

std::string refusal(const BindRequest& asked)
{
    const auto normal = normalized(asked);
    if (!normal)
        return normal.error().text;
    const auto text = text_of(*normal, path);
    return text ? "" : text.error().text;
}

std::string name(const BindRequest& asked)
{
    return file_name_of(*normalized(asked));
}

} // namespace

TEST_CASE("the help names the default of each setting", "[binding_text]")
{
    const rdmad::config::BindingFile defaults;
    const std::map<std::string, std::string> expected = {
        {"Node", std::string(to_string(defaults.node))},
        {"Require", defaults.require == rdmad::config::Require::all ? "all" : "any"},
        {"WaitFor", std::string(to_string(defaults.wait_for))},
        {"Restart", defaults.restart == rdmad::config::Restart::no ? "no" : "return"},
        {"OnReplaced", std::string(to_string(defaults.on_replaced))},
        {"OnBlocked", std::string(to_string(defaults.on_blocked))},
        {"Stage", std::string(to_string(defaults.stage))}};
    for (const auto& key : bind_keys()) {
        CAPTURE(key.option, key.help);
        const bool is_told = std::string(key.help).find(" (default)") != std::string::npos;
        CHECK(is_told == !is_match(key));
        if (is_told)
            CHECK(std::string(key.help).find(expected.at(key.key) + " (default)") !=
                  std::string::npos);
    }
}

TEST_CASE("the file says what was asked for, and that rdmactl wrote it", "[binding_text]")
{
    const auto asked = normalized(
        request("srp", {{"--port-guid", "0x0002:C903:0000:0a01"}, {"--wait-for", "active"}}));
    REQUIRE(asked.has_value());
    const auto text = text_of(*asked, path);
    REQUIRE(text.has_value());
    CHECK(*text == "# Written by \"rdmactl bind\"; \"rdmactl unbind\" removes it. See "
                   "rdmad.binding(5).\n"
                   "[Match]\nPortGUID=0002c90300000a01\n"
                   "[Binding]\nUnit=srp.service\nWaitFor=active\n");
    CHECK(is_own(*text));
    CHECK_FALSE(is_own("[Match]\n" + *text));
    const auto read = understand(*text, path);
    CHECK(read.units == std::vector<std::string>{"srp.service"});
    CHECK(read.wait_for == WaitFor::active);
}

TEST_CASE("each option is a key of the file and a parameter of the call", "[binding_text]")
{
    for (size_t i = 0; i < bind_keys().size(); i++) {
        const auto& key = bind_keys()[i];
        BindRequest asked{.unit = "a.service"};
        asked.values[i] = "x";
        CHECK(parameters_of(asked) == Json{{"unit", "a.service"}, {key.parameter, "x"}});
        // of a value that is wrong the parser tells the key, so the key is one that it knows
        const auto text = text_of(asked, path);
        CHECK((text ? text->find(std::string("\n") + key.key + "=x\n") != std::string::npos
                    : text.error().text.find("unknown key") == std::string::npos));
    }
}

TEST_CASE("units with characters that mean something in a file are read as given", "[binding_text]")
{
    for (const std::string unit : {"srp-a\\x2db.service", "a@%d:%p.service", "a\\.service"}) {
        const auto asked = request(unit, {{"--device", "*"}});
        const auto text = text_of(asked, path);
        REQUIRE(text.has_value());
        CHECK(understand(*text, path).units == std::vector<std::string>{unit});
    }
}

TEST_CASE("a value cannot write lines of its own", "[binding_text]")
{
    for (const std::string value : {"x\nPort=1", "x\n[Binding]\nUnit=evil.service", "x\\",
                                    "x\r\nPort=1", "\xff", "x\n# comment", "x\\\n"})
        CHECK_FALSE(refusal(request("a", {{"--device", value}, {"--netdev", "ib0"}})).empty());
    CHECK_FALSE(refusal(request("a.service\nUnit=evil", {{"--device", "x"}})).empty());
    CHECK_FALSE(refusal(request("a.service evil", {{"--device", "x"}})).empty());
    CHECK_FALSE(refusal(request("../a", {{"--device", "x"}})).empty());
    CHECK(refusal(request("a", {{"--device", "#x"}})).empty());
    CHECK(refusal(request("a", {{"--device", "x=y"}})).empty());
}

TEST_CASE("what rdmad's parser refuses is refused, and the key is told", "[binding_text]")
{
    CHECK(refusal(request("a", {{"--port-guid", "12"}})).starts_with("--port-guid: '12'"));
    CHECK(refusal(request("a", {{"--device", "x"}, {"--node", "y"}})) ==
          "--node: 'y' is not one of uverbs, umad, issm");
    CHECK(refusal(request("a.service b", {{"--device", "x"}})).starts_with("UNIT: 'a.service b"));
    CHECK(refusal(request("a", {{"--device", std::string(70000, 'x')}})).find("64 KiB") !=
          std::string::npos);
}

TEST_CASE("ports must be named, and by something", "[binding_text]")
{
    CHECK(refusal(request("a", {})).starts_with("say which ports"));
    CHECK(refusal(request("a", {{"--node", "umad"}})).starts_with("say which ports"));
    CHECK(refusal(request("a", {{"--device", " "}})) == "--device is empty");
    CHECK(refusal(request("a", {{"--device", "x"}, {"--node", ""}})) == "--node is empty");
}

TEST_CASE("the file's name stands for the unit and what is matched", "[binding_text]")
{
    const auto plain = name(request("srp", {{"--device", "mlx5_0"}}));
    // it never changes, or files of an earlier version would be doubled
    CHECK(plain == "50-srp.service-a06aad0afa101a6f.binding");
    CHECK(name(request("srp.service", {{"--device", "mlx5_0"}, {"--restart", "no"}})) == plain);
    CHECK(name(request("srp", {{"--device", "mlx5_1"}})) != plain);
    CHECK(name(request("srp", {{"--netdev", "mlx5_0"}})) != plain);
    CHECK(name(request("srq", {{"--device", "mlx5_0"}})) != plain);
    CHECK(name(request("srp", {{"--port-guid", "0X0002C90300000A01"}})) ==
          name(request("srp", {{"--port-guid", "0002:c903:0000:0a01"}})));
}

TEST_CASE("the file's name fits, whatever the unit", "[binding_text]")
{
    const std::string start(230, 'x');
    const auto left = name(request(start + "a", {{"--device", "x"}}));
    CHECK(left.size() <= 255);
    CHECK(left != name(request(start + "b", {{"--device", "x"}})));
    CHECK(name(request("../../a", {{"--device", "x"}})).find('/') == std::string::npos);
}
