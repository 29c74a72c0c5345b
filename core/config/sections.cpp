// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/sections.hpp"

#include "core/base/text.hpp"

#include <algorithm>

namespace rdmad::config {

namespace {

// a file of another kind is wrong in each line
constexpr size_t max_problems = 100;

void keep_first(std::vector<Problem>& problems, const std::string& path)
{
    if (problems.size() <= max_problems)
        return;
    const auto more = problems.size() - max_problems;
    problems.resize(max_problems);
    problems.push_back({.file = path, .what = "has " + std::to_string(more) + " more problems"});
}

} // namespace

Verdict read_sections(const File& file, Match& match, std::string_view own_section,
                      const std::function<std::string(const std::string&, const std::string&)>& set,
                      const std::string& match_all)
{
    Verdict verdict{.problems = file.problems};
    // a mistake elsewhere may be one in what the file matches
    verdict.is_match_sound =
        std::all_of(file.problems.begin(), file.problems.end(),
                    [&](const Problem& problem) { return problem.section == own_section; });
    for (const auto& assignment : file.assignments) {
        std::string what;
        if (assignment.section == "Match")
            what = match.set(assignment.key, assignment.value);
        else if (assignment.section == own_section)
            what = set(assignment.key, assignment.value);
        else
            what = "unknown section [" + text::escape_terminal(assignment.section) + "]";
        if (what.empty())
            continue;
        if (assignment.section != own_section)
            verdict.is_match_sound = false;
        verdict.problems.push_back(
            {assignment.file, assignment.line, assignment.section, assignment.key, what});
    }
    if (verdict.is_match_sound && match.empty()) {
        verdict.is_match_sound = false;
        verdict.problems.push_back(
            {.file = file.path,
             .what = "matches nothing without a [Match] key; " + match_all + " matches every one"});
    }
    keep_first(verdict.problems, file.path);
    return verdict;
}

std::string set_boolean(bool& target, const std::string& value)
{
    const auto parsed = value.empty() ? std::optional(false) : parse_boolean(value);
    if (!parsed)
        return "'" + text::escape_terminal(value) + "' is neither yes nor no";
    target = *parsed;
    return {};
}

} // namespace rdmad::config
