// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/match.hpp"
#include "core/naming/device_name.hpp"
#include "udev-helpers/rdma_id/context.hpp"

namespace rdmad::rdma_id {

/// Returns what .link files can ask about the machine: what config::host_facts() returns, and
/// virtualization.
[[nodiscard]] config::Facts host_facts(const std::string& root);

/// The options of the kernel command line about names. The last valid value of each counts.
struct KernelOptions {
    bool gives_names = true;                   ///< rdmad.names=no: rdmad does not rename devices
    std::optional<naming::Scheme> scheme = {}; ///< rdmad.naming_scheme=
    std::vector<std::string> problems = {};    ///< a message for each invalid value
};

[[nodiscard]] KernelOptions parse_kernel_options(std::string_view command_line);

} // namespace rdmad::rdma_id
