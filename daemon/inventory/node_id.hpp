// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace rdmad {

/// One appearance of a device node. One that its module makes anew has the index and the name of
/// the one before.
struct NodeId {
    uint32_t index = 0;    ///< of its device
    std::string node = {}; ///< "uverbs0"
    /// When udev had its first event (CLOCK_MONOTONIC, microseconds); 0: not known.
    uint64_t born = 0;

    friend auto operator<=>(const NodeId&, const NodeId&) = default;
};

} // namespace rdmad
