// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/supervisor/departures.hpp"

#include <algorithm>

namespace rdmad {

Departures::Departures(Removals removals) : removals_(std::move(removals))
{
    for (const auto index : removals_.expected())
        expected_.insert(index);
}

Result<void> Departures::expect(uint32_t index)
{
    if (expected_.contains(index))
        return {};
    if (auto outcome = removals_.expect(index); !outcome)
        return outcome;
    expected_.insert(index);
    return {};
}

void Departures::see(const NodeId& node, uint64_t now)
{
    seen_.try_emplace(node, now);
}

void Departures::miss(const NodeId& node, uint64_t now)
{
    if (expected_.contains(node.index))
        see(node, now);
}

uint64_t Departures::when(const NodeId& node) const
{
    const auto noted = removals_.when(node);
    const auto seen = seen_.find(node);
    if (seen == seen_.end())
        return noted.value_or(0);
    return std::min(seen->second, noted.value_or(seen->second));
}

void Departures::keep_only(uint32_t index, const std::set<NodeId>& nodes)
{
    if (expected_.contains(index))
        removals_.keep_only(index, nodes);
    std::erase_if(seen_, [&](const auto& seen) {
        return seen.first.index == index && !nodes.contains(seen.first);
    });
}

void Departures::forget(uint32_t index)
{
    if (expected_.erase(index) > 0)
        removals_.forget(index);
    keep_only(index, {});
}

} // namespace rdmad
