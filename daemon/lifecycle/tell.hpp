// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/lifecycle/history_file.hpp"

namespace rdmad::lifecycle {

/// Logs a change, unless nobody has to know of it.
void tell(const History& history, const Change& change);

} // namespace rdmad::lifecycle
