// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/recovery/tell.hpp"

#include "daemon/log.hpp"

namespace rdmad::recovery {

void tell(const Report& report)
{
    for (const auto& target : report.targets) {
        const auto what = describe(target);
        const log::Fields fields = {{log::field::target, what}};
        if (target.state == Target::State::restored)
            log::notice(log::id::target_restored, what + " waits for connections again", fields);
        else if (target.state == Target::State::released && target.is_changed)
            log::notice(log::id::target_released, what + " is taken away until its device is ready",
                        fields);
        else if (target.state == Target::State::failed)
            log::warning(log::id::target_failed, what + ": " + target.reason, fields);
    }
}

void tell_waiting(const Target& target)
{
    const auto what = describe(target);
    log::notice(log::id::target_waits, what + " still waits: " + target.reason,
                {{log::field::target, what}});
}

} // namespace rdmad::recovery
