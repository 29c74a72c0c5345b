// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rdmad::config {

/// "%d" and what it stands for; an empty value: nothing, here.
struct Specifier {
    char letter;
    std::string_view value;
    std::string_view what = {}; ///< for a message
};

/// A text with its specifiers replaced, or why there is none.
struct Expanded {
    std::string text = {};
    bool has_unknown = false;                 ///< a '%' that starts no specifier
    const Specifier* without_value = nullptr; ///< the first one that has none

    [[nodiscard]] explicit operator bool() const
    {
        return !has_unknown && !without_value;
    }
};

/// specifiers must outlive the result.
[[nodiscard]] Expanded expand(std::string_view text, const std::vector<Specifier>& specifiers);

/// The text with an "x" for each specifier: all that can be wrong with it before values are known.
[[nodiscard]] Expanded sample(std::string_view text, std::vector<Specifier> specifiers);

/// Whether a name with specifiers gives that of the unit for some port: "a@%d.service" gives
/// "a@mlx5_0.service".
[[nodiscard]] bool could_become(const std::string& name, const std::string& unit);

} // namespace rdmad::config
