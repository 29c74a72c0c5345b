// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/state_link.hpp"
#include "core/device/finder.hpp"

#include <functional>
#include <optional>
#include <string>

namespace rdmad::rdma_id {

/// The places of state and configuration, and how long to wait for another process there.
struct Paths {
    std::string rdmad = "/run/rdmad";
    std::string udev = "/run/udev";
    std::string log = "/dev/log"; ///< of syslog(3)
    std::string root = {}; ///< goes before /etc, /usr and /proc: empty, or the root of an image
    std::chrono::milliseconds lock_patience = rdmad::lock_patience;
};

/// Returns a udev property of the running event, or nullopt if it has none of that name.
using EventProperties = std::function<std::optional<std::string>(const std::string& key)>;

/// The objects that rdma_id works on: the kernel, sysfs, its state and the udev event that started
/// it. All must outlive the context.
struct Context {
    nldev::Client& client;
    const sysfs::Directory& root; ///< /sys
    Finder& finder;
    const Paths& paths;
    const EventProperties& event;

    /// Returns the empty string if the event does not have the property.
    [[nodiscard]] std::string property(const std::string& key) const
    {
        return event(key).value_or("");
    }
};

} // namespace rdmad::rdma_id
