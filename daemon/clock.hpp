// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>

namespace rdmad {

/// Returns microseconds, the unit of PID 1's times; of CLOCK_REALTIME since 1970.
[[nodiscard]] inline uint64_t now_usec(clockid_t clock)
{
    timespec time = {};
    clock_gettime(clock, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000 +
           static_cast<uint64_t>(time.tv_nsec) / 1000;
}

using Clock = std::function<uint64_t(clockid_t)>; ///< now_usec(), except in tests

} // namespace rdmad
