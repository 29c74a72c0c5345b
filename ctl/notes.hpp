// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/binding_file.hpp"

#include <string>
#include <vector>

// What is no mistake in a file, and most likely not what was meant. root is that of an image, or
// empty.

namespace rdmad::ctl {

/// Files in the folders that nobody reads, for their names do not end in the suffix.
[[nodiscard]] std::vector<std::string> notes_on_names(const std::string& root,
                                                      const std::vector<std::string>& folders,
                                                      const std::string& suffix);

/// Units of the file of which systemd has no file.
[[nodiscard]] std::vector<std::string> notes_on_units(const std::string& root,
                                                      const config::BindingFile& binding);

} // namespace rdmad::ctl
