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

    /// Returns false if the other is known to have been made after this one went, or before it.
    [[nodiscard]] bool may_be(const NodeId& other) const
    {
        const bool is_same_birth = born == 0 || other.born == 0 || born == other.born;
        return index == other.index && node == other.node && is_same_birth;
    }
    friend auto operator<=>(const NodeId&, const NodeId&) = default;
};

} // namespace rdmad
