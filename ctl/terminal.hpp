// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/complaint.hpp"
#include "ctl/table.hpp"

#include <string>
#include <string_view>

namespace rdmad::ctl {

/// What standard output is.
[[nodiscard]] Style style_of_output();

/// Writes all of it at once. False: nobody reads it any more; another failure is a complaint.
[[nodiscard]] Answer<bool> print(std::string_view text);

/// Prints and ends with that code.
[[nodiscard]] Answer<int> finish(std::string_view text, int exit_code = exit_fine);

/// A line on standard error, with nothing in it that steers a terminal.
void warn(std::string_view text);

} // namespace rdmad::ctl
