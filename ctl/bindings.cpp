// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/text.hpp"
#include "ctl/terminal.hpp"
#include "ctl/verbs.hpp"
#include "ctl/words.hpp"

namespace rdmad::ctl {

namespace {

std::vector<Cell> row(const Binding& binding)
{
    const bool is_sound = binding.problems.empty();
    return {{binding.name, is_sound ? Colour::none : Colour::red},
            {join(binding.units, ",")},
            {binding.node},
            {binding.require},
            {binding.wait_for},
            {binding.restart},
            {join(binding.matches, ",")}};
}

Table table_of(const std::vector<Binding>& bindings)
{
    Table table{.columns = {{"NAME", true, 0, 24},
                            {"UNITS", true, 0, 16},
                            {"NODE", false, 4},
                            {"REQUIRE", false, 3},
                            {"WAITFOR", false, 2},
                            {"RESTART", false, 1},
                            {"MATCHES", true}}};
    for (const auto& binding : bindings)
        table.rows.push_back(row(binding));
    return table;
}

std::string problems_of(const std::vector<Binding>& bindings)
{
    std::string text;
    for (const auto& binding : bindings)
        for (const auto& problem : binding.problems)
            text += (text.empty() ? "\n" : "") + text::escape_terminal(problem) + "\n";
    return text;
}

} // namespace

Answer<int> bindings(const Common& common)
{
    auto client = connect(common);
    if (!client)
        return as_told(client);
    auto all = ask_bindings(*client);
    if (!all)
        return as_told(all);
    if (common.json)
        return finish(to_line({{"bindings", std::move(all->raw["bindings"])}}));
    auto style = style_of_output();
    style.has_legend = common.has_legend;
    const auto& known = all->value.bindings;
    // those who leave out the headings read the lines by program
    if (!style.has_legend)
        for (const auto& binding : known)
            for (const auto& problem : binding.problems)
                warn(problem);
    return finish(layout(table_of(known), style) +
                  (style.has_legend ? problems_of(known) : std::string()));
}

} // namespace rdmad::ctl
