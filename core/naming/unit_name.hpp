// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <string_view>

namespace rdmad::naming {

/// Returns why rdmad may not run a unit of that name, empty if it may. systemd must accept the name
/// for a unit that can run: 1 to 255 letters, digits, ":", "-", "_", ".", "\" and "@", with a
/// suffix that is a unit type, and an instance if it is of a template (unit_name_is_valid(),
/// src/basic/unit-name.c). rdmad refuses its own units.
[[nodiscard]] std::string unit_refusal(std::string_view unit);

/// Returns the device unit of an absolute path without "." and "..": "/dev/infiniband/umad0" gives
/// "dev-infiniband-umad0.device" (unit_name_from_path(), src/basic/unit-name.c).
[[nodiscard]] std::string device_unit(std::string_view path);

} // namespace rdmad::naming
