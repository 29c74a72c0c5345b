// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/nldev/devlink.hpp"

#include "core/nldev/attributes.hpp"

#include <cerrno>
#include <cstring>
#include <linux/devlink.h>
#include <linux/genetlink.h>

namespace rdmad::nldev {

namespace {

using namespace wire;

/// Returns the reloads in one DEVLINK_ATTR_RELOAD_STATS_ENTRY.
Result<uint64_t> count_of(Bytes entry)
{
    std::optional<uint8_t> limit;
    uint32_t count = 0;
    auto outcome = parse_attributes(entry, {{DEVLINK_ATTR_RELOAD_STATS_LIMIT, &limit},
                                            {DEVLINK_ATTR_RELOAD_STATS_VALUE, &count}});
    return parsed(uint64_t{limit == DEVLINK_RELOAD_LIMIT_NO_RESET ? 0 : count}, std::move(outcome));
}

/// Returns the sum of count over the attributes of a type. They nest as devlink_reload_stats_put()
/// writes them: entries in DEVLINK_ATTR_RELOAD_ACTION_STATS in DEVLINK_ATTR_RELOAD_ACTION_INFO.
template <typename Count>
Result<uint64_t> sum_of(Bytes nest, uint16_t wanted, Count count)
{
    uint64_t sum = 0;
    auto outcome = walk_attributes(nest, [&](uint16_t type, Bytes value) -> Result<void> {
        if (type != wanted)
            return {};
        const auto inner = count(value);
        sum += inner.value_or(0);
        return inner ? Result<void>() : tl::unexpected<Error>(inner.error());
    });
    return parsed(sum, std::move(outcome));
}

Result<uint64_t> sum_of_actions(Bytes stats)
{
    return sum_of(stats, DEVLINK_ATTR_RELOAD_ACTION_INFO, [](Bytes info) {
        return sum_of(info, DEVLINK_ATTR_RELOAD_ACTION_STATS, [](Bytes entries) {
            return sum_of(entries, DEVLINK_ATTR_RELOAD_STATS_ENTRY, count_of);
        });
    });
}

/// Counts the reloads by this host, and by others that share the adapter.
Result<uint64_t> count_reloads(Bytes stats)
{
    Bytes own;
    Bytes remote;
    if (auto outcome = parse_attributes(stats, {{DEVLINK_ATTR_RELOAD_STATS, &own},
                                                {DEVLINK_ATTR_REMOTE_RELOAD_STATS, &remote}});
        !outcome)
        return tl::unexpected<Error>(std::move(outcome).error());
    auto sum = sum_of_actions(own);
    const auto others = sum_of_actions(remote);
    if (!others)
        return tl::unexpected<Error>(others.error());
    if (sum)
        *sum += *others;
    return sum;
}

Result<void> take_function(Bytes attributes, DevlinkNotice& notice)
{
    Bytes stats;
    std::optional<uint8_t> has_failed;
    if (auto outcome = parse_attributes(attributes, {{DEVLINK_ATTR_DEV_STATS, &stats},
                                                     {DEVLINK_ATTR_RELOAD_FAILED, &has_failed}});
        !outcome)
        return outcome;
    const auto reloads = count_reloads(stats);
    if (!reloads)
        return tl::unexpected<Error>(reloads.error());
    notice.reloads = *reloads;
    notice.has_failed_to_reload = has_failed.value_or(0) != 0;
    return {};
}

Result<void> take_reporter(Bytes attributes, DevlinkNotice& notice)
{
    // enum devlink_health_reporter_state, include/net/devlink.h
    constexpr uint8_t healthy = 0;
    Bytes reporter;
    std::optional<uint32_t> port;
    std::optional<uint8_t> state;
    auto outcome = parse_attributes(
        attributes, {{DEVLINK_ATTR_HEALTH_REPORTER, &reporter}, {DEVLINK_ATTR_PORT_INDEX, &port}});
    if (outcome)
        outcome = parse_attributes(reporter, {{DEVLINK_ATTR_HEALTH_REPORTER_STATE, &state}});
    if (outcome && state && !port)
        notice.is_healthy = *state == healthy;
    return outcome;
}

} // namespace

Result<DevlinkNotice> parse_devlink(Bytes payload)
{
    genlmsghdr header;
    if (payload.size() < sizeof header)
        return malformed("a devlink message of " + std::to_string(payload.size()) + " bytes");
    memcpy(&header, payload.data(), sizeof header);
    const auto attributes = payload.subspan(sizeof header);
    DevlinkNotice notice;
    auto outcome = parse_attributes(attributes, {{DEVLINK_ATTR_DEV_NAME, &notice.device}});
    if (outcome && header.cmd == DEVLINK_CMD_NEW)
        outcome = take_function(attributes, notice);
    else if (outcome && header.cmd == DEVLINK_CMD_HEALTH_REPORTER_RECOVER)
        outcome = take_reporter(attributes, notice);
    notice.is_gone = header.cmd == DEVLINK_CMD_DEL;
    if (outcome && notice.device.empty())
        return malformed("a devlink message without a device");
    return parsed(std::move(notice), std::move(outcome));
}

} // namespace rdmad::nldev
