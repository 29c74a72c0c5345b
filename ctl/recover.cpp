// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/text.hpp"
#include "ctl/terminal.hpp"
#include "ctl/verbs.hpp"

#include <algorithm>

namespace rdmad::ctl {

namespace {

Colour colour_of(const KernelTarget& target)
{
    if (target.state == "failed" || target.state == "dead")
        return Colour::red;
    return target.state == "up" || target.state == "restored" ? Colour::green : Colour::yellow;
}

Table table_of(const std::vector<KernelTarget>& targets)
{
    Table table{.columns = {{"KIND"}, {"TARGET", true, 1, 24}, {"ADDRESS", true}, {"STATE"}}};
    for (const auto& target : targets)
        table.rows.push_back(
            {{target.kind}, {target.name}, {target.address}, {target.state, colour_of(target)}});
    return table;
}

std::string reasons_of(const std::vector<KernelTarget>& targets)
{
    std::string text;
    for (const auto& target : targets)
        if (target.reason)
            text += (text.empty() ? "\n" : "") +
                    text::escape_terminal(target.kind + " " + target.name + " at " +
                                          target.address + ": " + *target.reason) +
                    "\n";
    return text;
}

} // namespace

Answer<int> recover(const Common& common, bool is_dry)
{
    auto client = connect(common);
    if (!client)
        return as_told(client);
    auto answer = client->call("io.rdmad.Lifecycle.Recover", {{"dryRun", is_dry}});
    if (!answer)
        return as_told(answer);
    auto targets = read_targets(*answer);
    if (!targets)
        return as_told(targets);
    const bool has_failed =
        std::any_of(targets->begin(), targets->end(),
                    [](const KernelTarget& target) { return target.state == "failed"; });
    const int exit_code = has_failed ? exit_failed : exit_fine;
    if (common.json)
        return finish(to_line(*answer), exit_code);
    if (targets->empty())
        return finish(
            "nothing in the kernel waits for connections at an RDMA address of its own\n");
    return finish(layout(table_of(*targets), style_of_output()) + reasons_of(*targets), exit_code);
}

} // namespace rdmad::ctl
