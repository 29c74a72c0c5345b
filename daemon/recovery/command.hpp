// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <vector>

namespace rdmad::recovery {

/// Runs a program without a shell and returns its output. Fails with ENOENT if there is no such
/// program, and with EIO and the output if the program failed.
[[nodiscard]] Result<std::string> run(const std::string& program,
                                      const std::vector<std::string>& arguments);

} // namespace rdmad::recovery
