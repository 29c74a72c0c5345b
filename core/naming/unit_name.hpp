// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <string_view>

namespace rdmad::naming {

/// Why systemd would not take it for the name of a unit that can run, empty if it would: 1 to 255
/// letters, digits, ":", "-", "_", ".", "\" and "@", with a suffix that is a unit type, and an
/// instance if it is of a template (unit_name_is_valid(), src/basic/unit-name.c).
[[nodiscard]] std::string unit_refusal(std::string_view unit);

} // namespace rdmad::naming
