// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

namespace rdmad {

/// Of a program that systemd starts, with no arguments: what --help and --version print, and what
/// it says to others. The exit code; none: there were none.
[[nodiscard]] std::optional<int> answer_arguments(const char* name, const char* help, int argc,
                                                  char** argv);

} // namespace rdmad
