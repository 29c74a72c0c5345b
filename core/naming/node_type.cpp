// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/naming/node_type.hpp"

#include <algorithm>
#include <array>

namespace rdmad::naming {

namespace {

// enum rdma_node_type begins with 1
constexpr std::array<std::string_view, 7> names = {"ca",    "switch",    "router",     "rnic",
                                                   "usnic", "usnic-udp", "unspecified"};

} // namespace

std::string_view node_type_name(std::optional<uint8_t> type)
{
    return type && *type >= 1 && *type <= names.size() ? names[*type - 1] : std::string_view();
}

bool is_node_type(std::string_view name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace rdmad::naming
