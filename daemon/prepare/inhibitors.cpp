// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/prepare/inhibitors.hpp"

#include <utility>

namespace rdmad {

namespace {

bool is_about(const Inhibitor& inhibitor, const Device& device)
{
    return inhibitor.device.empty() || is_called(device, inhibitor.device);
}

} // namespace

std::string_view to_string(Inhibitor::Mode mode)
{
    return mode == Inhibitor::Mode::block ? "block" : "delay";
}

std::optional<Inhibitor::Mode> parse_mode(std::string_view word)
{
    for (const auto mode : {Inhibitor::Mode::block, Inhibitor::Mode::delay})
        if (to_string(mode) == word)
            return mode;
    return std::nullopt;
}

Inhibitors::Id Inhibitors::add(Inhibitor inhibitor, OnPrepare on_prepare)
{
    entries_.emplace(++last_, Entry{std::move(inhibitor), std::move(on_prepare)});
    return last_;
}

void Inhibitors::remove(Id id)
{
    entries_.erase(id);
}

std::vector<Inhibitor> Inhibitors::all() const
{
    std::vector<Inhibitor> all;
    for (const auto& [id, entry] : entries_)
        all.push_back(entry.inhibitor);
    return all;
}

std::vector<Inhibitor> Inhibitors::against(const Device& device) const
{
    std::vector<Inhibitor> against;
    for (const auto& [id, entry] : entries_)
        if (is_about(entry.inhibitor, device))
            against.push_back(entry.inhibitor);
    return against;
}

void Inhibitors::announce(const Device& device) const
{
    for (const auto& [id, entry] : entries_)
        if (is_about(entry.inhibitor, device))
            entry.on_prepare(device);
}

} // namespace rdmad
