// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/lifecycle/functions.hpp"

#include <utility>

namespace rdmad::lifecycle {

Functions::News Functions::learn(const nldev::DevlinkNotice& notice)
{
    if (notice.is_gone)
        reloads_.erase(notice.device);
    if (notice.reloads)
        return learn_reloads(notice);
    if (!notice.is_healthy)
        return News::none;
    return *notice.is_healthy ? News::recovered : News::unhealthy;
}

Functions::News Functions::learn_reloads(const nldev::DevlinkNotice& notice)
{
    const Reloads now = {*notice.reloads, notice.has_failed_to_reload};
    // the first notice of a function older than rdmad is of a reload, if it counts any: the kernel
    // sends one then, and at the beginning, when the count is 0
    const auto before = std::exchange(reloads_[notice.device], now);
    const bool is_reload = now.count > before.count || (now.has_failed && !before.has_failed);
    return is_reload ? News::reloaded : News::none;
}

} // namespace rdmad::lifecycle
