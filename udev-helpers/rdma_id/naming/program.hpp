// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rdmad::rdma_id {

/// What a program prints, up to a page of it, without white space at the ends. Whatever its exit
/// code: systemd-detect-virt's tells what it prints. None if there is no such program.
[[nodiscard]] std::optional<std::string> output_of(const std::vector<const char*>& command);

} // namespace rdmad::rdma_id
