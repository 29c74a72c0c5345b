// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/nldev/client.hpp"
#include "core/sysfs/rdma_device.hpp"
#include "udev-helpers/rdma_id/index_hints.hpp"

namespace rdmad::rdma_id {

/// Asks the kernel about the device whose sysfs directory is open. No kernel interface leads from a
/// name to an index but a dump of all devices, so likely indexes are tried one by one: what an
/// earlier event of the device found, what the hints tell, and those next to the highest one known,
/// for the kernel counts upwards (xa_alloc_cyclic()). A dump comes last. An index counts only if
/// the kernel gives it a name that leads to the very same sysfs directory. None if the device is
/// gone.
///
/// @param name the device's name a moment ago
/// @param earlier the index that an earlier event told, if any
[[nodiscard]] Result<std::optional<nldev::Device>>
find_device(nldev::Client& client, const sysfs::Directory& root, const sysfs::RdmaDevice& device,
            const std::string& name, std::optional<uint32_t> earlier, IndexHints& hints);

} // namespace rdmad::rdma_id
