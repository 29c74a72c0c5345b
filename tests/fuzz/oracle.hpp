// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Second opinions: the fuzzers hold the project's results against these. They share no code with
// the project, and go another way where there is one.

namespace rdmad::fuzz {

/// The code points of a text, none if it is not UTF-8 (RFC 3629).
[[nodiscard]] std::optional<std::u32string> decode_utf8(std::string_view text);

/// C0, DEL and C1.
[[nodiscard]] bool has_control_character(const std::u32string& text);

/// Undoes escape_property(). None if a backslash is not one of "\xNN".
[[nodiscard]] std::optional<std::string> unescape(std::string_view value);

struct Json {
    std::vector<std::string> top_level_keys; ///< of the outermost object, in order
    std::vector<std::string> strings;        ///< all values that are strings, decoded, in order
};

/// None if the text is not one JSON value (RFC 8259). White space is allowed at its end only, as
/// the project writes no other.
[[nodiscard]] std::optional<Json> read_json(std::string_view text);

} // namespace rdmad::fuzz
