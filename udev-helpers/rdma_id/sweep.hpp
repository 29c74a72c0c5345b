// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/nldev/client.hpp"
#include "core/sysfs/directory.hpp"
#include "udev-helpers/rdma_id/context.hpp"

namespace rdmad::rdma_id {

/// Removes the claims and name records of devices that are gone. For a removal that does not
/// identify the device: udev's database has it under the name before a rename whose event came too
/// late. The cost grows with the number of records. Keeps a record that cannot be judged or
/// removed, and returns the first such failure; requests nothing while ib_core is not loaded, as no
/// device lives then. root is /sys.
[[nodiscard]] Result<void> sweep(nldev::Client& client, const sysfs::Directory& root,
                                 const Paths& paths);

} // namespace rdmad::rdma_id
