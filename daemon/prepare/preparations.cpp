// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/prepare/preparations.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace rdmad {

namespace {

using Stage = Progress::Stage;

constexpr Preparations::Time second = 1'000'000;
// a process that was stopped closes its files a moment later
constexpr int max_looks = 5;

} // namespace

std::string_view to_string(Progress::Stage stage)
{
    constexpr std::array names = {"inhibited", "stopping", "inUse", "safe", "resumed", "gone"};
    return names.at(static_cast<size_t>(stage));
}

Preparations::Preparations(const Inhibitors& inhibitors, Time delay, Parts parts)
    : inhibitors_(inhibitors), delay_(delay), parts_(std::move(parts))
{
}

bool Preparations::begin(uint32_t index, bool ignores_inhibitors, OnProgress on_progress)
{
    const auto* device = parts_.device(index);
    if (!device)
        return false;
    const auto [entry, is_new] = running_.try_emplace(index);
    if (!is_new)
        return false;
    entry->second.on_progress = std::move(on_progress);
    entry->second.ignores_inhibitors = ignores_inhibitors;
    entry->second.due = parts_.clock() + delay_;
    entry->second.number = ++count_;
    inhibitors_.announce(*device);
    return true;
}

void Preparations::abandon(uint32_t index)
{
    const auto entry = running_.find(index);
    if (entry == running_.end())
        return;
    entry->second.on_progress = {};
    if (entry->second.stage == Stage::inhibited)
        running_.erase(entry);
}

void Preparations::resume(uint32_t index)
{
    if (const auto entry = running_.find(index); entry != running_.end())
        end(entry, {.stage = Stage::resumed});
    parts_.resume(index);
}

void Preparations::advance()
{
    // each may end while it is looked at
    std::vector<uint32_t> indexes;
    for (const auto& [index, preparation] : running_)
        indexes.push_back(index);
    for (const auto index : indexes)
        if (const auto entry = running_.find(index); entry != running_.end())
            advance(entry);
}

void Preparations::advance(Entry entry)
{
    auto& stage = entry->second.stage;
    const auto* device = parts_.device(entry->first);
    if (!device)
        return end(entry, {.stage = Stage::gone});
    if (stage == Stage::inhibited && !may_stop_units(entry, *device))
        return;
    if (stage == Stage::stopping && !have_units_stopped(entry))
        return;
    look_if_due(entry);
}

bool Preparations::may_stop_units(Entry entry, const Device& device)
{
    auto& preparation = entry->second;
    auto against =
        preparation.ignores_inhibitors ? std::vector<Inhibitor>() : inhibitors_.against(device);
    if (against.empty()) {
        preparation.stage = Stage::stopping;
        parts_.drain(entry->first);
        return true;
    }
    const bool is_blocked =
        std::any_of(against.begin(), against.end(), [](const Inhibitor& inhibitor) {
            return inhibitor.mode == Inhibitor::Mode::block;
        });
    const Progress progress = {.stage = Stage::inhibited, .inhibitors = std::move(against)};
    if (!is_blocked && parts_.clock() < preparation.due) {
        tell(preparation, progress);
        return false;
    }
    end(entry, progress);
    return false;
}

bool Preparations::have_units_stopped(Entry entry)
{
    auto& preparation = entry->second;
    auto [units, problem] = parts_.stop(entry->first, preparation.asked);
    if (!problem.empty()) {
        end(entry,
            {.stage = Stage::in_use, .units = std::move(units), .problem = std::move(problem)});
        return false;
    }
    if (!units.empty()) {
        tell(preparation, {.stage = Stage::stopping, .units = std::move(units)});
        return false;
    }
    preparation.stage = Stage::in_use;
    preparation.due = parts_.clock();
    return true;
}

void Preparations::look_if_due(Entry entry)
{
    auto& preparation = entry->second;
    if (preparation.is_looking || parts_.clock() < preparation.due)
        return;
    preparation.is_looking = true;
    parts_.look(entry->first, [this, index = entry->first,
                               number = preparation.number](const Result<Users>& found) {
        const auto asked = running_.find(index);
        if (asked != running_.end() && asked->second.number == number)
            take_users(asked, found);
    });
}

void Preparations::take_users(Entry entry, const Result<Users>& found)
{
    entry->second.is_looking = false;
    const auto* device = parts_.device(entry->first);
    if (!device)
        return end(entry, {.stage = Stage::gone});
    if (!found)
        return end(entry, {.stage = Stage::in_use, .problem = found.error().message()});
    // as they are now: one may have been made meanwhile
    const auto nodes = parts_.nodes(*device);
    auto holders = holders_of(found->processes.holders, nodes, {});
    for (const auto& user : found->kernel)
        holders.push_back({.command = user, .nodes = nodes});
    if (!holders.empty())
        return look_again(entry, {.stage = Stage::in_use, .holders = std::move(holders)});
    if (auto gap = describe_unread(found->processes); !gap.empty())
        return end(entry, {.stage = Stage::in_use, .problem = std::move(gap)});
    const auto contexts = parts_.contexts(*device);
    if (!contexts)
        return end(entry, {.stage = Stage::in_use, .problem = contexts.error().message()});
    if (*contexts == 0)
        return end(entry, {.stage = Stage::safe});
    // the kernel may still be taking them from a program that has ended
    look_again(entry, {.stage = Stage::in_use,
                       .problem = "programs that were not found use it: "
                                  "rdma resource show ctx dev " +
                                  device->name});
}

void Preparations::look_again(Entry entry, Progress progress)
{
    auto& preparation = entry->second;
    if (++preparation.looks == max_looks)
        return end(entry, std::move(progress));
    preparation.due = parts_.clock() + second;
    if (!progress.holders.empty())
        tell(preparation, std::move(progress));
}

std::optional<Preparations::Time> Preparations::next_deadline() const
{
    std::optional<Time> next;
    for (const auto& [index, preparation] : running_)
        if (preparation.stage != Stage::stopping && !preparation.is_looking)
            next = std::min(next.value_or(preparation.due), preparation.due);
    return next;
}

void Preparations::tell(Preparation& preparation, Progress progress)
{
    if (preparation.told == progress)
        return;
    preparation.told = progress;
    if (preparation.on_progress)
        preparation.on_progress(progress);
}

void Preparations::end(Entry entry, Progress progress)
{
    auto preparation = std::move(entry->second);
    running_.erase(entry);
    progress.is_last = true;
    tell(preparation, std::move(progress));
}

} // namespace rdmad
