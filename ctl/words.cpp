// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/words.hpp"

#include "core/base/text.hpp"
#include "core/naming/unit_name.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <numeric>

namespace rdmad::ctl {

namespace {

constexpr size_t max_hints = 8;

/// Returns how many letters differ (Levenshtein).
size_t distance(std::string_view left, std::string_view right)
{
    std::vector<size_t> row(right.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < left.size(); i++) {
        size_t diagonal = i;
        row[0] = i + 1;
        for (size_t j = 0; j < right.size(); j++) {
            const size_t above = row[j + 1];
            const size_t replaced = diagonal + (left[i] == right[j] ? 0 : 1);
            row[j + 1] = std::min({row[j] + 1, above + 1, replaced});
            diagonal = above;
        }
    }
    return row.back();
}

bool is_near(std::string_view wanted, std::string_view name)
{
    // longer ones are no names, and would take their time
    if (wanted.empty() || wanted.size() > 300 || name.size() > 300)
        return false;
    return name.starts_with(wanted) || distance(wanted, name) <= 2;
}

} // namespace

std::string count_of(size_t count, std::string_view what)
{
    return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

std::string ago(int64_t then, int64_t now)
{
    const auto seconds = now > then ? (now - then) / 1'000'000 : 0;
    if (seconds < 2)
        return "just now";
    if (seconds < 120)
        return std::to_string(seconds) + " s ago";
    if (seconds < 2 * 3600)
        return std::to_string(seconds / 60) + " min ago";
    if (seconds < 2 * 86400)
        return std::to_string(seconds / 3600) + " h ago";
    return std::to_string(seconds / 86400) + " d ago";
}

std::string local_time(int64_t timestamp)
{
    const time_t seconds = timestamp / 1'000'000;
    tm parts{};
    std::array<char, 64> text{};
    if (!localtime_r(&seconds, &parts) ||
        strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts) == 0)
        return "?";
    return text.data();
}

std::string plain_guid(std::string_view word)
{
    auto digits =
        std::string(word.starts_with("0x") || word.starts_with("0X") ? word.substr(2) : word);
    // a group of fewer than four digits would move those before it
    const bool may_be_short = digits.size() < word.size() && digits.find(':') == std::string::npos;
    std::erase(digits, ':');
    const auto number = text::parse_hex_u64(digits);
    if (!number || (digits.size() != 16 && !may_be_short))
        return std::string(word);
    return text::format_guid(*number);
}

bool is_unit(std::string_view word)
{
    return naming::unit_refusal(word).empty();
}

std::string with_suffix(const std::string& unit)
{
    // systemd.unit(5); those that cannot be bound have to be refused, not taken for a service
    constexpr std::array<std::string_view, 11> suffixes = {
        ".service", ".socket", ".target", ".device", ".mount", ".automount",
        ".swap",    ".timer",  ".path",   ".slice",  ".scope"};
    const bool has_suffix =
        std::any_of(suffixes.begin(), suffixes.end(),
                    [&](std::string_view suffix) { return unit.ends_with(suffix); });
    return has_suffix ? unit : unit + ".service";
}

std::vector<std::string> nearby(std::string_view wanted, const std::vector<std::string>& names)
{
    std::vector<std::string> near;
    std::copy_if(names.begin(), names.end(), std::back_inserter(near),
                 [&](const std::string& name) { return is_near(wanted, name); });
    near.resize(std::min(near.size(), max_hints));
    return near;
}

std::string port_name(const std::string& device, uint32_t port)
{
    return port == 0 ? device : device + "/" + std::to_string(port);
}

Cell state_cell(const Port& port)
{
    const auto state = port.state.value_or("unknown");
    if (port.is_ready)
        return {state, Colour::green};
    if (state == "down")
        return {state, Colour::red};
    return {state == "active" ? "no-address" : state, Colour::yellow};
}

std::string describe_stop(const Stop& stop, int64_t now)
{
    const auto when = ago(stop.timestamp, now);
    if (stop.cause == "condition")
        return "last start: condition not met, " + when;
    if (stop.cause == "dependency")
        return "last start: dependency failed, " + when;
    auto text = "last stop: " + stop.cause;
    if (stop.device)
        text += " of " + port_name(*stop.device, stop.port.value_or(0));
    else if (stop.guid)
        text += " of port " + *stop.guid;
    return text + ", " + when;
}

bool is_active(const Unit& unit)
{
    const auto state = unit.active_state.value_or("");
    return state == "active" || state == "reloading" || state == "refreshing";
}

std::string describe_holder(const Holder& holder)
{
    if (holder.is_stored)
        return "systemd, which stores a descriptor for " + holder.unit.value_or("some service");
    if (holder.pid == 0)
        return holder.command + " of the kernel";
    // a process that calls itself "x (PID 812), y" is not to pass for another
    const auto text =
        text::quote_json(holder.command) + " (PID " + std::to_string(holder.pid) + ")";
    return holder.unit ? text + " of " + *holder.unit : text;
}

std::string describe_holders(const std::vector<Holder>& holders)
{
    std::vector<std::string> words;
    std::transform(holders.begin(), holders.end(), std::back_inserter(words), describe_holder);
    return join(words, ", ");
}

namespace {

std::string describe_block(const Life& life)
{
    const std::string waits = "its removal waits: it is in use";
    if (!life.holders)
        return waits;
    if (life.holders->empty())
        return waits + " by a part of the kernel, or by mapped memory";
    return waits + " by " + describe_holders(*life.holders);
}

} // namespace

std::string describe_life(const Life& life)
{
    std::vector<std::string> parts;
    if (life.is_blocked)
        parts.push_back(describe_block(life));
    else if (life.is_degraded)
        parts.push_back("degraded: none of its ports could be used in time");
    else if (life.state == "draining")
        parts.push_back("prepared for removal: nothing is started with it; rdmactl resume " +
                        life.device + " undoes that");
    else if (life.state != "ready")
        parts.push_back(life.state);
    if (life.held_until)
        parts.push_back("held, as it came back " + count_of(life.returns, "time") +
                        ": nothing is started with it; rdmactl release " + life.device +
                        " ends that");
    if (!life.is_accepted)
        parts.push_back("in place of another device: some wait for rdmactl accept " + life.device);
    if (life.cause)
        parts.push_back("went last: " + *life.cause);
    return join(parts, "; ");
}

Standing standing_of(const Unit& unit)
{
    if (is_active(unit) || unit.active_state == "activating")
        return Standing::running;
    if (!unit.is_wanted)
        return Standing::left_alone;
    return unit.stop && unit.stop->cause == "unplug" ? Standing::unplugged : Standing::waiting;
}

} // namespace rdmad::ctl
