// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/pattern.hpp"

#include <algorithm>
#include <fnmatch.h>

namespace rdmad::config {

bool glob_matches(const std::string& glob, std::string_view value)
{
    return fnmatch(glob.c_str(), std::string(value).c_str(), 0) == 0;
}

void PatternList::add(const std::vector<std::string>& words)
{
    const bool is_negated = !words.empty() && words[0].starts_with('!');
    for (size_t i = 0; i < words.size(); i++) {
        auto glob = i == 0 && is_negated ? words[i].substr(1) : words[i];
        if (!glob.empty())
            patterns_.push_back({is_negated, std::move(glob)});
    }
}

bool PatternList::holds(const std::vector<std::string_view>& values) const
{
    const auto matches = [&](const Pattern& pattern) {
        return std::any_of(values.begin(), values.end(), [&](std::string_view value) {
            return glob_matches(pattern.glob, value);
        });
    };
    bool has_positive = false;
    bool found = false;
    for (const auto& pattern : patterns_) {
        if (!pattern.is_negated)
            has_positive = true;
        if (!matches(pattern))
            continue;
        if (pattern.is_negated)
            return false;
        found = true;
    }
    return found || !has_positive;
}

std::vector<std::string> PatternList::literals() const
{
    std::vector<std::string> words;
    for (const auto& pattern : patterns_) {
        if (pattern.is_negated || pattern.glob.find_first_of("*?[\\") != std::string::npos)
            return {};
        words.push_back(pattern.glob);
    }
    return words;
}

std::string PatternList::text() const
{
    // one "!" in front negates a whole list
    const bool all_negated = std::all_of(patterns_.begin(), patterns_.end(),
                                         [](const Pattern& pattern) { return pattern.is_negated; });
    std::string text;
    for (const auto& pattern : patterns_) {
        const bool is_marked = pattern.is_negated && (!all_negated || text.empty());
        text += (text.empty() ? "" : " ") + std::string(is_marked ? "!" : "") + pattern.glob;
    }
    return text;
}

} // namespace rdmad::config
