// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rdmad {

/// The name of a note that rdma_id leaves for rdmad in /run/rdmad/bound/INDEX, where INDEX is that
/// of the device: a symbolic link to the time when the node went (CLOCK_MONOTONIC, microseconds).
struct RemovalNote {
    std::string node;  ///< "uverbs0"
    uint64_t born = 0; ///< USEC_INITIALIZED of udev; 0: it does not know, or rdma_id did not ask

    friend bool operator==(const RemovalNote&, const RemovalNote&) = default;
};

/// Returns "uverbs0.23456789"; "uverbs0" where nobody knows when the node was born.
[[nodiscard]] std::string note_name(const RemovalNote& note);
/// Returns the parts of a name; born is 0 if it has no such part, or that is no number.
[[nodiscard]] RemovalNote parse_note_name(std::string_view name);

} // namespace rdmad
