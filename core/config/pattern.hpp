// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rdmad::config {

/// A list of shell patterns as in systemd.link(5). A list that begins with "!" holds if none of its
/// patterns matches.
class PatternList {
public:
    /// Adds the words of one assignment.
    void add(const std::vector<std::string>& words);
    void clear()
    {
        patterns_.clear();
    }
    [[nodiscard]] bool empty() const
    {
        return patterns_.empty();
    }

    /// Returns true if some value matches a pattern, and none a negated one. An empty list holds
    /// for anything.
    [[nodiscard]] bool holds(const std::vector<std::string_view>& values) const;
    [[nodiscard]] bool holds(std::string_view value) const
    {
        return holds(std::vector<std::string_view>{value});
    }
    /// Returns the only values that the list could hold for; empty if there is a pattern or a "!"
    /// among them.
    [[nodiscard]] std::vector<std::string> literals() const;
    /// Returns the patterns for a message: as they were given, or each with its own "!" if only
    /// some are negated.
    [[nodiscard]] std::string text() const;

private:
    struct Pattern {
        bool is_negated;
        std::string glob;
    };
    std::vector<Pattern> patterns_;
};

/// Matches by fnmatch(3): *, ? and [], none of which is special at a "/" or a leading ".".
[[nodiscard]] bool glob_matches(const std::string& glob, std::string_view value);

} // namespace rdmad::config
