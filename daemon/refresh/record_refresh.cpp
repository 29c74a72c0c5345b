// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/refresh/record_refresh.hpp"

#include "core/base/text.hpp"
#include "daemon/log.hpp"

#include <algorithm>
#include <array>

namespace rdmad {

namespace {

constexpr RecordRefresh::Time second = 1'000'000;
// a change brings others, and udev may be about to have an event of its own
constexpr auto quiet_time = second;
// of what does not get quiet
constexpr auto longest_wait = 10 * second;
// each is a process
constexpr size_t most_at_once = 16;
// after each try: udev may have much to do
constexpr std::array pauses = {10 * second, 30 * second, 90 * second};

std::string service_of(uint32_t index)
{
    return "rdmad-refresh@" + std::to_string(index) + ".service";
}

} // namespace

RecordRefresh::Told RecordRefresh::told_of(const Device& device)
{
    Told told;
    for (const auto& port : device.ports)
        told.emplace_back(port.guid, port.netdev);
    return told;
}

void RecordRefresh::settle()
{
    const auto& outdated = inventory_.outdated();
    std::erase_if(attempts_, [&](const auto& entry) { return !outdated.contains(entry.first); });
    const auto now = clock_();
    size_t started = 0;
    for (const auto& [index, nodes] : outdated) {
        const auto [found, is_new] = attempts_.try_emplace(index);
        auto& attempt = found->second;
        auto told = told_of(inventory_.devices().at(index));
        if (is_new || attempt.told != told) {
            const bool is_waiting = !is_new && attempt.tries == 0 && attempt.due;
            const auto began = is_waiting ? attempt.began : now;
            attempt = {.told = std::move(told),
                       .began = began,
                       .due = std::min(now + quiet_time, began + longest_wait)};
        }
        if (!attempt.due || now < *attempt.due || !can_start())
            continue;
        if (started++ < most_at_once)
            start(index, attempt);
        else
            attempt.due = now + quiet_time;
    }
}

void RecordRefresh::start(uint32_t index, Attempt& attempt)
{
    if (attempt.tries == pauses.size())
        return give_up(index, attempt);
    attempt.due = clock_() + pauses.at(attempt.tries++);
    attempt.refusal.clear();
    manager_->start(service_of(index), [this, index](const Result<uint32_t>& job) {
        if (const auto found = attempts_.find(index); found != attempts_.end() && !job)
            found->second.refusal = job.error().context;
    });
}

void RecordRefresh::give_up(uint32_t index, Attempt& attempt) const
{
    attempt.due.reset();
    const auto& device = inventory_.devices().at(index);
    log::warning(log::id::records_outdated,
                 "udev's records of " + text::join(inventory_.outdated().at(index), ", ") + " of " +
                     device.name + " stay outdated: " +
                     (attempt.refusal.empty()
                          ? service_of(index) + " was started " + std::to_string(attempt.tries) +
                                " times, and no event changed them"
                          : service_of(index) + ": " + attempt.refusal),
                 {{log::field::device, device.name}, {log::field::index, std::to_string(index)}});
}

std::set<uint32_t> RecordRefresh::due() const
{
    std::set<uint32_t> indexes;
    const auto now = clock_();
    for (const auto& [index, attempt] : attempts_)
        if (attempt.due && now >= *attempt.due && can_start())
            indexes.insert(index);
    return indexes;
}

std::optional<RecordRefresh::Time> RecordRefresh::next_deadline() const
{
    std::optional<Time> next;
    for (const auto& [index, attempt] : attempts_)
        if (attempt.due && can_start() && (!next || *attempt.due < *next))
            next = attempt.due;
    return next;
}

} // namespace rdmad
