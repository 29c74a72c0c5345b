// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The syntax of systemd.syntax(7), as bytes: sections, KEY=VALUE, comments, lines continued by "\".
// Pure and total.

namespace rdmad::config {

/// A mistake in a file, and its place.
struct Problem {
    std::string file = {};
    uint32_t line = 0;        ///< 0: the file as a whole
    std::string section = {}; ///< empty: it is in none, or in an unknown one
    std::string key = {};
    std::string what = {};

    /// Returns "/etc/rdmad/link.d/10-storage.link:7: NamePolicy: 'pth' is not a naming policy".
    [[nodiscard]] std::string message() const;
};

struct Assignment {
    std::string section;
    std::string key;
    std::string value; ///< valid UTF-8, without white space at the ends; may be empty
    std::string file = {};
    uint32_t line = 0; ///< the first one
};

struct Ini {
    std::vector<Assignment> assignments;
    std::vector<Problem> problems;
};

/// Skips sections and keys that begin with "X-", which are for others. Records file as the place.
[[nodiscard]] Ini parse_ini(std::string_view text, const std::string& file);

/// Appends the words of a list; a word in '' or "" may hold blanks, and "\" takes the next
/// character as it is. Returns false if a quote does not end.
[[nodiscard]] bool split_words(std::string_view value, std::vector<std::string>& words);

/// Returns a text as one word of a list: split_words() gives it back.
[[nodiscard]] std::string quote_word(std::string_view text);

} // namespace rdmad::config
