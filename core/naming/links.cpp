// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/naming/links.hpp"

#include "core/base/text.hpp"

#include <algorithm>
#include <cstring>

namespace rdmad::naming {

std::string port_link(uint64_t port_guid, std::string_view node)
{
    return "infiniband/by-port-guid/" + text::format_guid(port_guid) + "/" + std::string(node);
}

std::string node_link(uint64_t node_guid)
{
    return "infiniband/by-node-guid/" + text::format_guid(node_guid) + "/uverbs";
}

std::string port_alias(uint64_t port_guid, std::string_view node)
{
    return "/rdma/" + text::format_guid(port_guid) + "/" + std::string(node);
}

std::string node_alias(uint64_t node_guid)
{
    return "/rdma/node/" + text::format_guid(node_guid) + "/uverbs";
}

bool is_safe_name(std::string_view name)
{
    const auto is_safe = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               c == '_' || c == '.' || c == '-';
    };
    return !name.empty() && name.size() < 64 && name != "." && name != ".." &&
           std::all_of(name.begin(), name.end(), is_safe);
}

} // namespace rdmad::naming
