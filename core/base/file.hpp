// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"

#include <fcntl.h>
#include <string>
#include <vector>

namespace rdmad {

/// All of a file. Never waits: a FIFO is read as it is. EFBIG if it is longer than the limit, which
/// is more than any configuration needs; else what open(2) and read(2) give.
[[nodiscard]] Result<std::string> read_file(const std::string& path, size_t max_size = 65536);

enum class Durable { no, yes };
enum class Existing { replaced, kept };

/// Puts a file of mode 0644, whatever the umask, in place of another, or of none, in one step;
/// temporary is where it is written first, in the same directory, and nothing is left of it.
/// Durable: a crash of the machine later on does not undo that. Fails with EEXIST if there is
/// another one that is to be kept.
[[nodiscard]] Result<void> replace_file(const std::string& path, const std::string& temporary,
                                        const std::string& text, Durable durable = Durable::no,
                                        Existing existing = Existing::replaced);

/// So that what was removed from a directory is gone after a crash, too.
void sync_directory(const std::string& path);

/// Names of what is in a directory, in the order in which the kernel lists it; none if there is no
/// such directory. A relative path begins at the directory that is open as parent.
[[nodiscard]] std::vector<std::string> names_in(const std::string& path, int parent = AT_FDCWD);

} // namespace rdmad
