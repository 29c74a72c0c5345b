// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/nldev/client.hpp"
#include "core/sysfs/directory.hpp"
#include "udev-helpers/rdma_id/context.hpp"

namespace rdmad::rdma_id {

/// Removes the claims and name records of devices that are gone. For a removal that does not tell
/// which device went: udev's database has it under the name before a rename whose event came too
/// late. Costs the more, the more records there are. Keeps what the kernel gives no answer for.
///
/// @param client none if ib_core is not loaded: then no device lives, and to ask would load it
/// @param root /sys
void sweep(nldev::Client* client, const sysfs::Directory& root, const Paths& paths);

} // namespace rdmad::rdma_id
