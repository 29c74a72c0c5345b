// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/bindings/bindings.hpp"

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/config/folders.hpp"
#include "core/naming/unit_name.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace rdmad {

namespace {

constexpr auto& runtime_folder = config::runtime_binding_folder;
constexpr char suffix[] = ".binding";
constexpr auto& mark = config::runtime_binding_mark;

std::string guid_text(const std::optional<uint64_t>& guid)
{
    return guid ? text::format_guid(*guid) : "";
}

const std::optional<NodeRef>& node_of(const Device& device, const Port& port,
                                      config::BindingNode node)
{
    switch (node) {
    case config::BindingNode::umad:
        return port.umad;
    case config::BindingNode::issm:
        return port.issm;
    case config::BindingNode::uverbs:
        break;
    }
    return device.uverbs;
}

Member member_of(const config::BindingFile& file, const Device& device, const Port& port,
                 const NodeRef& node)
{
    return {.binding = file.name,
            .device = device.name,
            .index = device.index,
            .port = port.number,
            .guid = guid_text(port.guid),
            .node_guid = text::format_guid(device.node_guid),
            .path = device.path,
            .node = node.sysname,
            .born = node.born,
            .syspath = node.syspath,
            .is_ready = file.wait_for == config::WaitFor::present || port.is_ready()};
}

void add_claims(std::vector<Claim>& claims, const config::BindingFile& file, const Device& device,
                const Port& port)
{
    const auto& node = node_of(device, port, file.node);
    if (!node)
        return;
    const auto member = member_of(file, device, port, *node);
    const config::UnitSpecifiers specifiers = {.device = device.name,
                                               .port = std::to_string(port.number),
                                               .port_guid = member.guid,
                                               .node_guid = member.node_guid,
                                               .link_type =
                                                   std::string(naming::to_string(port.link_type))};
    // not after a name that goes before anybody has seen it
    const auto is_due = [&](const std::string& unit) {
        return device.is_named || unit.find("%d") == std::string::npos;
    };
    for (const auto& unit : file.units)
        if (auto name = config::expand_unit(unit, specifiers); name && is_due(unit))
            claims.push_back({std::move(*name), member});
}

uint64_t digest_of(const config::File& file)
{
    std::string text = file.path;
    for (const auto& one : file.assignments)
        text.append("\n" + one.section + "\n" + one.key + "=" + one.value);
    for (const auto& problem : file.problems)
        text.append("\n" + problem.message());
    return text::stable_hash(text);
}

std::string section(const char* name, const std::vector<std::pair<std::string, std::string>>& keys)
{
    std::string text = std::string("[") + name + "]\n";
    for (const auto& [key, value] : keys)
        text += key + "=" + value + "\n";
    return text;
}

/// Returns true for a line break, which begins a key, or a backslash, which drops what follows.
bool has_line_break(const std::vector<std::pair<std::string, std::string>>& keys)
{
    return std::any_of(keys.begin(), keys.end(), [](const auto& key) {
        return key.second.find_first_of("\n\r\\") != std::string::npos;
    });
}

/// Returns why that is not one unit; empty if it is.
std::string why_no_unit(const std::string& unit)
{
    auto sample = unit; // specifiers become something that a unit may have in its name
    std::replace(sample.begin(), sample.end(), '%', 'x');
    const auto why_not = naming::unit_refusal(sample);
    return why_not.empty() ? "" : "Unit: '" + unit + "' is not allowed: " + why_not;
}

} // namespace

std::map<std::string, std::string> Bindings::read()
{
    files_.clear();
    earliest_stage_ = config::Stage::applications;
    std::map<std::string, uint64_t> digests;
    for (const auto& file : config::read_files(root_, config::binding_folders(), suffix)) {
        files_.push_back(config::parse_binding(file));
        earliest_stage_ = std::max(earliest_stage_, files_.back().stage);
        digests.emplace(file.name, digest_of(file));
    }
    std::map<std::string, std::string> changes;
    for (const auto& [name, digest] : digests) {
        const auto known = digests_.find(name);
        if (known == digests_.end())
            changes.emplace(name, "added");
        else if (known->second != digest)
            changes.emplace(name, "changed");
    }
    for (const auto& [name, digest] : digests_)
        if (!digests.contains(name))
            changes.emplace(name, "removed");
    digests_ = std::move(digests);
    return changes;
}

const config::BindingFile* Bindings::find(const std::string& name) const
{
    const auto found =
        std::lower_bound(files_.begin(), files_.end(), name,
                         [](const auto& file, const auto& wanted) { return file.name < wanted; });
    return found == files_.end() || found->name != name ? nullptr : &*found;
}

Result<std::string>
Bindings::add(const std::string& unit,
              const std::vector<std::pair<std::string, std::string>>& match,
              const std::vector<std::pair<std::string, std::string>>& binding) const
{
    if (auto why_not = why_no_unit(unit); !why_not.empty())
        return fail(EINVAL, std::move(why_not));
    if (has_line_break(match) || has_line_break(binding))
        return fail(EINVAL, "a value has a line break or a backslash");
    const auto about = section("Match", match);
    const auto text = std::string(mark) + about + "[Binding]\nUnit=" + config::quote_word(unit) +
                      section("Binding", binding).substr(sizeof "[Binding]" - 1);
    // a unit's name may fill a file's name alone
    const auto name = "50-" + unit.substr(0, 128) + "-" +
                      text::format_guid(text::stable_hash(unit + "\n" + about)) + suffix;
    const auto path = root_ + runtime_folder + "/" + name;
    auto ini = config::parse_ini(text, path);
    const auto parsed = config::parse_binding(
        {.name = name, .path = path, .assignments = ini.assignments, .problems = ini.problems});
    if (!parsed.problems.empty())
        return fail(EINVAL, parsed.problems[0].key + ": " + parsed.problems[0].what);
    // a list, quotes or another line would bind something else, and remove() would not find it
    if (parsed.units != std::vector{unit})
        return fail(EINVAL,
                    "Unit: '" + text::escape_terminal(unit) + "' is not the name of one unit");
    for (const auto* folder : {"/run/rdmad", runtime_folder})
        if (mkdir((root_ + folder).c_str(), 0755) < 0 && errno != EEXIST)
            return fail(errno, root_ + folder);
    if (auto outcome = replace_file(path, path + ".new", text); !outcome)
        return tl::unexpected<Error>(std::move(outcome).error());
    return name;
}

Result<std::vector<std::string>> Bindings::remove(const std::string& unit) const
{
    std::vector<std::string> removed;
    const auto folder = root_ + runtime_folder;
    for (const auto& name : names_in(folder)) {
        const auto path = folder + "/" + name;
        const auto text = read_file(path);
        if (!name.ends_with(suffix) || !text || !text->starts_with(mark) ||
            text->find("\nUnit=" + config::quote_word(unit) + "\n") == std::string::npos)
            continue;
        if (unlink(path.c_str()) < 0 && errno != ENOENT)
            return fail(errno, path);
        removed.push_back(name);
    }
    return removed;
}

bool is_runtime(const config::BindingFile& file)
{
    return file.path.find(std::string(runtime_folder) + "/") != std::string::npos;
}

config::Facts facts_of(const Device& device, const Port& port, const config::Facts& host)
{
    auto facts = host;
    facts.device = device.name;
    facts.port = std::to_string(port.number);
    facts.driver = device.driver;
    facts.path = device.path;
    facts.node_guid = text::format_guid(device.node_guid);
    facts.sys_image_guid = text::format_guid(device.sys_image_guid);
    facts.port_guids = {guid_text(port.guid)};
    facts.link_types = {std::string(naming::to_string(port.link_type))};
    facts.netdevs = {port.netdev};
    return facts;
}

bool matches(const config::BindingFile& file, const config::Facts& port)
{
    return file.problems.empty() && file.match.why_not(port).empty();
}

bool may_match(const config::BindingFile& file, const Member& gone)
{
    return !file.match.is_ruled_out({.device = gone.device,
                                     .port = std::to_string(gone.port),
                                     .path = gone.path,
                                     .node_guid = gone.node_guid,
                                     .port_guids = {gone.guid}});
}

std::vector<Claim> claims_of(const std::vector<config::BindingFile>& files, const Device& device,
                             const config::Facts& host)
{
    std::vector<config::Facts> facts;
    for (const auto& port : device.ports)
        facts.push_back(facts_of(device, port, host));
    std::vector<Claim> claims;
    for (const auto& file : files)
        for (size_t i = 0; i < facts.size(); i++)
            if (!device.ports[i].is_foreign() && matches(file, facts[i]))
                add_claims(claims, file, device, device.ports[i]);
    return claims;
}

} // namespace rdmad
