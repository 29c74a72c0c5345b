// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

// The order of service in the event loop: a lower priority comes first. Clients come last: their
// requests cannot delay what a device needs, nor those of strangers an administrator.

namespace rdmad::priority {

constexpr int64_t evidence = -60; ///< why a device goes, before that it goes
constexpr int64_t udev = -50;
constexpr int64_t kernel = -40;
constexpr int64_t systemd = -30;
constexpr int64_t work = -20; ///< after all that is known of a burst of events
// at 0, as sd-event has it: timers and signals
constexpr int64_t root = 10;      ///< root's clients, and who connects (Server changes that)
constexpr int64_t strangers = 20; ///< the clients of all users but root

} // namespace rdmad::priority
