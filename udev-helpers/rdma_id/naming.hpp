// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "udev-helpers/rdma_id/identity.hpp"
#include "udev-helpers/rdma_id/namer.hpp"
#include "udev-helpers/rdma_id/naming_input.hpp"

namespace rdmad::rdma_id {

/// Gives the device of an "add" event the name that the .link files of this system decide on.
/// Whether it has changed: then the path of the event is gone.
[[nodiscard]] Result<bool> give_name(nldev::Client& client, const sysfs::Directory& root,
                                     const Subject& subject, const Identity& identity, Tell tell,
                                     const RunPaths& run);

/// The same for the device of a node that appears, which comes before the event of the device,
/// unless another event has done so. device is what it is afterwards.
[[nodiscard]] Result<void> give_name_early(nldev::Client& client, const sysfs::Directory& root,
                                           const Subject& node, nldev::Device& device,
                                           const RunPaths& run);

/// A device has the temporary name of a swap: waits until the swap is over, or ends it if nobody is
/// left to do so. device is what it is afterwards.
[[nodiscard]] Result<void> leave_swap(nldev::Client& client, const sysfs::Directory& root,
                                      nldev::Device& device, const RunPaths& run);

/// The name of an IPoIB device on a port after its RDMA device, which gets its own name first if it
/// has none yet. Empty if no .link file asks for it, or the name does not fit.
[[nodiscard]] Result<std::string> name_ipoib(nldev::Client& client, const sysfs::Directory& root,
                                             const Subject& subject, nldev::Device device,
                                             uint32_t port, const RunPaths& run);

/// A network device has got its name: an RDMA device that waited for that gets its own now.
[[nodiscard]] Result<void> follow_netdev(nldev::Client& client, const sysfs::Directory& root,
                                         uint32_t index, const RunPaths& run);

} // namespace rdmad::rdma_id
