// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/files.hpp"
#include "core/config/match.hpp"

#include <functional>

namespace rdmad::config {

/// The problems of a file that has a [Match] section and one of its own.
struct Verdict {
    bool is_match_sound = true;         ///< false: what the file matches is unknown
    std::vector<Problem> problems = {}; ///< the first 100, and how many more there are
};

/// Passes a file's assignments to match, and those of its own section to set, which returns what is
/// wrong with one, or an empty string. A file without a key in [Match] matches nothing; match_all
/// is the line, for the message, that matches all.
[[nodiscard]] Verdict
read_sections(const File& file, Match& match, std::string_view own_section,
              const std::function<std::string(const std::string&, const std::string&)>& set,
              const std::string& match_all);

/// Sets target to "yes" or "no"; empty is no. Returns what is wrong, or an empty string.
[[nodiscard]] std::string set_boolean(bool& target, const std::string& value);

} // namespace rdmad::config
