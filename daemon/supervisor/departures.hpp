// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/supervisor/removals.hpp"

#include <map>
#include <set>

namespace rdmad {

/// The times when nodes went that units are tied to: by udev's notes and by what rdmad saw, of
/// which either may come first.
class Departures {
public:
    /// Takes over the notes of an earlier rdmad.
    explicit Departures(Removals removals);

    /// Has udev note when nodes of the device go. Fails if udev cannot; the next call retries.
    [[nodiscard]] Result<void> expect(uint32_t index);
    /// Records when the node went; the first time counts.
    void see(const NodeId& node, uint64_t now);
    /// Records that a node is gone that udev was to note, and may not have noted yet: systemd hears
    /// of it later than that, so it has not stopped anything for it before now.
    void miss(const NodeId& node, uint64_t now);
    /// Returns CLOCK_MONOTONIC in microseconds; 0 if nobody knows.
    [[nodiscard]] uint64_t when(const NodeId& node) const;
    /// Returns the devices whose removals udev notes.
    [[nodiscard]] const std::set<uint32_t>& expected() const
    {
        return expected_;
    }
    /// Forgets what is known of any other node of a device.
    void keep_only(uint32_t index, const std::set<NodeId>& nodes);
    /// Forgets a device that is gone.
    void forget(uint32_t index);

private:
    Removals removals_;
    std::set<uint32_t> expected_;
    std::map<NodeId, uint64_t> seen_;
};

} // namespace rdmad
