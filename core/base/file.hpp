// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"

#include <fcntl.h>
#include <string>
#include <vector>

namespace rdmad {

/// All of a file. Never waits: a FIFO is read as it is. EFBIG if it is longer than 64 KiB, more
/// than any configuration needs; else what open(2) and read(2) give.
[[nodiscard]] Result<std::string> read_file(const std::string& path);

/// Names of what is in a directory, in the order in which the kernel lists it; none if there is no
/// such directory. A relative path begins at the directory that is open as parent.
[[nodiscard]] std::vector<std::string> names_in(const std::string& path, int parent = AT_FDCWD);

} // namespace rdmad
