// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/binding_file.hpp"

#include <string>
#include <vector>

// Notes on what is no mistake in a file, and most likely not what was meant. root is that of an
// image, or empty.

namespace rdmad::ctl {

/// Returns notes on files in the folders that nobody reads, as their names do not end in suffix.
[[nodiscard]] std::vector<std::string> notes_on_names(const std::string& root,
                                                      const std::vector<std::string>& folders,
                                                      const std::string& suffix);

/// Returns notes on units of the file of which systemd has no file.
[[nodiscard]] std::vector<std::string> notes_on_units(const std::string& root,
                                                      const config::BindingFile& binding);

} // namespace rdmad::ctl
