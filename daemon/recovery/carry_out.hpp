// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/recovery/keeper.hpp"

namespace rdmad::recovery {

using Keepers = std::vector<std::unique_ptr<Keeper>>;

/// Returns the devices, and who listens, at this moment.
using Look = std::function<Result<Fabric>()>;

/// Looks at all targets, and does what is ordered, as far as that is possible now. Each is looked
/// at again right before something is done to it.
[[nodiscard]] Result<std::vector<Target>> carry_out(const Order& order, const Look& look,
                                                    const Keepers& keepers);

} // namespace rdmad::recovery
