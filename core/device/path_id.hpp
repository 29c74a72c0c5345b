// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/sysfs/directory.hpp"

#include <string>

namespace rdmad {

/// Returns udev's ID_PATH of the nodes of an RDMA device that hangs on parent: "pci-0000:c1:00.0".
/// Empty if udev gives none. root is /sys.
[[nodiscard]] std::string path_id(const sysfs::Directory& root, const sysfs::Directory& parent);

} // namespace rdmad
