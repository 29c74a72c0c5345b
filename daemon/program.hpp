// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

namespace rdmad {

/// Prints for --help and --version and refuses other arguments, for a program that systemd starts
/// without any. Returns the exit code, or nullopt if there are none.
[[nodiscard]] std::optional<int> answer_arguments(const char* name, const char* help, int argc,
                                                  char** argv);

} // namespace rdmad
