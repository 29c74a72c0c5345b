// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/complaint.hpp"
#include "ctl/table.hpp"

#include <string>
#include <string_view>

namespace rdmad::ctl {

/// Returns the style that standard output needs.
[[nodiscard]] Style style_of_output();

/// Writes all of it at once. Returns false if nobody reads it any more; fails for another reason.
[[nodiscard]] Answer<bool> print(std::string_view text);

/// Prints, and returns that code.
[[nodiscard]] Answer<int> finish(std::string_view text, int exit_code = exit_fine);

/// Writes a line to standard error, with nothing in it that steers a terminal.
void warn(std::string_view text);

} // namespace rdmad::ctl
