// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/device/device_info.hpp"
#include "udev-helpers/rdma_id/options.hpp"

namespace rdmad::rdma_id {

/// Returns true if a list of rdma-core's modules (modules-load.d(5)) names the module.
[[nodiscard]] bool lists_module(std::string_view list, std::string_view module);

/// Makes the kernel load what gives the device its nodes: ib_uverbs for all, ib_umad (umad and
/// issm) if a port speaks InfiniBand or OPA. Skips what is loaded already. With Load::listed, loads
/// only what the lists name for the link types, or all that is needed if there are no lists.
[[nodiscard]] Result<void> load_modules(nldev::Client& client, const sysfs::Directory& root,
                                        const DeviceInfo& info, Load load,
                                        const std::string& lists = "/etc/rdma/modules");

} // namespace rdmad::rdma_id
