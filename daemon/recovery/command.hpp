// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <vector>

namespace rdmad::recovery {

/// Runs a program, without a shell, and gives what it prints. ENOENT: there is no such program;
/// EIO: it failed, and the error holds what it said.
[[nodiscard]] Result<std::string> run(const std::string& program,
                                      const std::vector<std::string>& arguments);

} // namespace rdmad::recovery
