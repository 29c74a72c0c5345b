// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"
#include "daemon/inventory/node_id.hpp"

#include <optional>
#include <set>
#include <vector>

namespace rdmad {

/// The times when nodes went, as udev noted before PID 1 heard of it: rdma_id leaves a RemovalNote
/// if rdmad made the directory of the device. So the time is known even if rdmad does not run.
class Removals {
public:
    /// Takes the directory, /run/rdmad/bound.
    explicit Removals(std::string directory) : directory_(std::move(directory)) {}

    /// Has udev note removals of the device's nodes from now on.
    [[nodiscard]] Result<void> expect(uint32_t index) const;
    void forget(uint32_t index) const;
    /// Deletes the notes of a device's nodes but these.
    void keep_only(uint32_t index, const std::set<NodeId>& nodes) const;
    /// Returns the devices whose removals are noted.
    [[nodiscard]] std::vector<uint32_t> expected() const;
    /// Returns CLOCK_MONOTONIC in microseconds: the first removal of that name since the node was
    /// born, as udev gives another birth to a node that it has forgotten. Of one of which nobody
    /// knows that, as an earlier rdmad recorded it, the first removal.
    [[nodiscard]] std::optional<uint64_t> when(const NodeId& node) const;

private:
    [[nodiscard]] std::string path(uint32_t index) const;

    std::string directory_;
};

} // namespace rdmad
