// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/match.hpp"

namespace rdmad::config {

/// Returns what .binding and .link files can ask about the machine, but for virtualization: host
/// name, machine ID and kernel command line. root goes before the paths of files: empty, or the
/// root of an image.
[[nodiscard]] Facts host_facts(const std::string& root = {});

} // namespace rdmad::config
