// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/systemd/anchor.hpp"

#include "core/base/text.hpp"

namespace rdmad::systemd {

namespace {

constexpr std::string_view prefix = "rdmad-";
constexpr std::string_view suffix = ".slice";
constexpr size_t longest = 255; // UNIT_NAME_MAX, src/basic/unit-name.h
constexpr size_t longest_binding = 80;
constexpr size_t escape_size = 4; // \xNN

bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ':' ||
           c == '_' || c == '.';
}

std::string escape(std::string_view text)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string escaped;
    for (const char c : text) {
        if (is_plain(c)) {
            escaped += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        escaped.append({'\\', 'x', digits[byte >> 4], digits[byte & 15]});
    }
    return escaped;
}

/// Returns a part of a name in at most that many bytes; the end of a longer one becomes a hash.
std::string shortened(std::string_view text, size_t room)
{
    auto escaped = escape(text);
    if (escaped.size() <= room)
        return escaped;
    const auto hash = ":" + text::format_guid(text::stable_hash(text));
    escaped.resize(room - hash.size());
    // no half of an escape
    if (const auto at = escaped.rfind('\\');
        at != std::string::npos && at + escape_size > escaped.size())
        escaped.resize(at);
    return escaped + hash;
}

/// Returns a slice's name. tail says what the slice is to the unit; it stays whole.
std::string slice(std::string_view unit, const std::string& tail)
{
    const size_t room = longest - prefix.size() - tail.size() - suffix.size();
    return std::string(prefix).append(shortened(unit, room)).append(tail).append(suffix);
}

std::string binding_part(std::string_view binding)
{
    return ":" + shortened(binding, longest_binding);
}

/// Returns "7.23456789"; "7" where nobody knows when the node was born.
std::string appearance_part(const NodeId& node)
{
    const auto index = std::to_string(node.index);
    return node.born == 0 ? index : index + "." + std::to_string(node.born);
}

/// Sets the index of a node, and when it was born. Returns false if that is no such part of a name.
bool parse_appearance(std::string_view part, NodeId& node)
{
    const auto dot = part.find('.');
    const auto index = text::parse_u32(part.substr(0, dot));
    const auto born = dot == std::string_view::npos ? 0 : text::parse_u64(part.substr(dot + 1));
    if (!index || !born)
        return false;
    node.index = *index;
    node.born = *born;
    return true;
}

/// Returns true for "uverbs0".
bool is_node(std::string_view name)
{
    for (const std::string_view kind : {"uverbs", "umad", "issm"})
        if (name.starts_with(kind) && text::parse_u32(name.substr(kind.size())))
            return true;
    return false;
}

} // namespace

std::string anchor_name(std::string_view unit, const NodeId& node, std::string_view group)
{
    const auto tail = ":" + appearance_part(node) + ":" + escape(node.node);
    return slice(unit, group.empty() ? tail : tail + binding_part(group));
}

std::string group_name(std::string_view unit, std::string_view binding)
{
    return slice(unit, ":any" + binding_part(binding));
}

std::optional<AnchorParts> parse_anchor_name(std::string_view name)
{
    if (!name.starts_with(prefix) || !name.ends_with(suffix))
        return std::nullopt;
    name.remove_prefix(prefix.size());
    name.remove_suffix(suffix.size());
    // "UNIT:INDEX.BORN:NODE" or "UNIT:INDEX.BORN:NODE:BINDING": a unit may have colons, so from
    // behind; the hash in a long binding's part is no node
    for (auto end = name.size(); end != std::string_view::npos && end > 0;) {
        const auto at = name.rfind(':', end - 1);
        const auto colon = at == std::string_view::npos || at == 0 ? at : name.rfind(':', at - 1);
        if (at == std::string_view::npos || at == 0 || colon == std::string_view::npos)
            break;
        const auto node = name.substr(at + 1, end - at - 1);
        AnchorParts parts = {{.node = std::string(node)}, {}};
        if (is_node(node) && parse_appearance(name.substr(colon + 1, at - colon - 1), parts.node)) {
            if (end < name.size())
                parts.group = std::string(prefix)
                                  .append(name.substr(0, colon))
                                  .append(":any")
                                  .append(name.substr(end))
                                  .append(suffix);
            return parts;
        }
        end = at;
    }
    return std::nullopt;
}

std::string keeper_name(std::string_view unit)
{
    return slice(unit, ":bound");
}

} // namespace rdmad::systemd
