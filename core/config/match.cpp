// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/match.hpp"

#include "core/base/text.hpp"
#include "core/naming/link_type.hpp"
#include "core/naming/node_type.hpp"

#include <algorithm>
#include <array>
#include <strings.h>

namespace rdmad::config {

namespace {

using Values = std::vector<std::string_view>;

struct ListKey {
    const char* name;
    enum Kind { text, guid, link_type, node_type, number } kind;
    unsigned of; ///< kinds of files that have it
    Values (*values)(const Facts&);
};

template <auto Member>
Values one(const Facts& facts)
{
    return {facts.*Member};
}

template <auto Member>
Values all(const Facts& facts)
{
    return {(facts.*Member).begin(), (facts.*Member).end()};
}

constexpr unsigned of_device = 1U << static_cast<unsigned>(Match::Of::device);
constexpr unsigned of_port = 1U << static_cast<unsigned>(Match::Of::port);
constexpr unsigned of_any = of_device | of_port;

constexpr std::array list_keys = {
    ListKey{"OriginalName", ListKey::text, of_device, one<&Facts::original_name>},
    ListKey{"Driver", ListKey::text, of_any, one<&Facts::driver>},
    ListKey{"Path", ListKey::text, of_any, one<&Facts::path>},
    ListKey{"NodeType", ListKey::node_type, of_device, one<&Facts::node_type>},
    ListKey{"NodeGUID", ListKey::guid, of_any, one<&Facts::node_guid>},
    ListKey{"SysImageGUID", ListKey::guid, of_any, one<&Facts::sys_image_guid>},
    ListKey{"PortGUID", ListKey::guid, of_any, all<&Facts::port_guids>},
    ListKey{"LinkType", ListKey::link_type, of_any, all<&Facts::link_types>},
    ListKey{"NetDev", ListKey::text, of_any, all<&Facts::netdevs>},
    ListKey{"Host", ListKey::text, of_any, one<&Facts::host>},
    ListKey{"Device", ListKey::text, of_port, one<&Facts::device>},
    ListKey{"Port", ListKey::number, of_port, one<&Facts::port>},
};

const ListKey* find_list(std::string_view key)
{
    const auto* found = std::find_if(list_keys.begin(), list_keys.end(),
                                     [&](const ListKey& list) { return key == list.name; });
    return found == list_keys.end() ? nullptr : found;
}

/// Returns those that are known: an unknown value matches no pattern, not even "*".
Values known_values(const ListKey& list, const Facts& facts)
{
    auto values = list.values(facts);
    std::erase(values, std::string_view());
    return values;
}

/// Removes a "!" from the front. Returns true if it did.
bool take_negation(std::string_view& condition)
{
    const bool is_negated = condition.starts_with('!');
    if (is_negated)
        condition.remove_prefix(1);
    return is_negated;
}

/// Returns "506b4b0300a1b2c3" for "0x506b:4b03:00A1:b2c3", too.
std::string plain_guid(std::string_view word)
{
    const bool is_negated = take_negation(word);
    if (word.starts_with("0x") || word.starts_with("0X"))
        word.remove_prefix(2);
    std::string guid = is_negated ? "!" : "";
    bool in_brackets = false; // "[[:xdigit:]]" keeps its colons
    for (const char c : word) {
        in_brackets = c == '[' || (in_brackets && c != ']');
        if (c != ':' || in_brackets)
            guid += c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return guid;
}

/// Returns true for the number of a port as it is compared: without zeros in front.
bool is_port_number(std::string_view word)
{
    return !word.starts_with('0') && text::parse_u32(word);
}

/// Returns why no device could ever match a word (a slip of the pen), empty if one could.
std::string why_never(ListKey::Kind kind, std::string_view word)
{
    (void)take_negation(word);
    if (word.find_first_of("*?[\\") != std::string_view::npos)
        return {};
    const auto quoted = "'" + text::escape_terminal(word) + "'";
    if (kind == ListKey::guid && (word.size() != 16 || !text::parse_hex_u64(word)))
        return quoted + " is not a GUID of 16 hexadecimal digits";
    if (kind == ListKey::link_type && !naming::parse_link_type(word))
        return quoted + " is not a link type (infiniband, opa, roce, iwarp, usnic, efa or unknown)";
    if (kind == ListKey::node_type && !naming::is_node_type(word))
        return quoted +
               " is not a node type (ca, switch, router, rnic, usnic, usnic-udp or unspecified)";
    if (kind == ListKey::number && !is_port_number(word))
        return quoted + " is not a port number, from 1 on";
    return {};
}

bool property_holds(std::string_view condition, const Facts& facts)
{
    const bool is_negated = take_negation(condition);
    const auto equals = condition.find('=');
    const auto value = facts.property(std::string(condition.substr(0, equals)));
    const bool matches = value && glob_matches(std::string(condition.substr(equals + 1)), *value);
    return matches != is_negated;
}

/// Compares with each word, and with the word before a "=" (systemd.unit(5),
/// ConditionKernelCommandLine=).
bool kernel_command_line_holds(std::string_view condition, const Facts& facts)
{
    const bool is_negated = take_negation(condition);
    std::vector<std::string> words;
    (void)split_words(facts.kernel_command_line, words);
    const bool matches = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        return word == condition || word.substr(0, word.find('=')) == condition;
    });
    return matches != is_negated;
}

/// Accepts "yes", "vm", "container" or what systemd-detect-virt(1) prints.
bool virtualization_holds(std::string_view condition, const Facts& facts)
{
    const bool is_negated = take_negation(condition);
    const auto seen = facts.virtualization ? facts.virtualization() : "none";
    const auto wanted = parse_boolean(condition);
    const auto words = text::split(seen, ' ');
    const bool matches = wanted ? *wanted == (seen != "none")
                                : std::find(words.begin(), words.end(), condition) != words.end();
    return matches != is_negated;
}

} // namespace

std::optional<bool> parse_boolean(std::string_view text)
{
    const auto is_any_of = [&](std::initializer_list<std::string_view> words) {
        return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
            return word.size() == text.size() &&
                   strncasecmp(word.data(), text.data(), word.size()) == 0;
        });
    };
    if (is_any_of({"yes", "y", "true", "t", "on", "1"}))
        return true;
    if (is_any_of({"no", "n", "false", "f", "off", "0"}))
        return false;
    return std::nullopt;
}

std::string Match::set(const std::string& key, const std::string& value)
{
    std::vector<std::string> words;
    if (!split_words(value, words))
        return "a quote does not end";
    if (const auto* list = find_list(key);
        list && (list->of & (1U << static_cast<unsigned>(of_))) != 0) {
        if (list->kind == ListKey::guid)
            std::transform(words.begin(), words.end(), words.begin(), plain_guid);
        for (const auto& word : words)
            if (auto never = why_never(list->kind, word); !never.empty())
                return never;
        auto& patterns = lists_[key];
        if (words.empty())
            patterns.clear();
        patterns.add(words);
        return {};
    }
    // a unit has ConditionVirtualization= for that
    if (key == "Virtualization" && of_ == Of::device) {
        if (words.size() > 1)
            return "takes one word";
        virtualization_ = words.empty() ? std::nullopt : std::optional(words[0]);
        return {};
    }
    if ((key != "Property" || of_ == Of::port) && key != "KernelCommandLine")
        return "unknown key in [Match]";

    auto& conditions = key == "Property" ? properties_ : kernel_command_line_;
    if (words.empty())
        conditions.clear();
    for (auto& word : words) {
        if (key == "Property" && word.find('=') == std::string::npos)
            return "'" + text::escape_terminal(word) + "' is not PROPERTY=VALUE";
        conditions.push_back(std::move(word));
    }
    return {};
}

bool Match::empty() const
{
    return std::all_of(lists_.begin(), lists_.end(),
                       [](const auto& list) { return list.second.empty(); }) &&
           properties_.empty() && kernel_command_line_.empty() && !virtualization_;
}

std::vector<std::string> Match::port_guids() const
{
    return literals_of("PortGUID");
}

std::vector<std::string> Match::node_guids() const
{
    return literals_of("NodeGUID");
}

std::vector<std::string> Match::literals_of(std::string_view key) const
{
    const auto found = lists_.find(key);
    return found == lists_.end() ? std::vector<std::string>() : found->second.literals();
}

std::string Match::why_not(const Facts& facts) const
{
    for (const auto& [key, patterns] : lists_) {
        auto values = known_values(*find_list(key), facts);
        if (key == "Host" && !facts.machine_id.empty())
            values.push_back(facts.machine_id);
        if (!patterns.holds(values))
            return key + "=" + text::escape_terminal(patterns.text()) + " does not match " +
                   (values.empty() ? "a device without"
                                   : "'" + text::escape_terminal(text::join(values, " ")) + "'");
    }
    for (const auto& condition : properties_)
        if (facts.property && !property_holds(condition, facts))
            return "Property=" + text::escape_terminal(condition) + " does not hold";
    for (const auto& condition : kernel_command_line_)
        if (!kernel_command_line_holds(condition, facts))
            return "KernelCommandLine=" + text::escape_terminal(condition) + " does not hold";
    if (virtualization_ && !virtualization_holds(*virtualization_, facts))
        return "Virtualization=" + text::escape_terminal(*virtualization_) + " does not hold";
    return {};
}

bool Match::is_ruled_out(const Facts& facts) const
{
    return std::any_of(lists_.begin(), lists_.end(), [&](const auto& list) {
        const auto values = known_values(*find_list(list.first), facts);
        return !values.empty() && !list.second.holds(values);
    });
}

} // namespace rdmad::config
