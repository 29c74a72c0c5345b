// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/link_file.hpp"

#include "core/base/text.hpp"
#include "core/config/folders.hpp"
#include "core/config/sections.hpp"
#include "core/config/specifiers.hpp"

namespace rdmad::config {

namespace {

std::vector<Specifier> table(const Specifiers& of)
{
    return {{'k', of.original_name, "kernel's name"},
            {'D', of.driver, "driver"},
            {'x', of.prefix, "prefix"},
            {'t', of.link_type, "link type"},
            {'n', of.node_guid, "node GUID"},
            {'g', of.port_guid, "port GUID"},
            {'N', of.netdev, "network device"},
            {'l', of.port_label, "physical port label"}};
}

std::string set_policies(LinkFile& link, const std::string& value)
{
    std::vector<std::string> words;
    if (!split_words(value, words))
        return "a quote does not end";
    if (words.empty())
        link.policies.clear();
    for (const auto& word : words) {
        const auto policy = naming::parse_policy(word);
        if (!policy)
            return "'" + text::escape_terminal(word) + "' is not a naming policy";
        link.policies.push_back(*policy);
    }
    return {};
}

/// Sets the name. Returns what is wrong with it before the device is known.
std::string set_name(LinkFile& link, const std::string& value)
{
    const auto sampled = sample(value, table({}));
    if (!sampled)
        return "'" + text::escape_terminal(value) + "' has a '%' that starts no specifier";
    if (const auto why_not = naming::refusal(sampled.text); !value.empty() && !why_not.empty())
        return "'" + text::escape_terminal(value) + "' is not allowed: " + why_not;
    link.name = value;
    return {};
}

std::string set_scheme(LinkFile& link, const std::string& value)
{
    link.scheme = naming::parse_scheme(value);
    return link.scheme || value.empty()
               ? ""
               : "unknown naming scheme '" + text::escape_terminal(value) + "'";
}

std::string set_link(LinkFile& link, const std::string& key, const std::string& value)
{
    if (key == "NamePolicy")
        return set_policies(link, value);
    if (key == "Name")
        return set_name(link, value);
    if (key == "NamingScheme")
        return set_scheme(link, value);
    if (key == "PortLabel")
        return set_boolean(link.port_label, value);
    if (key == "IPoIBName")
        return set_boolean(link.ipoib_name, value);
    return key == "Description" ? "" : "unknown key in [Link]";
}

} // namespace

LinkFile parse_link(const File& file)
{
    LinkFile link{.path = file.path};
    auto verdict = read_sections(
        file, link.match, "Link",
        [&](const std::string& key, const std::string& value) {
            return set_link(link, key, value);
        },
        "OriginalName=*");
    link.is_match_sound = verdict.is_match_sound;
    link.problems = std::move(verdict.problems);
    return link;
}

std::vector<LinkFile> read_link_files(const std::string& root)
{
    std::vector<LinkFile> links;
    for (const auto& file : read_files(root, link_folders(), ".link"))
        links.push_back(parse_link(file));
    return links;
}

naming::Composed expand_name(std::string_view name, const Specifiers& specifiers)
{
    const auto known = table(specifiers);
    const auto out = expand(name, known);
    if (out.has_unknown)
        return {.why_not = "it has a '%' that starts no specifier"};
    if (const auto* missing = out.without_value; missing)
        return {.why_not = "no " + std::string(missing->what) + " for %" + missing->letter};
    if (const auto why_not = naming::refusal(out.text); !why_not.empty())
        return {.why_not = "'" + text::escape_terminal(out.text) + "' is not allowed: " + why_not};
    return {.name = out.text};
}

} // namespace rdmad::config
