// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/binding_file.hpp"

#include "core/base/text.hpp"
#include "core/config/sections.hpp"
#include "core/config/specifiers.hpp"
#include "core/naming/unit_name.hpp"

#include <array>

namespace rdmad::config {

namespace {

constexpr std::array<std::string_view, 3> nodes = {"uverbs", "umad", "issm"};
constexpr std::array<std::string_view, 2> requires_known = {"all", "any"};
constexpr std::array<std::string_view, 3> waits_known = {"present", "active", "ready"};
constexpr std::array<std::string_view, 2> restarts_known = {"return", "no"};
constexpr std::array<std::string_view, 2> replacements_known = {"start", "wait"};
constexpr std::array<std::string_view, 2> blocks_known = {"report", "stop"};
constexpr std::array<std::string_view, 3> stages = {"applications", "initiators", "targets"};

// so many units are a mistake; the limit is what one file may ask of PID 1
constexpr size_t max_units = 64;

std::vector<Specifier> table(const UnitSpecifiers& of)
{
    return {{'d', of.device},
            {'p', of.port},
            {'g', of.port_guid},
            {'n', of.node_guid},
            {'t', of.link_type}};
}

/// Sets target to one of some words; an empty value is the first one, the default. Returns what is
/// wrong.
template <typename Enum, size_t N>
std::string set_word(Enum& target, const std::array<std::string_view, N>& words,
                     const std::string& value)
{
    const auto found = value.empty() ? Enum() : text::find_name<Enum>(words, value);
    if (!found)
        return "'" + text::escape_terminal(value) + "' is not one of " + text::join(words, ", ");
    target = *found;
    return {};
}

/// Returns what is wrong with a unit before the port is known, empty if nothing is.
std::string why_no_unit(std::string_view unit)
{
    const auto quoted = "'" + text::escape_terminal(unit) + "'";
    const auto sampled = sample(unit, table({}));
    if (!sampled)
        return quoted + " has a '%' that starts no specifier";
    const auto why_not = naming::unit_refusal(sampled.text);
    return why_not.empty() ? "" : quoted + " is not allowed: " + why_not;
}

std::string set_units(BindingFile& binding, const std::string& value)
{
    std::vector<std::string> words;
    if (!split_words(value, words))
        return "a quote does not end";
    if (words.empty())
        binding.units.clear();
    for (auto& word : words) {
        if (auto why_not = why_no_unit(word); !why_not.empty())
            return why_not;
        if (binding.units.size() == max_units)
            return "more than " + std::to_string(max_units) + " units";
        binding.units.push_back(std::move(word));
    }
    return {};
}

std::string set_binding(BindingFile& binding, const std::string& key, const std::string& value)
{
    if (key == "Unit")
        return set_units(binding, value);
    if (key == "Node")
        return set_word(binding.node, nodes, value);
    if (key == "Require")
        return set_word(binding.require, requires_known, value);
    if (key == "WaitFor")
        return set_word(binding.wait_for, waits_known, value);
    if (key == "Restart")
        return set_word(binding.restart, restarts_known, value);
    if (key == "OnReplaced")
        return set_word(binding.on_replaced, replacements_known, value);
    if (key == "OnBlocked")
        return set_word(binding.on_blocked, blocks_known, value);
    if (key == "Stage")
        return set_word(binding.stage, stages, value);
    return key == "Description" ? "" : "unknown key in [Binding]";
}

} // namespace

BindingFile parse_binding(const File& file)
{
    BindingFile binding{.name = file.name, .path = file.path};
    binding.problems = read_sections(
                           file, binding.match, "Binding",
                           [&](const std::string& key, const std::string& value) {
                               return set_binding(binding, key, value);
                           },
                           "Device=*")
                           .problems;
    if (binding.units.empty() && binding.problems.empty())
        binding.problems.push_back(
            {.file = file.path, .what = "has no Unit=, so it binds nothing"});
    return binding;
}

std::optional<std::string> expand_unit(std::string_view unit, const UnitSpecifiers& specifiers)
{
    const auto known = table(specifiers);
    auto name = expand(unit, known);
    if (!name || !naming::unit_refusal(name.text).empty())
        return std::nullopt;
    return std::move(name.text);
}

std::string_view to_string(BindingNode node)
{
    return nodes[static_cast<size_t>(node)];
}

std::string_view to_string(WaitFor wait_for)
{
    return waits_known[static_cast<size_t>(wait_for)];
}

std::string_view to_string(OnReplaced on_replaced)
{
    return replacements_known[static_cast<size_t>(on_replaced)];
}

std::string_view to_string(OnBlocked on_blocked)
{
    return blocks_known[static_cast<size_t>(on_blocked)];
}

std::string_view to_string(Stage stage)
{
    return stages[static_cast<size_t>(stage)];
}

} // namespace rdmad::config
