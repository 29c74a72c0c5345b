// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/recovery/target.hpp"

namespace rdmad::recovery {

/// Logs what was done.
void tell(const Report& report);
/// Logs that a target still waits after the last try.
void tell_waiting(const Target& target);

} // namespace rdmad::recovery
