// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/recovery/target.hpp"

#include <set>
#include <string>

namespace rdmad::recovery {

/// Logs what was done; that a target was taken away, unless it is one of away: those of which that
/// was told and that were not seen otherwise since. Updates away.
void tell(const Report& report, std::set<std::string>& away);
/// Logs that a target still waits after the last try.
void tell_waiting(const Target& target);

} // namespace rdmad::recovery
