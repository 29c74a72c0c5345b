// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/device/device_info.hpp"

namespace rdmad {

/// A device as sysfs and the kernel have it in one state.
struct Snapshot {
    Target target; ///< the device itself
    DeviceInfo info;
};

/// Takes a snapshot of the device with this index, anew if the device is renamed meanwhile. Returns
/// nullopt if it is gone. root is /sys.
[[nodiscard]] Result<std::optional<Snapshot>>
take_snapshot(nldev::Client& client, const sysfs::Directory& root, uint32_t index);

} // namespace rdmad
