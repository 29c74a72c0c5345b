// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rdmad::rdma_id {

/// Runs a program and returns what it prints, up to a page of it, without white space at the ends,
/// whatever its exit code: systemd-detect-virt's says the same. Returns nullopt if there is no such
/// program.
[[nodiscard]] std::optional<std::string> output_of(const std::vector<const char*>& command);

} // namespace rdmad::rdma_id
