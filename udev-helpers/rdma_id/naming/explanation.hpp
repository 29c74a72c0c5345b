// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "udev-helpers/rdma_id/context.hpp"

namespace rdmad::rdma_id {

/// Explains to a person which name the .link files give a device and why. Changes nothing. Returns
/// an empty string if the device is gone.
[[nodiscard]] Result<std::string> explain_name(const Context& context, const Target& target);

} // namespace rdmad::rdma_id
