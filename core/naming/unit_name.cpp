// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/naming/unit_name.hpp"

#include "core/base/text.hpp"

#include <algorithm>
#include <array>

namespace rdmad::naming {

namespace {

// what can be started and stopped: no device, swap and the like
constexpr std::array<std::string_view, 7> types = {"service", "target", "socket", "mount",
                                                   "path",    "timer",  "slice"};

bool is_unit_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(":-_.\\@").find(c) != std::string_view::npos;
}

std::string escaped(char c)
{
    constexpr std::string_view digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    return {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
}

} // namespace

std::string unit_refusal(std::string_view unit)
{
    if (unit.size() > 255)
        return "it has " + std::to_string(unit.size()) + " bytes, and 255 fit";
    if (!std::all_of(unit.begin(), unit.end(), is_unit_character))
        return "only letters, digits and :-_.\\@ are allowed";
    const auto dot = unit.rfind('.');
    if (dot == 0)
        return "it has no name before the dot";
    if (dot == std::string_view::npos ||
        std::find(types.begin(), types.end(), unit.substr(dot + 1)) == types.end())
        return "it does not end in .service, .target, .socket, .mount, .path, .timer or .slice";
    const auto at = unit.find('@');
    if (at == 0)
        return "it begins with '@'";
    if (at + 1 == dot)
        return "it is a template without an instance: write one after the '@', such as %g, see "
               "rdmad.binding(5)";
    const auto name = unit.substr(0, dot);
    if (unit.ends_with(".slice") &&
        (name.starts_with('-') || name.ends_with('-') || name.find("--") != std::string_view::npos))
        return "a slice has no part without a name between its dashes";
    if (name == "rdmad" || name.starts_with("rdmad-") || name.starts_with("rdma-port-ready@"))
        return "it is a unit of rdmad itself";
    return {};
}

std::string device_unit(std::string_view path)
{
    std::string unit;
    for (const auto part : text::split(path, '/')) {
        if (!unit.empty())
            unit += '-';
        for (const char c : part) {
            const bool is_plain = is_unit_character(c) && c != '-' && c != '\\' && c != '@';
            // a unit's name may not begin with a dot
            if (is_plain && !(c == '.' && unit.empty()))
                unit += c;
            else
                unit += escaped(c);
        }
    }
    return (unit.empty() ? "-" : unit) + ".device";
}

} // namespace rdmad::naming
