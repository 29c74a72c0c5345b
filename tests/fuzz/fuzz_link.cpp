// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/link_file.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/oracle.hpp"

#include <algorithm>
#include <string>
#include <vector>

// The input is a .link file. Its lines are names with specifiers as well, and lists of words.

namespace rdmad::fuzz {

namespace {

using namespace config;

constexpr const char* path = "a.link";
constexpr std::string_view blanks = " \t\r\n";

bool is_trimmed(std::string_view text)
{
    return text.empty() || (blanks.find(text.front()) == std::string_view::npos &&
                            blanks.find(text.back()) == std::string_view::npos);
}

std::vector<std::string_view> lines_of(std::string_view text)
{
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        lines.push_back(text.substr(0, text.find('\n')));
        text.remove_prefix(std::min(lines.back().size() + 1, text.size()));
    }
    return lines;
}

bool is_same(const std::vector<Assignment>& a, const std::vector<Assignment>& b)
{
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(), [](const Assignment& one, const Assignment& other) {
            return one.section == other.section && one.key == other.key && one.value == other.value;
        });
}

std::string written(const std::vector<Assignment>& assignments)
{
    std::string text;
    for (const auto& assignment : assignments)
        text += "[" + assignment.section + "]\n" + assignment.key + "=" + assignment.value +
                // at the end of a line it would continue it
                (assignment.value.ends_with('\\') ? "\\\n\n" : "\n");
    return text;
}

void check_problems(const std::vector<Problem>& problems, size_t lines)
{
    for (const auto& problem : problems) {
        require(problem.line <= lines, "a problem's line is one of the file's");
        require(problem.file == path, "a problem names the file");
        require(!problem.what.empty(), "a problem says what is wrong");
        const auto message = decode_utf8(problem.message());
        require(message && !has_control_character(*message), "a problem may go to a terminal");
    }
}

void check_ini(const Ini& ini, std::string_view input)
{
    const auto lines = lines_of(input);
    check_problems(ini.problems, lines.size());
    uint32_t last = 1;
    for (const auto& assignment : ini.assignments) {
        require(assignment.line >= last && assignment.line <= lines.size(),
                "assignments come in the order of the file's lines");
        last = assignment.line;
        require(assignment.file == path, "an assignment names the file");
        require(decode_utf8(assignment.value).has_value(), "a value is UTF-8");
        require(is_trimmed(assignment.value), "a value has no white space at its ends");
        require(assignment.value.find_first_of(std::string_view("\0\n", 2)) == std::string::npos,
                "a value has neither a NUL nor a line break");
        require(!assignment.key.empty() && !assignment.section.empty(),
                "an assignment has a key and a section");
        require(!assignment.key.starts_with("X-") && !assignment.section.starts_with("X-"),
                "what is for others is left out");
    }
    const auto text = written(ini.assignments);
    const auto again = parse_ini(text, path);
    require(again.problems.empty() && is_same(ini.assignments, again.assignments),
            "assignments that are written again read the same");
}

Specifiers all(const std::string& value)
{
    return {value, value, value, value, value, value, value, value};
}

void check_composed(const naming::Composed& composed)
{
    require(composed.name.empty() != composed.why_not.empty(),
            "there is a name, or a reason why not");
    require(composed.name.empty() || naming::refusal(composed.name).empty(),
            "an expanded name may be given");
}

/// A device that a [Match] has something to say about.
Facts facts()
{
    return {.original_name = "mlx5_0",
            .driver = "mlx5_core",
            .node_guid = "506b4b0300a1b2c3",
            .port_guids = {"506b4b0300a1b2c4", ""},
            .link_types = {"infiniband", "ethernet"},
            .host = "node17",
            .kernel_command_line = "ro root=/dev/sda1 \"quiet",
            .property = [](const std::string& name) { return std::optional(name); },
            .virtualization = [] { return std::string("vm kvm"); }};
}

void check_link(const LinkFile& link, size_t lines)
{
    check_problems(link.problems, lines);
    const auto why_not = decode_utf8(link.match.why_not(facts()));
    require(why_not && !has_control_character(*why_not), "a reason may go to a terminal");
    require(!link.is_match_sound || !link.match.empty(), "a sound [Match] has a key");
    if (!link.problems.empty())
        return;
    require(link.is_match_sound, "without a problem the [Match] is sound");
    for (const auto policy : link.policies)
        require(naming::parse_policy(naming::to_string(policy)) == policy,
                "a policy is one that can be written");
    if (link.scheme)
        require(naming::parse_scheme(naming::to_string(*link.scheme)) == link.scheme,
                "a scheme is one that can be written");
    if (!link.name.empty())
        require(!expand_name(link.name, all("x")).name.empty(),
                "a name without a problem gives one where all is told");
}

std::string quoted(const std::string& word, char quote)
{
    std::string text(1, quote);
    for (const char c : word) {
        if (c == quote || c == '\\')
            text += '\\';
        text += c;
    }
    return text + quote;
}

void check_words(std::string_view value)
{
    std::vector<std::string> words;
    (void)split_words(value, words);
    std::string text;
    for (size_t i = 0; i < words.size(); i++)
        text += quoted(words[i], i % 2 == 0 ? '"' : '\'') + (i % 3 == 0 ? "\t" : "  ");
    std::vector<std::string> again;
    require(split_words(text, again), "quotes that are put end");
    require(words == again, "words that are quoted again are the same");
}

} // namespace

void run_one(std::string_view input)
{
    const auto ini = parse_ini(input, path);
    check_ini(ini, input);

    const File file{
        .name = path, .path = path, .assignments = ini.assignments, .problems = ini.problems};
    const auto lines = lines_of(input);
    const auto link = parse_link(file);
    check_link(link, lines.size());
    require(link.problems.size() >= std::min(ini.problems.size(), size_t{101}),
            "no problem of the file gets lost, but of more than 100");

    for (const auto line : lines) {
        check_words(line);
        for (const auto* value : {"x", "", "a/b", "%k", "1"})
            check_composed(expand_name(line, all(value)));
    }
}

} // namespace rdmad::fuzz
