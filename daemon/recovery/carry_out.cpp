// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/recovery/carry_out.hpp"

#include <cerrno>

namespace rdmad::recovery {

namespace {

using State = Target::State;
using Mode = Order::Mode;

/// Records an outcome. A device or address that is not there yet is no failure.
void take_outcome(Target& target, const Result<void>& outcome, State done)
{
    target.state = done;
    if (outcome)
        return;
    const int code = outcome.error().code;
    target.state = code == EADDRNOTAVAIL || code == ENODEV ? State::waiting : State::failed;
    target.reason = outcome.error().message();
}

enum class Step { none, put_back, take_away };

bool is_ready(const Configured& configured, const Order& order)
{
    return configured.device && order.devices.contains(*configured.device);
}

Step step_of(const Configured& configured, const Keeper& keeper, const Order& order)
{
    if (order.mode == Mode::release)
        return configured.is_up && is_ready(configured, order) ? Step::take_away : Step::none;
    if (configured.is_up && !configured.is_partial)
        return Step::none;
    if (is_ready(configured, order))
        return Step::put_back;
    return keeper.hinders_removal() && configured.is_there && !configured.device ? Step::take_away
                                                                                 : Step::none;
}

/// Sets the state of a target to which nothing is done.
void describe_state(Target& target, const Configured& configured, Step step, const Order& order)
{
    target.state = configured.is_there ? State::waiting : State::released;
    if (configured.is_up && step == Step::none)
        target.state = State::up;
    else if (step != Step::none)
        target.state = State::dead;
    else if (order.mode != Mode::release)
        target.reason = configured.device ? "its device is not ready" : "no device has its address";
    if (step == Step::take_away)
        target.reason = "it may keep its device from being removed, and would be taken away";
}

/// Acts on the target's state now: somebody else may have changed it.
Result<void> act(Target& target, const Configured& before, Keeper& keeper, const Order& order,
                 const Look& look)
{
    const auto fabric = look();
    if (!fabric)
        return tl::unexpected<Error>(fabric.error());
    for (const auto& configured : keeper.targets(*fabric)) {
        if (configured.id != before.id)
            continue;
        const auto step = step_of(configured, keeper, order);
        target.reason.clear();
        if (step == Step::put_back)
            take_outcome(target, keeper.put_back(configured), State::restored);
        else if (step == Step::take_away)
            take_outcome(target, keeper.take_away(configured), State::released);
        else
            describe_state(target, configured, step, order);
    }
    return {};
}

Result<void> carry_out_for(std::vector<Target>& targets, Keeper& keeper, const Order& order,
                           const Look& look)
{
    if (order.mode != Mode::look)
        keeper.finish(order);
    const auto fabric = look();
    if (!fabric)
        return tl::unexpected<Error>(fabric.error());
    for (const auto& configured : keeper.targets(*fabric)) {
        Target target{
            .kind = keeper.kind(), .name = configured.name, .address = configured.address};
        const auto step = step_of(configured, keeper, order);
        describe_state(target, configured, step, order);
        if (step != Step::none && order.mode != Mode::look)
            if (auto outcome = act(target, configured, keeper, order, look); !outcome)
                return outcome;
        targets.push_back(std::move(target));
    }
    return {};
}

} // namespace

Result<std::vector<Target>> carry_out(const Order& order, const Look& look, const Keepers& keepers)
{
    std::vector<Target> targets;
    for (const auto& keeper : keepers)
        if (order.kinds.contains(keeper->kind()))
            if (auto outcome = carry_out_for(targets, *keeper, order, look); !outcome)
                return tl::unexpected<Error>(std::move(outcome).error());
    return targets;
}

} // namespace rdmad::recovery
