// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/status_text.hpp"

#include "core/base/text.hpp"
#include "ctl/words.hpp"

#include <algorithm>
#include <array>

namespace rdmad::ctl {

namespace {

constexpr std::array standing_words = {"running", "waiting", "stopped by unplug", "left alone"};
constexpr std::array standing_colours = {Colour::green, Colour::yellow, Colour::red, Colour::none};

/// Lines whose parts are escaped, so that only our colours reach the terminal.
class Page {
public:
    explicit Page(const Style& style) : style_(style) {}

    void line(size_t indent, const std::vector<Cell>& parts)
    {
        text_.append(indent, ' ');
        for (const auto& part : parts)
            text_ += coloured(text::escape_terminal(part.text), part.colour, style_);
        text_ += "\n";
    }
    void line(size_t indent, const std::string& text)
    {
        line(indent, {Cell{text}});
    }
    [[nodiscard]] const std::string& text() const
    {
        return text_;
    }

private:
    const Style& style_;
    std::string text_;
};

Cell standing_cell(const Unit& unit)
{
    const auto standing = static_cast<size_t>(standing_of(unit));
    return {standing_words[standing], standing_colours[standing]};
}

/// Returns the words that are known, with commas between.
std::string listed(const std::vector<std::optional<std::string>>& words)
{
    std::vector<std::string> known;
    for (const auto& word : words)
        if (word && !word->empty())
            known.push_back(*word);
    return join(known, ", ");
}

void add_device(Page& page, const Device& device)
{
    page.line(
        0, device.name + ": " +
               listed({device.protocol, device.driver, device.path,
                       "index " + std::to_string(device.index), "node GUID " + device.node_guid}));
    if (const auto life = device.life ? describe_life(*device.life) : ""; !life.empty())
        page.line(2, life);
    for (const auto& port : device.ports)
        page.line(2, {{"port " + std::to_string(port.number) + ": "},
                      state_cell(port),
                      {", " + listed({port.link_type, port.guid, port.netdev})}});
}

/// Returns what rdmad says beyond the words for how the unit stands.
std::string reason_of(const Unit& unit)
{
    constexpr std::string_view left_alone = "is left alone: ";
    const auto standing = standing_of(unit);
    if (standing == Standing::left_alone && unit.reason.starts_with(left_alone))
        return unit.reason.substr(left_alone.size());
    return standing == Standing::running && unit.reason == "runs" ? "" : unit.reason;
}

void add_unit_line(Page& page, const Unit& unit, size_t indent)
{
    const auto state = unit.active_state ? " (" + *unit.active_state + ")" : "";
    const auto reason = reason_of(unit);
    page.line(
        indent,
        {{unit.name + " "}, standing_cell(unit), {state + (reason.empty() ? "" : ": " + reason)}});
}

void add_unit(Page& page, const Unit& unit, size_t indent, int64_t now)
{
    add_unit_line(page, unit, indent);
    if (unit.stop)
        page.line(indent + 2, describe_stop(*unit.stop, now));
}

bool has_port(const Device& device, uint32_t number)
{
    return number == 0 || std::any_of(device.ports.begin(), device.ports.end(),
                                      [&](const Port& port) { return port.number == number; });
}

bool hangs_on(const Unit& unit, const Device& device)
{
    return std::any_of(unit.ports.begin(), unit.ports.end(), [&](const BoundPort& port) {
        return port.is_present && port.index == device.index && has_port(device, port.port);
    });
}

/// Returns true if the GUID was reported already, as one of what is gone.
bool is_of_gone(const std::string& guid, const std::vector<Unit>& units)
{
    const auto is_gone = [&](const BoundPort& port) {
        return !port.is_present && (port.guid == guid || port.node_guid == guid);
    };
    return std::any_of(units.begin(), units.end(), [&](const Unit& unit) {
        return std::any_of(unit.ports.begin(), unit.ports.end(), is_gone);
    });
}

std::vector<std::string> missing_of(const std::vector<Binding>& bindings,
                                    const std::vector<Unit>& units)
{
    std::vector<std::string> lines;
    for (const auto& binding : bindings)
        for (const auto& guid : binding.missing)
            if (!is_of_gone(guid, units))
                lines.push_back("nothing has GUID " + guid + ", which " + binding.name + " names");
    return lines;
}

/// Returns true if a binding has rdmad start the unit, and none keeps rdmad from that.
bool is_started_by(const std::vector<Binding>& bindings, const Unit& unit)
{
    bool is_started = false;
    for (const auto& binding : bindings) {
        if (std::find(unit.bindings.begin(), unit.bindings.end(), binding.name) ==
            unit.bindings.end())
            continue;
        if (binding.restart == "no")
            return false;
        is_started = true;
    }
    return is_started;
}

std::string describe_bound(const BoundPort& port)
{
    // what WaitFor= needs beyond that is in the line of the unit
    const auto* state = !port.is_present ? "gone" : port.is_ready ? "present" : "not usable";
    return "bound to " + port_name(port.device, port.port) + ": " +
           listed({state, port.guid ? port.guid : "node GUID " + port.node_guid, port.node});
}

size_t count_standing(const std::vector<Unit>& units, Standing standing)
{
    return static_cast<size_t>(std::count_if(units.begin(), units.end(), [&](const Unit& unit) {
        return standing_of(unit) == standing;
    }));
}

void add_problems(Page& page, const std::vector<Binding>& bindings)
{
    const auto count = static_cast<size_t>(
        std::count_if(bindings.begin(), bindings.end(),
                      [](const Binding& binding) { return !binding.problems.empty(); }));
    if (count > 0)
        page.line(0, {{count_of(count, "binding file") + " with problems", Colour::red},
                      {": rdmactl bindings lists them; after a correction, run rdmactl reload"}});
}

void add_summary(Page& page, const std::vector<Device>& devices, const std::vector<Unit>& units)
{
    size_t ports = 0;
    size_t usable = 0;
    for (const auto& device : devices)
        for (const auto& port : device.ports) {
            ports++;
            usable += port.is_ready ? 1 : 0;
        }
    page.line(0, count_of(devices.size(), "device") + ", " + count_of(ports, "port") + ", " +
                     std::to_string(usable) + " usable");
    auto text = count_of(units.size(), "unit") + " bound";
    for (size_t i = 0; i < standing_words.size(); i++)
        text += (i == 0 ? ": " : ", ") +
                std::to_string(count_standing(units, static_cast<Standing>(i))) + " " +
                standing_words[i];
    page.line(0, text);
}

void add_removing(Page& page, const Life& life)
{
    page.line(0, {{life.device + ", index " + std::to_string(life.index) + ": "},
                  {"being removed", Colour::red}});
    if (const auto text = describe_life(life); life.is_blocked)
        page.line(2, text);
}

void add_units_of(Page& page, const Device& device, const std::vector<Unit>& units, int64_t now)
{
    for (const auto& unit : units)
        if (hangs_on(unit, device))
            add_unit(page, unit, 2, now);
}

} // namespace

std::string status_of_all(const std::vector<Device>& devices, const std::vector<Life>& removing,
                          const Bindings& bindings, int64_t now, const Style& style)
{
    const auto& units = bindings.units;
    Page page(style);
    add_summary(page, devices, units);
    add_problems(page, bindings.bindings);
    for (const auto& device : devices) {
        page.line(0, "");
        add_device(page, device);
        add_units_of(page, device, units, now);
    }
    for (const auto& life : removing) {
        page.line(0, "");
        add_removing(page, life);
    }
    bool has_heading = false;
    for (const auto& unit : units) {
        if (std::any_of(devices.begin(), devices.end(),
                        [&](const Device& device) { return hangs_on(unit, device); }))
            continue;
        if (!std::exchange(has_heading, true)) {
            page.line(0, "");
            page.line(0, "No device for these now:");
        }
        add_unit(page, unit, 2, now);
    }
    const auto missing = missing_of(bindings.bindings, units);
    if (!missing.empty())
        page.line(0, "");
    for (const auto& line : missing)
        page.line(0, line);
    return page.text();
}

std::string status_of_device(const Device& device, const std::vector<Unit>& units, int64_t now,
                             const Style& style)
{
    Page page(style);
    add_device(page, device);
    const auto nodes = listed({device.firmware ? "firmware " + *device.firmware : "",
                               device.uverbs ? "node " + *device.uverbs : ""});
    if (!nodes.empty())
        page.line(2, nodes);
    add_units_of(page, device, units, now);
    return page.text();
}

std::string status_of_removing(const Life& life, const Style& style)
{
    Page page(style);
    add_removing(page, life);
    return page.text();
}

std::string status_of_unit(const Unit& unit, const std::vector<Binding>& bindings, int64_t now,
                           const Style& style)
{
    Page page(style);
    add_unit(page, unit, 0, now);
    if (const auto remedy = remedy_for(unit, is_started_by(bindings, unit)); !remedy.empty())
        page.line(2, remedy);
    for (const auto& port : unit.ports)
        page.line(2, describe_bound(port));
    for (const auto& line : missing_of(bindings, {unit}))
        page.line(2, line);
    if (!unit.bindings.empty())
        page.line(2, "by " + join(unit.bindings, ", "));
    return page.text();
}

std::string remedy_for(const Unit& unit, bool is_started)
{
    if (unit.load_state == "not-found")
        return "when it has a file: systemctl daemon-reload";
    if (unit.load_state == "masked")
        return "to have it follow its ports: systemctl unmask " + unit.name;
    if (is_started && standing_of(unit) == Standing::left_alone)
        return "to have it follow its ports: systemctl start " + unit.name;
    return {};
}

std::string unit_line(const Unit& unit, const Style& style)
{
    Page page(style);
    add_unit_line(page, unit, 0);
    return page.text();
}

} // namespace rdmad::ctl
