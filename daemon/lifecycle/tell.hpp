// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/lifecycle/history_file.hpp"

namespace rdmad::lifecycle {

/// What the journal gets of a change; nothing of those that nobody has to know.
void tell(const History& history, const Change& change);

} // namespace rdmad::lifecycle
