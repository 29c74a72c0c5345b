// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/nldev/devlink.hpp"

#include <map>

namespace rdmad::lifecycle {

/// The state of functions by devlink: it counts reloads, and repeats the count with whatever else
/// is new. Pure.
class Functions {
public:
    enum class News {
        none,
        unhealthy, ///< some error was found
        recovered, ///< and is over
        reloaded   ///< its driver began anew, or tried to
    };
    News learn(const nldev::DevlinkNotice& notice);

private:
    struct Reloads {
        uint64_t count = 0;
        bool has_failed = false;
    };
    News learn_reloads(const nldev::DevlinkNotice& notice);

    std::map<std::string, Reloads> reloads_; ///< by function
};

} // namespace rdmad::lifecycle
