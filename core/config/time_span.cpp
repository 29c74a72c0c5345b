// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/time_span.hpp"

#include "core/base/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace rdmad::config {

namespace {

constexpr uint64_t second = 1'000'000;
constexpr uint64_t longest = 366 * 24 * 3600 * second;
constexpr std::array<std::pair<std::string_view, uint64_t>, 10> units = {{
    {"", second},
    {"us", 1},
    {"ms", 1000},
    {"s", second},
    {"sec", second},
    {"m", 60 * second},
    {"min", 60 * second},
    {"h", 3600 * second},
    {"hr", 3600 * second},
    {"d", 24 * 3600 * second},
}};

std::string_view take_while(std::string_view& text, std::string_view set)
{
    const auto end = std::min(text.find_first_not_of(set), text.size());
    const auto taken = text.substr(0, end);
    text.remove_prefix(end);
    return taken;
}

} // namespace

std::optional<uint64_t> parse_time_span(std::string_view text)
{
    uint64_t total = 0;
    do {
        const auto number = text::parse_u64(take_while(text, "0123456789"));
        take_while(text, " \t");
        const auto name = take_while(text, "abcdefghijklmnopqrstuvwxyz");
        take_while(text, " \t");
        const auto unit = std::find_if(units.begin(), units.end(),
                                       [&](const auto& known) { return known.first == name; });
        if (!number || unit == units.end() || *number > longest / unit->second)
            return std::nullopt;
        total += *number * unit->second;
        // a number without a unit can only be the last
        if (total > longest || (name.empty() && !text.empty()))
            return std::nullopt;
    } while (!text.empty());
    return total;
}

} // namespace rdmad::config
