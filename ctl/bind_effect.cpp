// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/bind_effect.hpp"

#include "core/base/text.hpp"
#include "ctl/status_text.hpp"
#include "ctl/words.hpp"

#include <algorithm>
#include <set>

namespace rdmad::ctl {

namespace {

bool contains(const std::vector<std::string>& words, const std::string& word)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Returns true if somebody has to do something about the unit. If rdmad is never to start a unit,
/// it leaves it alone: that is not wrong.
bool is_wrong(const Unit& unit, const Bound& bound)
{
    return (bound.is_started && standing_of(unit) == Standing::left_alone) ||
           unit.load_state.value_or("loaded") != "loaded";
}

std::string advice_for(const Unit& unit, const Bound& bound)
{
    const auto remedy = text::escape_terminal(remedy_for(unit, bound.is_started));
    return remedy.empty() ? "" : "  " + remedy + "\n";
}

/// Returns lines on units. Where rdmad has nothing to start, only what is wrong is worth one.
std::string lines_for(const Bound& bound, const Style& style)
{
    const bool starts = bound.is_started && !bound.effect->matches.empty();
    std::string text;
    for (const auto& unit : bound.effect->units)
        if (is_wrong(unit, bound) || (starts && standing_of(unit) != Standing::running))
            text += unit_line(unit, style) + advice_for(unit, bound);
    return text;
}

std::string what_follows(const Bound& bound)
{
    if (!bound.effect)
        return bound.unit + " will live with the ports that match when rdmad runs";
    const auto& units = bound.effect->units;
    const bool is_sound = std::none_of(units.begin(), units.end(),
                                       [&](const Unit& unit) { return is_wrong(unit, bound); });
    if (bound.effect->matches.empty())
        return "no port matches now" +
               (is_sound && bound.is_started ? "; " + bound.unit + " starts when one appears" : "");
    const auto ports = join(bound.effect->matches, ", ");
    const std::string now = bound.is_new ? " now" : "";
    return bound.unit + (is_sound ? now + " lives with " : " is" + now + " bound to ") + ports;
}

/// Returns whose GUID it is: "mlx5_0", or "mlx5_0/1".
std::string owner_of(const std::string& guid, bool is_of_port, const std::vector<Device>& devices)
{
    for (const auto& device : devices) {
        if (!is_of_port && device.node_guid == guid)
            return device.name;
        for (const auto& port : device.ports)
            if (is_of_port && port.guid == guid)
                return port_name(device.name, port.number);
    }
    return {};
}

} // namespace

Effect effect_of(const Bindings& bindings, const std::string& name)
{
    Effect effect;
    std::set<std::string> others;
    for (const auto& unit : bindings.units) {
        if (!contains(unit.bindings, name))
            continue;
        effect.units.push_back(unit);
        others.insert(unit.bindings.begin(), unit.bindings.end());
    }
    for (const auto& binding : bindings.bindings) {
        if (binding.name == name) {
            effect.matches = binding.matches;
            effect.missing = binding.missing;
            effect.path = binding.path;
            effect.problems = binding.problems;
        } else if (others.contains(binding.name)) {
            effect.others.push_back(binding.path);
        }
    }
    return effect;
}

std::string problem_of(const Effect& effect, const std::string& path)
{
    if (effect.path.empty())
        return "rdmad does not use it: an empty file or a link to /dev/null of that name masks it";
    if (!path.ends_with(effect.path))
        return "rdmad reads " + effect.path + " in its place";
    return effect.problems.empty() ? "" : "it binds nothing: " + effect.problems.front();
}

bool is_under_way(const Effect& effect)
{
    // only the reason in words shows it: at worst a line more is printed
    return std::any_of(effect.units.begin(), effect.units.end(), [](const Unit& unit) {
        return !unit.active_state || unit.reason.starts_with("is being ");
    });
}

std::string text_of(const Bound& bound, const Style& style)
{
    auto text = (bound.is_new ? "" : "it was bound that way already: ") + what_follows(bound) +
                " (" + bound.file.path + ")";
    if (!bound.is_started)
        text += "; rdmad never starts it: --restart=no";
    return text::escape_terminal(text) + "\n" + (bound.effect ? lines_for(bound, style) : "");
}

std::vector<std::string> mixed_up(const BindRequest& request, const std::vector<Device>& devices)
{
    std::vector<std::string> hints;
    for (size_t i = 0; i < bind_keys().size(); i++) {
        if (!bind_keys()[i].is_guid || !request.values[i])
            continue;
        const bool is_port = bind_keys()[i].key == std::string_view("PortGUID");
        for (const auto word : text::split(*request.values[i], ' ')) {
            const std::string guid(word);
            const auto owner = owner_of(guid, !is_port, devices);
            if (!owner.empty() && owner_of(guid, is_port, devices).empty())
                hints.push_back(guid + " is the " + (is_port ? "node" : "port") + " GUID of " +
                                owner + ": unbind " + request.unit + ", and bind it by " +
                                (is_port ? "--node-guid" : "--port-guid"));
        }
    }
    return hints;
}

} // namespace rdmad::ctl
