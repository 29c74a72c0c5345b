// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/text.hpp"
#include "core/config/folders.hpp"
#include "core/config/host_facts.hpp"
#include "core/config/link_file.hpp"
#include "ctl/binding_store.hpp"
#include "ctl/image.hpp"
#include "ctl/notes.hpp"
#include "ctl/port_facts.hpp"
#include "ctl/terminal.hpp"
#include "ctl/verbs.hpp"
#include "ctl/words.hpp"

namespace rdmad::ctl {

namespace {

/// The findings, in the order of the files.
struct Findings {
    std::vector<std::string> problems = {};
    std::vector<std::string> notes = {};
    /// Sound ones, by name, or by path where files are named.
    std::vector<std::pair<std::string, config::Match>> bindings = {};
    size_t files = 0;
};

void add_to(std::vector<std::string>& all, const std::vector<std::string>& more)
{
    all.insert(all.end(), more.begin(), more.end());
}

void take(Findings& findings, const std::string& root, const config::File& file,
          const std::string& name)
{
    findings.files++;
    std::vector<config::Problem> problems;
    if (file.name.ends_with(".link")) {
        problems = config::parse_link(file).problems;
    } else {
        auto binding = config::parse_binding(file);
        problems = std::move(binding.problems);
        if (problems.empty()) {
            add_to(findings.notes, notes_on_units(root, binding));
            findings.bindings.emplace_back(name, std::move(binding.match));
        }
    }
    for (const auto& problem : problems)
        findings.problems.push_back(problem.message());
}

Findings look_at_files(const Common& common, const std::vector<std::string>& paths)
{
    Findings findings;
    for (const auto& path : paths) {
        if (path.ends_with(".binding") || path.ends_with(".link"))
            take(findings, common.root, config::read_alone(path), path);
        else
            findings.problems.push_back(path + ": its name ends neither in .binding nor in .link");
    }
    if (!paths.empty())
        return findings;
    for (const auto& file : config::read_files(common.root, config::binding_folders(), ".binding"))
        take(findings, common.root, file, file.name);
    for (const auto& file : config::read_files(common.root, config::link_folders(), ".link"))
        take(findings, common.root, file, file.name);
    add_to(findings.notes, notes_on_names(common.root, config::binding_folders(), ".binding"));
    add_to(findings.notes, notes_on_names(common.root, config::link_folders(), ".link"));
    return findings;
}

/// Returns what each binding matches now; null if rdmad does not tell.
Json ask_matches(const Common& common, const Findings& findings)
{
    if (!common.asks_rdmad())
        return Json();
    auto client = connect(common);
    const auto devices = client ? ask_devices(*client) : as_told(client);
    if (!devices) {
        warn("what the files match cannot be told: " + devices.error().text);
        return Json();
    }
    const auto host = config::host_facts();
    auto matches = Json::object();
    for (const auto& [name, match] : findings.bindings)
        matches[name] = matches_of(match, devices->value, host);
    return matches;
}

std::string text_of(const Findings& findings, const Json& matches)
{
    std::string text;
    for (const auto* lines : {&findings.problems, &findings.notes})
        for (const auto& line : *lines)
            text += text::escape_terminal(line) + "\n";
    for (const auto& [name, ports] : matches.items()) {
        const auto list = join(ports.get<std::vector<std::string>>(), ", ");
        text += text::escape_terminal(name + ": " + (list.empty() ? "nothing" : list)) + "\n";
    }
    if (findings.files == 0 && findings.problems.empty())
        text += "there are no .binding and no .link files\n";
    return text;
}

} // namespace

Answer<int> verify(const Common& common, const std::vector<std::string>& files)
{
    if (auto checked = check_image(common.root); !checked)
        return as_told(checked);
    const auto findings = look_at_files(common, files);
    const auto matches = findings.bindings.empty() ? Json::object() : ask_matches(common, findings);
    const int exit_code = findings.problems.empty() ? exit_fine : exit_failed;
    if (common.json)
        return finish(
            to_line(
                {{"problems", findings.problems}, {"notes", findings.notes}, {"matches", matches}}),
            exit_code);
    return finish(text_of(findings, matches), exit_code);
}

} // namespace rdmad::ctl
