// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/answers.hpp"

#include "core/base/text.hpp"

#include <limits>

namespace rdmad::ctl {

namespace {

/// The members of one object. It records the first that is wrong; what is read after that is not
/// used.
class Members {
public:
    Members(const Json& object, std::string place, std::string& wrong)
        : object_(object), place_(std::move(place)), wrong_(wrong)
    {
        if (!object.is_object())
            report("", "is no object");
    }

    [[nodiscard]] std::string text(const char* name) const
    {
        return required(name, maybe_text(name));
    }

    [[nodiscard]] std::optional<std::string> maybe_text(const char* name) const
    {
        const auto* value = find(name);
        if (!value)
            return std::nullopt;
        if (value->is_string())
            return value->get<std::string>();
        return report<std::string>(name, "is no string");
    }

    [[nodiscard]] std::string guid(const char* name) const
    {
        return required(name, maybe_guid(name));
    }

    [[nodiscard]] std::optional<std::string> maybe_guid(const char* name) const
    {
        auto value = maybe_text(name);
        if (!value)
            return std::nullopt;
        const auto number = text::parse_hex_u64(*value);
        if (!number || text::format_guid(*number) != *value)
            return report<std::string>(name, "is no GUID");
        return value;
    }

    template <typename T>
    [[nodiscard]] T number(const char* name) const
    {
        return required(name, maybe_number<T>(name));
    }

    template <typename T>
    [[nodiscard]] std::optional<T> maybe_number(const char* name) const
    {
        const auto* value = find(name);
        if (!value)
            return std::nullopt;
        if (!value->is_number_integer() || *value < 0)
            return report<T>(name, "is no whole number from 0 on");
        const auto number = value->get<uint64_t>();
        if (number > static_cast<uint64_t>(std::numeric_limits<T>::max()))
            return report<T>(name, "is too large");
        return static_cast<T>(number);
    }

    [[nodiscard]] bool flag(const char* name) const
    {
        const auto* value = find(name);
        if (value && value->is_boolean())
            return value->get<bool>();
        report(name, "is neither true nor false");
        return false;
    }

    [[nodiscard]] std::vector<std::string> words(const char* name) const
    {
        std::vector<std::string> all;
        each(name, [&](const Json& value, const std::string& place) {
            if (value.is_string())
                all.push_back(value.get<std::string>());
            else if (wrong_.empty())
                wrong_ = place + " is no string";
        });
        return all;
    }

    [[nodiscard]] std::optional<std::vector<std::string>> maybe_words(const char* name) const
    {
        return has(name) ? std::optional(words(name)) : std::nullopt;
    }

    template <typename T>
    [[nodiscard]] std::vector<T> list(const char* name, T (*read)(const Members&)) const
    {
        std::vector<T> all;
        each(name, [&](const Json& value, const std::string& place) {
            all.push_back(read(Members(value, place, wrong_)));
        });
        return all;
    }

    template <typename T>
    [[nodiscard]] std::optional<T> maybe(const char* name, T (*read)(const Members&)) const
    {
        const auto* value = find(name);
        return value ? std::optional<T>(read(Members(*value, path(name), wrong_))) : std::nullopt;
    }

    [[nodiscard]] bool has(const char* name) const
    {
        return find(name) != nullptr;
    }

private:
    [[nodiscard]] std::string path(const std::string& name) const
    {
        return place_.empty() || name.empty() ? place_ + name : place_ + "." + name;
    }

    [[nodiscard]] const Json* find(const char* name) const
    {
        if (!wrong_.empty())
            return nullptr;
        const auto found = object_.find(name);
        return found == object_.end() || found->is_null() ? nullptr : &*found;
    }

    void report(const char* name, const char* what) const
    {
        if (wrong_.empty())
            wrong_ = path(name) + " " + what;
    }

    template <typename T>
    std::optional<T> report(const char* name, const char* what) const
    {
        report(name, what);
        return std::nullopt;
    }

    template <typename T>
    T required(const char* name, std::optional<T> value) const
    {
        if (!value)
            report(name, "is missing");
        return std::move(value).value_or(T());
    }

    template <typename Take>
    void each(const char* name, Take take) const
    {
        const auto* value = find(name);
        if (!value || !value->is_array())
            return report(name, "is no list");
        for (size_t i = 0; i < value->size() && wrong_.empty(); i++)
            take((*value)[i], path(name) + "[" + std::to_string(i) + "]");
    }

    const Json& object_;
    std::string place_;
    std::string& wrong_;
};

Port read_port(const Members& of)
{
    return {.number = of.number<uint32_t>("number"),
            .guid = of.maybe_guid("guid"),
            .link_type = of.text("linkType"),
            .state = of.maybe_text("state"),
            .is_ready = of.flag("isReady"),
            .netdev = of.maybe_text("netdev"),
            .umad = of.maybe_text("umad"),
            .issm = of.maybe_text("issm"),
            .units = of.maybe_words("units")};
}

Holder read_holder(const Members& of)
{
    return {.pid = of.number<uint32_t>("pid"),
            .command = of.text("command"),
            .unit = of.maybe_text("unit"),
            .is_stored = of.flag("isStored"),
            .nodes = of.words("nodes")};
}

Inhibitor read_inhibitor(const Members& of)
{
    return {.device = of.maybe_text("device"),
            .who = of.text("who"),
            .why = of.text("why"),
            .mode = of.text("mode")};
}

KernelTarget read_target(const Members& of)
{
    return {.kind = of.text("kind"),
            .name = of.text("name"),
            .address = of.text("address"),
            .state = of.text("state"),
            .reason = of.maybe_text("reason")};
}

Life read_life(const Members& of)
{
    return {.device = of.text("device"),
            .index = of.number<uint32_t>("index"),
            .state = of.text("state"),
            .is_degraded = of.flag("isDegraded"),
            .is_blocked = of.flag("isBlocked"),
            .is_accepted = of.flag("isAccepted"),
            .holders =
                of.has("holders") ? std::optional(of.list("holders", read_holder)) : std::nullopt,
            .cause = of.maybe_text("cause"),
            .returns = of.number<uint32_t>("returns"),
            .held_until = of.maybe_number<int64_t>("heldUntil")};
}

Device read_device(const Members& of)
{
    return {.name = of.text("name"),
            .index = of.number<uint32_t>("index"),
            .driver = of.maybe_text("driver"),
            .path = of.maybe_text("path"),
            .node_guid = of.guid("nodeGuid"),
            .sys_image_guid = of.guid("sysImageGuid"),
            .protocol = of.text("protocol"),
            .firmware = of.maybe_text("firmware"),
            .uverbs = of.maybe_text("uverbs"),
            .ports = of.list("ports", read_port),
            .units = of.words("units"),
            .life = of.maybe("life", read_life)};
}

BoundPort read_bound_port(const Members& of)
{
    return {.device = of.text("device"),
            .index = of.number<uint32_t>("index"),
            .port = of.number<uint32_t>("port"),
            .guid = of.maybe_guid("guid"),
            .node_guid = of.guid("nodeGuid"),
            .node = of.maybe_text("node"),
            .is_present = of.flag("isPresent"),
            .is_ready = of.flag("isReady"),
            .anchor = of.maybe_text("anchor")};
}

Stop read_stop(const Members& of)
{
    return {.cause = of.text("cause"),
            .timestamp = of.number<int64_t>("timestamp"),
            .device = of.maybe_text("device"),
            .index = of.maybe_number<uint32_t>("index"),
            .port = of.maybe_number<uint32_t>("port"),
            .guid = of.maybe_guid("guid")};
}

Unit read_unit(const Members& of)
{
    return {.name = of.text("unit"),
            .active_state = of.maybe_text("activeState"),
            .load_state = of.maybe_text("loadState"),
            .is_wanted = of.flag("isWanted"),
            .reason = of.text("reason"),
            .bindings = of.words("bindings"),
            .ports = of.list("ports", read_bound_port),
            .stop = of.maybe("stop", read_stop)};
}

Binding read_binding(const Members& of)
{
    return {.name = of.text("name"),
            .path = of.text("path"),
            .is_runtime = of.flag("isRuntime"),
            .units = of.words("units"),
            .node = of.text("node"),
            .require = of.text("require"),
            .wait_for = of.text("waitFor"),
            .restart = of.text("restart"),
            .matches = of.words("matches"),
            .missing = of.maybe_words("missing").value_or(std::vector<std::string>()),
            .problems = of.words("problems")};
}

/// Reads all of a reply. Fails with what is wrong with it.
template <typename Read>
auto read_all(const Json& parameters, Read read) -> Answer<decltype(read(std::declval<Members>()))>
{
    std::string wrong;
    auto value = read(Members(parameters, "", wrong));
    if (!wrong.empty())
        return complaint(Complaint::Kind::broken, "rdmad's answer is wrong: " + wrong);
    return value;
}

} // namespace

Answer<std::vector<Device>> read_devices(const Json& parameters)
{
    return read_all(parameters, [](const Members& of) { return of.list("devices", read_device); });
}

Answer<std::vector<Life>> read_removing(const Json& parameters)
{
    return read_all(parameters, [](const Members& of) {
        return of.has("removing") ? of.list("removing", read_life) : std::vector<Life>();
    });
}

Answer<Bindings> read_bindings(const Json& parameters)
{
    return read_all(parameters, [](const Members& of) {
        return Bindings{.bindings = of.list("bindings", read_binding),
                        .units = of.list("units", read_unit)};
    });
}

Answer<Event> read_event(const Json& parameters)
{
    return read_all(parameters, [](const Members& of) {
        return Event{.sequence = of.number<uint64_t>("sequence"),
                     .timestamp = of.number<int64_t>("timestamp"),
                     .name = of.text("event"),
                     .devices = of.has("devices") ? std::optional(of.list("devices", read_device))
                                                  : std::nullopt,
                     .device = of.maybe("device", read_device),
                     .port = of.maybe_number<uint32_t>("port"),
                     .old_name = of.maybe_text("oldName"),
                     .binding = of.maybe_text("binding"),
                     .unit = of.maybe_text("unit"),
                     .unit_state = of.maybe_text("unitState"),
                     .reason = of.maybe_text("reason"),
                     .change = of.maybe_text("change"),
                     .life = of.maybe("life", read_life)};
    });
}

Answer<Added> read_added(const Json& parameters)
{
    return read_all(parameters, [](const Members& of) {
        return Added{.name = of.text("name"), .path = of.text("path")};
    });
}

Answer<Progress> read_progress(const Json& parameters)
{
    return read_all(parameters, [](const Members& of) {
        Progress progress = {.stage = of.maybe_text("stage").value_or(""),
                             .units = of.maybe_words("units").value_or(std::vector<std::string>()),
                             .reason = of.maybe_text("reason")};
        if (of.has("inhibitors"))
            progress.inhibitors = of.list("inhibitors", read_inhibitor);
        if (of.has("holders"))
            progress.holders = of.list("holders", read_holder);
        return progress;
    });
}

Answer<std::vector<KernelTarget>> read_targets(const Json& parameters)
{
    return read_all(parameters, [](const Members& of) { return of.list("targets", read_target); });
}

Answer<std::vector<Inhibitor>> read_inhibitors(const Json& parameters)
{
    return read_all(parameters,
                    [](const Members& of) { return of.list("inhibitors", read_inhibitor); });
}

Answer<std::vector<std::string>> read_words(const Json& parameters, const char* name)
{
    return read_all(parameters, [&](const Members& of) { return of.words(name); });
}

} // namespace rdmad::ctl
