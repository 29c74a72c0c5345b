// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/match.hpp"

namespace rdmad::config {

/// Returns what a .binding file can ask about the running machine.
[[nodiscard]] Facts host_facts();

} // namespace rdmad::config
