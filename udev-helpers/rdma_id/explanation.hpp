// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "udev-helpers/rdma_id/naming_input.hpp"

namespace rdmad::rdma_id {

/// What name the .link files decide on for a device and why, for a person. Changes nothing. Empty
/// if the device has gone.
[[nodiscard]] Result<std::string> explain_name(nldev::Client& client, const sysfs::Directory& root,
                                               uint32_t index, const RunPaths& run);

} // namespace rdmad::rdma_id
