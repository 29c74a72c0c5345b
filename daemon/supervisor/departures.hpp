// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/supervisor/removals.hpp"

#include <map>
#include <set>
#include <utility>

namespace rdmad {

/// The times when nodes went that units are tied to: by udev's notes and by what rdmad saw, of
/// which either may come first.
class Departures {
public:
    /// Takes over the notes of an earlier rdmad.
    explicit Departures(Removals removals);

    /// Has udev note when a node goes that something is tied to; what was known of its name is of
    /// another one. Fails if udev cannot note it; the next call retries.
    [[nodiscard]] Result<void> expect(uint32_t index, const std::string& node);
    /// Records when the node went; the first time counts.
    void see(uint32_t index, const std::string& node, uint64_t now);
    /// Records that a node is gone that udev was to note, and may not have noted yet: systemd hears
    /// of it later than that, so it has not stopped anything for it before now.
    void miss(uint32_t index, const std::string& node, uint64_t now);
    /// Returns CLOCK_MONOTONIC in microseconds; 0 if nobody knows.
    [[nodiscard]] uint64_t when(uint32_t index, const std::string& node) const;
    /// Forgets what is known of any other device.
    void keep_only(const std::set<uint32_t>& indexes);

private:
    Removals removals_;
    std::set<uint32_t> expected_; ///< devices whose removals udev notes
    std::map<std::pair<uint32_t, std::string>, uint64_t> seen_;
};

} // namespace rdmad
