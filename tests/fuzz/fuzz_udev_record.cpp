// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/udev_record.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <string>

// The input is the key of a property, a line break, and a file below /run/udev/data.

namespace rdmad::fuzz {

namespace {

/// Without splitting the text: what stands between the key, at the start of a line, and the end of
/// that line.
std::optional<std::string> find_property(const std::string& text, const std::string& key)
{
    const auto lines = "\n" + text + "\n";
    const auto head = "\nE:" + key + "=";
    const auto at = lines.find(head);
    if (at == std::string::npos)
        return std::nullopt;
    const auto start = at + head.size();
    return lines.substr(start, lines.find('\n', start) - start);
}

} // namespace

void run_one(std::string_view input)
{
    const auto end = std::min(input.find('\n'), input.size());
    const std::string key(input.substr(0, end));
    const std::string text(input.substr(std::min(end + 1, input.size())));
    const UdevRecord record(text);
    const auto value = record.property(key);
    require(value == find_property(text, key), "a property is the rest of its line");
    if (!value || value->empty())
        return;
    require(record.mentions(*value, ""), "a record mentions what it says");
    require(!record.mentions(*value, *value), "a present name is not an old one");
}

} // namespace rdmad::fuzz
