// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <tl/expected.hpp>
#include <vector>

// Runs other programs, which are found as a shell finds them; there is no shell.

namespace rdmad::ctl {

// as env(1) and timeout(1) have them
constexpr int exit_not_run = 125;
constexpr int exit_cannot_run = 126;
constexpr int exit_no_command = 127;

/// Ignores a signal from now on. A command that is spawned ignores it only if the caller of this
/// program did.
void ignore_signal(int number);

/// Starts a command of at least one word; fails with what errno would be.
[[nodiscard]] tl::expected<pid_t, int> spawn(const std::vector<std::string>& command);

/// Waits for its end. Returns the status of waitpid(2), nullopt if that cannot be had.
[[nodiscard]] std::optional<int> wait_for(pid_t child);

/// Returns what a shell would: the exit code, or 128 and the number of a signal.
[[nodiscard]] int exit_code_of(std::optional<int> status);

} // namespace rdmad::ctl
