// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/link_file.hpp"

#include "core/base/text.hpp"
#include "core/config/sections.hpp"

#include <algorithm>
#include <array>

namespace rdmad::config {

namespace {

struct Specifier {
    char letter;
    std::string Specifiers::*value;
    const char* what;
};

constexpr std::array specifiers_known = {
    Specifier{'k', &Specifiers::original_name, "kernel's name"},
    Specifier{'D', &Specifiers::driver, "driver"},
    Specifier{'x', &Specifiers::prefix, "prefix"},
    Specifier{'t', &Specifiers::link_type, "link type"},
    Specifier{'n', &Specifiers::node_guid, "node GUID"},
    Specifier{'g', &Specifiers::port_guid, "port GUID"},
    Specifier{'N', &Specifiers::netdev, "network device"},
    Specifier{'l', &Specifiers::port_label, "physical port label"},
};

const Specifier* find_specifier(char letter)
{
    for (const auto& specifier : specifiers_known)
        if (specifier.letter == letter)
            return &specifier;
    return nullptr;
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
            return "'" + text::escape_terminal(word) + "' is no policy";
        link.policies.push_back(*policy);
    }
    return {};
}

/// All that can be wrong with a name before the device is known.
std::string set_name(LinkFile& link, const std::string& value)
{
    std::string sample;
    for (size_t i = 0; i < value.size(); i++) {
        if (value[i] != '%') {
            sample += value[i];
        } else if (++i == value.size() || !find_specifier(value[i])) {
            return "'" + text::escape_terminal(value) + "' has a '%' that starts no specifier";
        } else {
            sample += 'x';
        }
    }
    if (const auto why_not = naming::refusal(sample); !value.empty() && !why_not.empty())
        return "'" + text::escape_terminal(value) + "' is refused: " + why_not;
    link.name = value;
    return {};
}

std::string set_scheme(LinkFile& link, const std::string& value)
{
    link.scheme = naming::parse_scheme(value);
    return link.scheme || value.empty()
               ? ""
               : "there is no naming scheme '" + text::escape_terminal(value) + "'";
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
    return key == "Description" ? "" : "there is no such key in [Link]";
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

naming::Composed expand_name(std::string_view name, const Specifiers& specifiers)
{
    std::string out;
    for (size_t i = 0; i < name.size(); i++) {
        if (name[i] != '%') {
            out += name[i];
            continue;
        }
        const auto* specifier = ++i < name.size() ? find_specifier(name[i]) : nullptr;
        if (!specifier)
            return {.why_not = "it has a '%' that starts no specifier"};
        const auto& value = specifiers.*(specifier->value);
        if (value.empty())
            return {.why_not = std::string("no ") + specifier->what + " for %" + name[i]};
        out += value;
    }
    if (const auto why_not = naming::refusal(out); !why_not.empty())
        return {.why_not = "'" + text::escape_terminal(out) + "' is refused: " + why_not};
    return {.name = out};
}

} // namespace rdmad::config
