// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"

#include <fcntl.h>
#include <string>
#include <vector>

namespace rdmad {

/// Reads a whole file. Never blocks: reads a FIFO as it is. Fails with EFBIG if it is longer than
/// max_size, more than any configuration needs; else with the errno of open(2) or read(2).
[[nodiscard]] Result<std::string> read_file(const std::string& path, size_t max_size = 65536);

enum class Durable { no, yes };
enum class Existing { replaced, kept };

/// Creates a file of mode 0644, whatever the umask, or replaces the one that is there, in one step.
/// Writes it to temporary first, in the same directory, and leaves nothing of that. Durable: a
/// later crash of the machine does not undo the change. Fails with EEXIST if another file is there
/// that is to be kept.
[[nodiscard]] Result<void> replace_file(const std::string& path, const std::string& temporary,
                                        const std::string& text, Durable durable = Durable::no,
                                        Existing existing = Existing::replaced);

/// Syncs a directory, so that what was removed from it is gone after a crash, too.
void sync_directory(const std::string& path);

/// Returns the names in a directory, in the order in which the kernel lists them; empty if it
/// cannot be opened. A relative path begins at the directory that is open as parent.
[[nodiscard]] std::vector<std::string> names_in(const std::string& path, int parent = AT_FDCWD);

} // namespace rdmad
