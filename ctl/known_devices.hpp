// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/answers.hpp"

namespace rdmad::ctl {

/// What the answers of Monitor add up to. Pure.
class KnownDevices {
public:
    /// How many events were missed before this one, by its number.
    uint64_t apply(const Event& event);

    /// By its index; none if it is not there.
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

/// An event as a line without time. before: the event's device as it was, if it was known.
[[nodiscard]] std::string event_text(const Event& event, const Device* before);

} // namespace rdmad::ctl
