// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/supervisor/removals.hpp"

#include <map>
#include <set>
#include <utility>

namespace rdmad {

/// When the nodes went that units are tied to: by udev's notes and by what rdmad saw, of which
/// either may come first.
class Departures {
public:
    /// What an earlier rdmad had noted is there.
    explicit Departures(Removals removals);

    /// Something is tied to a node that is there: what was known of its name is of another one.
    /// Fails if udev cannot note when it goes; the next call tries again.
    [[nodiscard]] Result<void> expect(uint32_t index, const std::string& node);
    /// The node is gone; the first time counts.
    void see(uint32_t index, const std::string& node, uint64_t now);
    /// CLOCK_MONOTONIC in microseconds; 0: nobody knows.
    [[nodiscard]] uint64_t when(uint32_t index, const std::string& node) const;
    /// Forgets what is known of any other device.
    void keep_only(const std::set<uint32_t>& indexes);

private:
    Removals removals_;
    std::set<uint32_t> expected_; ///< devices whose removals udev notes
    std::map<std::pair<uint32_t, std::string>, uint64_t> seen_;
};

} // namespace rdmad
