// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/specifiers.hpp"

#include "core/config/pattern.hpp"

#include <algorithm>

namespace rdmad::config {

Expanded expand(std::string_view text, const std::vector<Specifier>& specifiers)
{
    Expanded expanded;
    for (size_t i = 0; i < text.size(); i++) {
        if (text[i] != '%') {
            expanded.text += text[i];
            continue;
        }
        const char letter = ++i < text.size() ? text[i] : '\0';
        const auto found =
            std::find_if(specifiers.begin(), specifiers.end(),
                         [&](const Specifier& known) { return known.letter == letter; });
        if (found == specifiers.end()) {
            expanded.has_unknown = true;
            return expanded;
        }
        if (found->value.empty()) {
            expanded.without_value = &*found;
            return expanded;
        }
        expanded.text += found->value;
    }
    return expanded;
}

Expanded sample(std::string_view text, std::vector<Specifier> specifiers)
{
    for (auto& specifier : specifiers)
        specifier.value = "x";
    return expand(text, specifiers);
}

bool could_become(const std::string& name, const std::string& unit)
{
    std::string glob;
    for (size_t i = 0; i < name.size(); i++) {
        if (name[i] == '\\')
            glob += '\\';
        glob += name[i] == '%' ? '*' : name[i];
        // skips the letter
        if (name[i] == '%')
            i++;
    }
    return name.find('%') != std::string::npos && glob_matches(glob, unit);
}

} // namespace rdmad::config
