// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/answers.hpp"

namespace rdmad::ctl {

/// The devices, as the replies of Monitor add up. Pure.
class KnownDevices {
public:
    /// Applies an event. Returns how many were missed before it, by its number.
    uint64_t apply(const Event& event);

    /// Returns the device with the index; null if it is not there.
    [[nodiscard]] const Device* find(uint32_t index) const;
    [[nodiscard]] const std::vector<Device>& all() const
    {
        return devices_;
    }

private:
    void put(const Device& device);
    void put(const Life& life);

    std::vector<Device> devices_;
    std::optional<uint64_t> sequence_;
};

/// Returns an event as a line without time. before: the event's device as it was, if it was known.
[[nodiscard]] std::string event_text(const Event& event, const Device* before);

} // namespace rdmad::ctl
