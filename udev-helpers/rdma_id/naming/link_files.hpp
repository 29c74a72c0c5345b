// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/link_file.hpp"

namespace rdmad::rdma_id {

/// Reads all .link files of the system, in the order in which they are asked. root goes before the
/// folders: empty, or the root of an image.
[[nodiscard]] std::vector<config::LinkFile> read_link_files(const std::string& root);

} // namespace rdmad::rdma_id
