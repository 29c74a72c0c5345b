// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

#include <chrono>
#include <optional>
#include <string>

// Records below /run/rdmad are symbolic links whose target is the text. Each is made, replaced and
// read in one step, whatever other processes do.

namespace rdmad {

/// Returns the target of a symbolic link, nullopt if there is no such link or its target has more
/// than 254 bytes.
[[nodiscard]] std::optional<std::string> read_link(const std::string& path);

/// Makes a symbolic link, and the two directories that it stands in if need be. Returns 0 or an
/// errno value: EEXIST if something is there already.
int make_link(const std::string& target, const std::string& path);
/// Does the same, but replaces an existing link.
int replace_link(const std::string& target, const std::string& path);

/// How long a process waits for a lock. One that has it may ask an adapter that has stopped
/// answering, and must not hold up the events of all others.
inline constexpr std::chrono::milliseconds lock_patience{10'000};

/// Waits for the lock on what several processes must agree on, and returns it. Only root may open
/// the file: a process that can lock it can hold up udev. Fails with EBUSY if another process keeps
/// the lock. Uses SIGALRM while it waits.
[[nodiscard]] Result<UniqueFd> lock_state(const std::string& directory, const std::string& name,
                                          std::chrono::milliseconds patience = lock_patience);

} // namespace rdmad
