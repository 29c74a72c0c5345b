// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/binding_file.hpp"
#include "core/naming/unit_name.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/oracle.hpp"

#include <algorithm>
#include <string>

// The input is a .binding file, and a unit with specifiers as well. The syntax below both kinds of
// files is fuzz_link's.

namespace rdmad::fuzz {

namespace {

using namespace config;

constexpr const char* path = "a.binding";

void check_problems(const BindingFile& binding)
{
    for (const auto& problem : binding.problems) {
        require(problem.file == path, "a problem names the file");
        const auto message = decode_utf8(problem.message());
        require(message && !has_control_character(*message), "a problem may go to a terminal");
    }
}

UnitSpecifiers all(const std::string& value)
{
    return {value, value, value, value, value};
}

void check_unit(std::string_view unit)
{
    for (const auto* value : {"x", "", "a/b", "%d", "1", "\n", "-"})
        if (const auto name = expand_unit(unit, all(value)); name)
            require(naming::unit_refusal(*name).empty(), "an expanded unit is one to systemd");
}

/// A port that a [Match] has something to say about.
Facts port()
{
    return {.device = "mlx5_0",
            .port = "1",
            .driver = "mlx5_core",
            .node_guid = "506b4b0300a1b2c3",
            .port_guids = {"506b4b0300a1b2c4"},
            .link_types = {"infiniband"},
            .netdevs = {"ib0"}};
}

} // namespace

void run_one(std::string_view input)
{
    auto ini = parse_ini(input, path);
    const size_t broken_lines = ini.problems.size();
    const auto binding = parse_binding({.name = path,
                                        .path = path,
                                        .assignments = std::move(ini.assignments),
                                        .problems = std::move(ini.problems)});
    check_problems(binding);
    require(binding.problems.size() >= std::min(broken_lines, size_t{101}),
            "no problem of the file gets lost, but of more than 100");
    require(binding.problems.size() <= 101, "there are not too many to list");
    const auto why_not = decode_utf8(binding.match.why_not(port()));
    require(why_not && !has_control_character(*why_not), "a reason may go to a terminal");
    require(!binding.match.asks_for_property(), "a binding asks for no property of an event");
    require(binding.units.size() <= 64, "a file binds at most 64 units");
    if (binding.problems.empty())
        require(!binding.match.empty() && !binding.units.empty(),
                "a file without a problem binds something to something");
    for (const auto& unit : binding.units)
        require(unit.size() > 200 || expand_unit(unit, all("x")).has_value(),
                "a unit that was taken is one where all is told");
    check_unit(input);
}

} // namespace rdmad::fuzz
