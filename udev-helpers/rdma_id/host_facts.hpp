// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/match.hpp"
#include "core/naming/device_name.hpp"

namespace rdmad::rdma_id {

/// What .link files can ask about the machine: host name, machine ID, kernel command line and
/// virtualization; and in an event of an RDMA device or a node of one, its udev properties.
[[nodiscard]] config::Facts host_facts();

/// What rdmad.naming_scheme= on the kernel's command line asks for: the last one that there is.
struct AskedScheme {
    std::optional<naming::Scheme> scheme = {};
    std::string problem = {}; ///< of one that there is not
};

[[nodiscard]] AskedScheme scheme_asked_of_kernel(const std::string& command_line);

/// What rdmad.names= on the kernel's command line asks for: the last one that is a boolean.
struct AskedNames {
    bool are_given = true;    ///< false: rdmad renames no device
    std::string problem = {}; ///< of one that is no boolean
};

[[nodiscard]] AskedNames names_asked_of_kernel(const std::string& command_line);

} // namespace rdmad::rdma_id
