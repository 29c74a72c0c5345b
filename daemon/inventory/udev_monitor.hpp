// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/c_ptr.hpp"
#include "core/base/result.hpp"
#include "daemon/inventory/inventory.hpp"

#include <libudev.h>
#include <vector>

namespace rdmad {

/// Events of RDMA devices and their nodes, as udev has processed them.
class UdevMonitor {
public:
    /// Receives from now on. Enumerate afterwards, and nothing is missed.
    [[nodiscard]] static Result<UdevMonitor> create();

    [[nodiscard]] int fd() const;
    /// Returns the next event; nullopt if there is none. Fails with ENOBUFS if some were lost, and
    /// discards the queue then.
    [[nodiscard]] Result<std::optional<UdevEvent>> receive();
    /// Returns all devices and nodes that udev has processed.
    [[nodiscard]] Result<std::vector<UdevEvent>> enumerate() const;

private:
    using Udev = CPtr<udev, udev_unref>;
    using Monitor = CPtr<udev_monitor, udev_monitor_unref>;

    UdevMonitor(Udev udev, Monitor monitor) : udev_(std::move(udev)), monitor_(std::move(monitor))
    {
    }

    Udev udev_;
    Monitor monitor_;
};

} // namespace rdmad
