// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/sysfs/rdma_device.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string>

// The input is what a gids/N attribute reads as.

namespace rdmad::fuzz {

namespace {

/// Eight groups of four hexadecimal digits, colons between them.
bool looks_like_gid(std::string_view text)
{
    for (size_t i = 0; i < text.size(); i++)
        if (i % 5 == 4 ? text[i] != ':' : !isxdigit(static_cast<unsigned char>(text[i])))
            return false;
    return text.size() == 39;
}

std::string low_half_of(uint64_t value)
{
    char text[20];
    snprintf(text, sizeof text, "%04x:%04x:%04x:%04x", static_cast<unsigned>(value >> 48),
             static_cast<unsigned>(value >> 32 & 0xffff),
             static_cast<unsigned>(value >> 16 & 0xffff), static_cast<unsigned>(value & 0xffff));
    return text;
}

} // namespace

void run_one(std::string_view input)
{
    const auto half = sysfs::parse_gid_low_half(input);
    require(half.has_value() == looks_like_gid(input), "a GID is parsed, anything else refused");
    if (!half)
        return;
    std::string expected(input.substr(20));
    std::transform(expected.begin(), expected.end(), expected.begin(),
                   [](unsigned char c) { return static_cast<char>(tolower(c)); });
    require(low_half_of(*half) == expected, "the value is the low half");
}

} // namespace rdmad::fuzz
