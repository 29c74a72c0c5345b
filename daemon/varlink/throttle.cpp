// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/varlink/throttle.hpp"

#include <utility>

namespace rdmad::varlink {

namespace {

constexpr uint64_t interval_usec = 10'000'000;

} // namespace

std::optional<std::string> Throttle::line(const std::string& reason, const std::string& details,
                                          uint64_t now_usec)
{
    const auto [found, is_new] = past_.try_emplace(reason, Past{now_usec, 0});
    auto& past = found->second;
    if (!is_new && now_usec - past.told_usec < interval_usec) {
        past.kept_back++;
        return {};
    }
    past.told_usec = now_usec;
    std::string line = reason + details;
    if (const auto more = std::exchange(past.kept_back, 0); more > 0)
        line += ", and " + std::to_string(more) + " more before";
    return line;
}

} // namespace rdmad::varlink
