// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Text in and out: strict numbers, and escaping for each place that a string from outside can
// reach.

namespace rdmad::text {

/// Parses the whole text: decimal digits only, no sign, no space.
[[nodiscard]] std::optional<uint32_t> parse_u32(std::string_view text);
[[nodiscard]] std::optional<uint64_t> parse_u64(std::string_view text);

/// Parses the whole text: 1 to 16 hexadecimal digits, no prefix.
[[nodiscard]] std::optional<uint64_t> parse_hex_u64(std::string_view text);

/// Returns "506b4b0300a1b2c3", as ibstat shows a GUID, without the 0x.
[[nodiscard]] std::string format_guid(uint64_t guid);

[[nodiscard]] bool is_utf8(std::string_view text);

/// Drops white space at both ends.
[[nodiscard]] std::string_view trim(std::string_view text);

/// Returns the non-empty words between separators.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// Joins words. Requires that none is empty.
template <typename Words>
[[nodiscard]] std::string join(const Words& words, std::string_view between)
{
    std::string text;
    for (const auto& word : words)
        text.append(text.empty() ? "" : between).append(word);
    return text;
}

/// Returns the enumerator whose name this is, nullopt if there is none. names: those of all, in the
/// order of their values.
template <typename Enum, size_t Count>
[[nodiscard]] std::optional<Enum> find_name(const std::array<std::string_view, Count>& names,
                                            std::string_view name)
{
    for (size_t i = 0; i < Count; i++)
        if (names[i] == name)
            return static_cast<Enum>(i);
    return std::nullopt;
}

/// Returns one word that is safe as the value of a udev property: letters, digits, #+-.:=@_/ and
/// valid UTF-8 pass, every other byte becomes \xNN (the encoding of udev's encode_devnode_name(),
/// src/shared/device-nodes.c). No line break, blank or quote is left, so no value can add a
/// property or a list item.
[[nodiscard]] std::string escape_property(std::string_view value);

/// Escapes for a terminal or a log: what is not printable, not UTF-8 or changes the direction of a
/// line becomes \xNN.
[[nodiscard]] std::string escape_terminal(std::string_view value);

/// Returns a JSON string with its quotes, fit for a terminal: what is not printable or changes the
/// direction of a line becomes \uNNNN, and bytes that are not UTF-8 U+FFFD.
[[nodiscard]] std::string quote_json(std::string_view value);

/// Returns the 64-bit FNV-1a hash, for names that have to be the same in every build. Does not
/// protect against a search for collisions.
[[nodiscard]] uint64_t stable_hash(std::string_view text);

} // namespace rdmad::text
