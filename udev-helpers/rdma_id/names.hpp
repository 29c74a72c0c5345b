// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "udev-helpers/rdma_id/claims.hpp"
#include "udev-helpers/rdma_id/properties.hpp"

namespace rdmad::rdma_id {

/// The links and aliases that a node gets, without those that another node has a better claim to.
/// By node GUID only where no port has a GUID.
[[nodiscard]] Result<Names> names_of(const Identity& identity, Claims& claims);

/// Puts the aliases that other rules gave the node, with blanks between, before ours.
void keep_foreign_aliases(Names& names, std::string_view aliases);

} // namespace rdmad::rdma_id
