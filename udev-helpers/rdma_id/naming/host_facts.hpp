// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/match.hpp"
#include "core/naming/device_name.hpp"
#include "udev-helpers/rdma_id/context.hpp"

namespace rdmad::rdma_id {

/// Returns what .link files can ask about the machine: host name, machine ID, kernel command line
/// and virtualization; and, in an event of an RDMA device or a node of one, its udev properties.
/// root goes before the paths of files: empty, or the root of an image.
[[nodiscard]] config::Facts host_facts(const EventProperties& event, const std::string& root);

/// The naming scheme that rdmad.naming_scheme= on the kernel's command line asks for: the last one
/// that exists.
struct AskedScheme {
    std::optional<naming::Scheme> scheme = {};
    std::string problem = {}; ///< of one that does not exist
};

[[nodiscard]] AskedScheme scheme_asked_of_kernel(const std::string& command_line);

/// What rdmad.names= on the kernel's command line asks for: the last one that is a boolean.
struct AskedNames {
    bool are_given = true;    ///< false: rdmad renames no device
    std::string problem = {}; ///< of one that is no boolean
};

[[nodiscard]] AskedNames names_asked_of_kernel(const std::string& command_line);

} // namespace rdmad::rdma_id
