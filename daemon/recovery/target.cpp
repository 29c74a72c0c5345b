// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/recovery/target.hpp"

#include "core/base/text.hpp"
#include "daemon/record.hpp"

#include <array>
#include <cerrno>
#include <optional>

namespace rdmad::recovery {

namespace {

using Json = nlohmann::json;

constexpr int version = 1;
constexpr std::array<std::string_view, 4> kind_names = {"nvmet", "iser", "srpt", "nfs"};
constexpr std::array<std::string_view, 3> mode_names = {"look", "restore", "release"};
constexpr std::array<std::string_view, 6> state_names = {"up",       "dead",     "waiting",
                                                         "restored", "released", "failed"};

/// Returns the value with the name at the key.
template <typename Enum, typename Names>
std::optional<Enum> named(const Names& names, const Json& object, const char* key)
{
    std::string name;
    read(object, key, name);
    return text::find_name<Enum>(names, name);
}

Json to_json(const Target& target)
{
    return {{"kind", to_string(target.kind)},
            {"name", target.name},
            {"address", target.address},
            {"state", to_string(target.state)},
            {"reason", target.reason}};
}

std::optional<Target> target_of(const Json& object)
{
    if (!object.is_object())
        return std::nullopt;
    const auto kind = named<Kind>(kind_names, object, "kind");
    const auto state = named<Target::State>(state_names, object, "state");
    if (!kind || !state)
        return std::nullopt;
    Target target{.kind = *kind, .state = *state};
    read(object, "name", target.name);
    read(object, "address", target.address);
    read(object, "reason", target.reason);
    return target;
}

/// Returns the list at the key; an empty one if there is none.
const Json& list_of(const Json& object, const char* key)
{
    static const Json none = Json::array();
    const auto found = object.find(key);
    return found != object.end() && found->is_array() ? *found : none;
}

std::set<uint32_t> indexes_of(const Json& object, const char* key)
{
    std::set<uint32_t> indexes;
    for (const auto& index : list_of(object, key))
        if (index.is_number_unsigned() && std::in_range<uint32_t>(index.get<uint64_t>()))
            indexes.insert(index.get<uint32_t>());
    return indexes;
}

} // namespace

std::string_view to_string(Kind kind)
{
    return kind_names.at(static_cast<size_t>(kind));
}

std::string_view to_string(Target::State state)
{
    return state_names.at(static_cast<size_t>(state));
}

std::string describe(const Target& target)
{
    return std::string(to_string(target.kind)) + " " + target.name + " at " + target.address;
}

std::string format_order(const Order& order)
{
    auto kinds = Json::array();
    for (const auto kind : order.kinds)
        kinds.push_back(to_string(kind));
    return format_versioned({{"mode", mode_names.at(static_cast<size_t>(order.mode))},
                             {"devices", order.devices},
                             {"hasNfsServer", order.has_nfs_server},
                             {"number", order.number},
                             {"kinds", std::move(kinds)}},
                            version);
}

Result<Order> parse_order(std::string_view text)
{
    const auto json = parse_versioned(text, version);
    if (!json)
        return tl::unexpected<Error>(json.error());
    const auto mode = named<Order::Mode>(mode_names, *json, "mode");
    if (!mode)
        return fail(EBADMSG, "no mode");
    Order order{.mode = *mode};
    read(*json, "hasNfsServer", order.has_nfs_server);
    order.devices = indexes_of(*json, "devices");
    read(*json, "number", order.number);
    for (size_t i = 0; i < kind_names.size(); i++)
        for (const auto& kind : list_of(*json, "kinds"))
            if (kind == kind_names.at(i))
                order.kinds.insert(static_cast<Kind>(i));
    return order;
}

std::string format_report(const Report& report)
{
    auto targets = Json::array();
    for (const auto& target : report.targets)
        targets.push_back(to_json(target));
    return format_versioned({{"targets", std::move(targets)},
                             {"users", report.users},
                             {"connectsNvme", report.connects_nvme},
                             {"order", report.order}},
                            version);
}

Result<Report> parse_report(std::string_view text)
{
    const auto json = parse_versioned(text, version);
    if (!json)
        return tl::unexpected<Error>(json.error());
    Report report;
    for (const auto& object : list_of(*json, "targets"))
        if (auto target = target_of(object))
            report.targets.push_back(std::move(*target));
    read_list(*json, "users", report.users);
    read(*json, "connectsNvme", report.connects_nvme);
    read(*json, "order", report.order);
    return report;
}

std::string format_indexes(const std::set<uint32_t>& indexes)
{
    return format_versioned({{"devices", indexes}}, version);
}

Result<std::set<uint32_t>> parse_indexes(std::string_view text)
{
    return parse_versioned(text, version).map([](const Json& json) {
        return indexes_of(json, "devices");
    });
}

} // namespace rdmad::recovery
