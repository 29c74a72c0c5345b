// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/complaint.hpp"

#include <string>

namespace rdmad::ctl {

/// Fails if the folders of an image cannot be used: it is not there, or a symbolic link on the way
/// to one of them, or in one, leads out of it, so that files of this machine would be read or
/// written. An empty root is no image.
[[nodiscard]] Answer<void> check_image(const std::string& root);

} // namespace rdmad::ctl
