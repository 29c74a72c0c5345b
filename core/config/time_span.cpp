// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/time_span.hpp"

#include "core/base/text.hpp"

#include <algorithm>
#include <array>

namespace rdmad::config {

namespace {

constexpr uint64_t second = 1'000'000;
constexpr uint64_t day = 24 * 3600 * second;
constexpr uint64_t longest = 366 * day;
constexpr uint64_t month = 2'629'800 * second; // of 30.44 days, as systemd has it
constexpr uint64_t year = 31'557'600 * second; // of 365.25 days

struct Unit {
    std::string_view name;
    uint64_t length;
};

// The Greek letter and the micro sign look alike, and are two characters
constexpr std::array units = {Unit{"", second},
                              Unit{"us", 1},
                              Unit{"usec", 1},
                              Unit{"\u03bcs", 1},
                              Unit{"\u00b5s", 1},
                              Unit{"ms", 1000},
                              Unit{"msec", 1000},
                              Unit{"s", second},
                              Unit{"sec", second},
                              Unit{"second", second},
                              Unit{"seconds", second},
                              Unit{"m", 60 * second},
                              Unit{"min", 60 * second},
                              Unit{"minute", 60 * second},
                              Unit{"minutes", 60 * second},
                              Unit{"h", 3600 * second},
                              Unit{"hr", 3600 * second},
                              Unit{"hour", 3600 * second},
                              Unit{"hours", 3600 * second},
                              Unit{"d", day},
                              Unit{"day", day},
                              Unit{"days", day},
                              Unit{"w", 7 * day},
                              Unit{"week", 7 * day},
                              Unit{"weeks", 7 * day},
                              Unit{"M", month},
                              Unit{"month", month},
                              Unit{"months", month},
                              Unit{"y", year},
                              Unit{"year", year},
                              Unit{"years", year}};

constexpr std::string_view digits = "0123456789";
constexpr std::string_view blanks = " \t";
constexpr std::string_view digits_and_blanks = "0123456789 \t";

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
        const auto number = text::parse_u64(take_while(text, digits));
        take_while(text, blanks);
        const auto name = text.substr(0, text.find_first_of(digits_and_blanks));
        text.remove_prefix(name.size());
        take_while(text, blanks);
        const auto unit = std::find_if(units.begin(), units.end(),
                                       [&](const Unit& known) { return known.name == name; });
        if (!number || unit == units.end() || *number > longest / unit->length)
            return std::nullopt;
        total += *number * unit->length;
        // a number without a unit can only be the last
        if (total > longest || (name.empty() && !text.empty()))
            return std::nullopt;
    } while (!text.empty());
    return total;
}

} // namespace rdmad::config
