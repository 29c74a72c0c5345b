// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rdmad::config {

/// "%d" and its value; an empty one: it has none here.
struct Specifier {
    char letter;
    std::string_view value;
    std::string_view what = {}; ///< for a message
};

/// A text with its specifiers replaced, or the reason why there is none.
struct Expanded {
    std::string text = {};
    bool has_unknown = false;                 ///< a '%' that starts no specifier
    const Specifier* without_value = nullptr; ///< the first one that has none

    [[nodiscard]] explicit operator bool() const
    {
        return !has_unknown && !without_value;
    }
};

/// Replaces specifiers, which must outlive the result.
[[nodiscard]] Expanded expand(std::string_view text, const std::vector<Specifier>& specifiers);

/// Expands each specifier to "x", to see all that can be wrong with a text before values are known.
[[nodiscard]] Expanded sample(std::string_view text, std::vector<Specifier> specifiers);

/// Returns true if a name with specifiers gives that of the unit for some port: "a@%d.service"
/// gives "a@mlx5_0.service".
[[nodiscard]] bool could_become(const std::string& name, const std::string& unit);

} // namespace rdmad::config
