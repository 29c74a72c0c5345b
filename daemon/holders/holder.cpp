// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/holders/holder.hpp"

#include "core/base/text.hpp"
#include "daemon/record.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace rdmad {

namespace {

using Json = nlohmann::json;

constexpr int version = 2;
constexpr std::array<std::string_view, 3> kinds = {"uverbs", "umad", "issm"};

/// Refuses leading zeroes, of which a name could have hundreds.
bool is_plain_number(std::string_view digits)
{
    const auto number = text::parse_u32(digits);
    return number && std::to_string(*number) == digits;
}

void keep_only(std::set<std::string>& names, const std::set<std::string>& wanted)
{
    std::erase_if(names, [&](const std::string& name) { return !wanted.contains(name); });
}

Json to_json(const Holder& holder)
{
    return {{"pid", holder.pid},     {"command", holder.command},
            {"unit", holder.unit},   {"isStored", holder.is_stored},
            {"nodes", holder.nodes}, {"gone", holder.gone}};
}

Holder holder_of(const Json& object)
{
    Holder holder;
    if (!object.is_object())
        return holder;
    read(object, "pid", holder.pid);
    read(object, "command", holder.command);
    read(object, "unit", holder.unit);
    read(object, "isStored", holder.is_stored);
    read_list(object, "nodes", holder.nodes);
    read_list(object, "gone", holder.gone);
    return holder;
}

} // namespace

bool is_node(std::string_view name)
{
    return std::any_of(kinds.begin(), kinds.end(), [&](std::string_view kind) {
        return name.starts_with(kind) && is_plain_number(name.substr(kind.size()));
    });
}

LinkedNode node_of_link(std::string_view link)
{
    constexpr std::string_view deleted = " (deleted)";
    constexpr std::string_view folder = "/infiniband/";
    const bool is_gone = link.ends_with(deleted);
    if (is_gone)
        link.remove_suffix(deleted.size());
    const auto slash = link.rfind('/');
    if (slash == std::string_view::npos || !link.substr(0, slash + 1).ends_with(folder))
        return {};
    const auto name = link.substr(slash + 1);
    return is_node(name) ? LinkedNode{std::string(name), is_gone} : LinkedNode();
}

std::vector<Holder> holders_of(const std::vector<Holder>& all, const std::set<std::string>& nodes,
                               const std::set<std::string>& gone)
{
    std::vector<Holder> found;
    for (auto holder : all) {
        keep_only(holder.nodes, nodes);
        keep_only(holder.gone, gone);
        if (!holder.nodes.empty() || !holder.gone.empty())
            found.push_back(std::move(holder));
    }
    return found;
}

std::set<std::string> units_of(const std::vector<Holder>& holders)
{
    std::set<std::string> units;
    for (const auto& holder : holders)
        if (!holder.unit.empty())
            units.insert(holder.unit);
    return units;
}

std::string describe(const Holder& holder)
{
    if (holder.is_stored)
        return "systemd, which stores a descriptor for " +
               (holder.unit.empty() ? "some service" : holder.unit);
    if (holder.pid == 0)
        return holder.command + " of the kernel";
    // a process that calls itself "x (PID 812), y" is not to pass for another
    auto text = text::quote_json(holder.command) + " (PID " + std::to_string(holder.pid) + ")";
    return holder.unit.empty() ? text : text + " of " + holder.unit;
}

std::string describe(const std::vector<Holder>& holders)
{
    std::vector<std::string> words;
    for (const auto& holder : holders)
        words.push_back(describe(holder));
    return text::join(words, ", ");
}

std::string describe_unread(const HolderReport& report)
{
    if (!report.unread)
        return {};
    return "not all open files of " + describe(*report.unread) +
           ", and perhaps of others, were looked at";
}

std::string format_holders(const HolderReport& report)
{
    auto list = Json::array();
    std::transform(report.holders.begin(), report.holders.end(), std::back_inserter(list), to_json);
    Json object = {{"began", report.began}, {"holders", std::move(list)}};
    if (report.unread)
        object["unread"] = to_json(*report.unread);
    return format_versioned(std::move(object), version);
}

Result<HolderReport> parse_holders(std::string_view text)
{
    const auto json = parse_versioned(text, version);
    if (!json)
        return tl::unexpected<Error>(json.error());
    const auto list = json->find("holders");
    if (list == json->end() || !list->is_array())
        return fail(EBADMSG, "no list of holders");
    HolderReport report;
    read(*json, "began", report.began);
    std::transform(list->begin(), list->end(), std::back_inserter(report.holders), holder_of);
    if (const auto unread = json->find("unread"); unread != json->end() && unread->is_object())
        report.unread = holder_of(*unread);
    return report;
}

} // namespace rdmad
