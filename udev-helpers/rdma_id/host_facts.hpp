// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/match.hpp"
#include "core/naming/device_name.hpp"

namespace rdmad::rdma_id {

/// What .link files can ask about the machine: host name, machine ID, kernel command line and
/// virtualization.
[[nodiscard]] config::Facts host_facts();

/// The scheme that rdmad.naming_scheme= on the kernel's command line asks for. None without it, or
/// if there is no such scheme, which is told in the journal.
[[nodiscard]] std::optional<naming::Scheme> scheme_asked_of_kernel(const std::string& command_line);

} // namespace rdmad::rdma_id
