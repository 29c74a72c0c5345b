// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/arguments.hpp"
#include "tests/catch.hpp"

#include <CLI/CLI.hpp>

using namespace rdmad::ctl;

namespace {

using Words = std::vector<std::string>;

/// The options of "rdmactl inhibit", as far as they matter here.
struct Line {
    CLI::App app;
    std::string socket;
    std::string device;
    std::string who;
    Words command_of_help;
    bool json = false;

    Line()
    {
        app.add_option("--socket", socket);
        app.add_flag("--json", json);
        app.add_subcommand("wait", "")->add_option("WHAT", device);
        auto* inhibit = app.add_subcommand("inhibit", "");
        inhibit->add_option("--device", device);
        inhibit->add_option("--who", who);
        inhibit->add_option("COMMAND", command_of_help);
        inhibit->add_flag("--json", json);
    }
    [[nodiscard]] Arguments split(const Words& words) const
    {
        return split_arguments(app, words);
    }
    [[nodiscard]] Words command(const Words& words) const
    {
        return split(words).command;
    }
};

} // namespace

TEST_CASE("what inhibit runs is kept from the parser, whatever it is", "[arguments]")
{
    const Line line;
    const auto plain = line.split({"inhibit", "--device", "mlx5_0", "rsync", "--json", "[a", "b]"});
    CHECK(plain.own == Words{"inhibit", "--device", "mlx5_0"});
    CHECK(plain.command == Words{"rsync", "--json", "[a", "b]"});
    const auto marked = line.split({"inhibit", "--json", "--", "--odd", "--", "x"});
    CHECK(marked.own == Words{"inhibit", "--json"});
    CHECK(marked.command == Words{"--odd", "--", "x"});
    const auto after = line.split({"--socket", "inhibit", "inhibit", "sleep", "9"});
    CHECK(after.own == Words{"--socket", "inhibit", "inhibit"});
    CHECK(after.command == Words{"sleep", "9"});
}

TEST_CASE("a value of an option is no command", "[arguments]")
{
    const Line line;
    CHECK(line.command({"inhibit", "--device", "x", "run"}) == Words{"run"});
    CHECK(line.command({"inhibit", "--who", "x", "run"}) == Words{"run"});
    CHECK(line.command({"inhibit", "--socket", "x", "run"}) == Words{"run"});
    CHECK(line.command({"inhibit", "--device=x", "run"}) == Words{"run"});
    CHECK(line.command({"inhibit", "--json", "run"}) == Words{"run"});
    CHECK(line.command({"inhibit", "--unknown", "run"}) == Words{"run"});
    // a word of its own, as many programs take it for standard input
    CHECK(line.command({"inhibit", "-", "run"}) == Words{"-", "run"});
    CHECK(line.command({"inhibit"}).empty());
    CHECK(line.command({"inhibit", "--"}).empty());
    CHECK(line.command({"inhibit", "--device"}).empty());
}

TEST_CASE("the words of other verbs all go to the parser", "[arguments]")
{
    const Line line;
    for (const auto& words :
         {Words{}, Words{"wait", "inhibit"}, Words{"wait", "inhibit", "x"},
          Words{"--", "inhibit", "x"}, Words{"--json", "wait", "--", "x"}, Words{"inhibt", "x"}}) {
        CHECK(line.split(words).own == words);
        CHECK(line.command(words).empty());
    }
}

TEST_CASE("an option whose value is missing behind = is found", "[arguments]")
{
    CHECK(option_without_value({"wait", "--timeout=", "mlx5_0"}) == "--timeout=");
    CHECK(option_without_value({"--socket=", "list", "--json="}) == "--socket=");
    CHECK_FALSE(option_without_value({"wait", "--timeout=3", "--json", "a="}).has_value());
    CHECK_FALSE(option_without_value({"wait", "--what=a="}).has_value());
    CHECK_FALSE(option_without_value({"inhibit", "--", "--timeout="}).has_value());
    CHECK_FALSE(option_without_value({}).has_value());
}
