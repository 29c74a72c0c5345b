// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace rdmad {

/// Port GUIDs by the index of their device.
using KnownGuids = std::map<uint32_t, std::set<uint64_t>>;

/// Returns those that an earlier rdmad tied units to or reported ready, as its records in the
/// directories of both say. Records that cannot be read are left out.
[[nodiscard]] KnownGuids read_known_guids(const std::string& units, const std::string& ready);

} // namespace rdmad
