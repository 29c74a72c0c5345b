// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rdmad::naming {

/// Returns the name in enum rdma_node_type, include/rdma/ib_verbs.h: "ca"; empty if the type is not
/// known.
[[nodiscard]] std::string_view node_type_name(std::optional<uint8_t> type);

/// Returns true if a device can have a node type of this name.
[[nodiscard]] bool is_node_type(std::string_view name);

} // namespace rdmad::naming
