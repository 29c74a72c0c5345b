// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/recovery/tell.hpp"

#include "daemon/log.hpp"

#include <utility>

namespace rdmad::recovery {

void tell(const Report& report, std::set<std::string>& away)
{
    const auto before = std::exchange(away, {});
    for (const auto& target : report.targets) {
        const auto what = describe(target);
        const log::Fields fields = {{log::field::target, what}};
        if (target.state == Target::State::restored)
            log::notice(log::id::target_restored, what + " waits for connections again", fields);
        else if (target.state == Target::State::failed)
            log::warning(log::id::target_failed, what + ": " + target.reason, fields);
        else if (target.state == Target::State::released && away.insert(what).second &&
                 !before.contains(what))
            log::notice(log::id::target_released, what + " is taken away until its device is ready",
                        fields);
    }
}

void tell_waiting(const Target& target)
{
    const auto what = describe(target);
    log::notice(log::id::target_waits, what + " still waits: " + target.reason,
                {{log::field::target, what}});
}

} // namespace rdmad::recovery
