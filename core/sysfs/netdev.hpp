// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/sysfs/directory.hpp"

#include <set>

namespace rdmad::sysfs {

/// A network device and those that it is stacked on, four deep: a bond, VLAN or bridge is of what
/// is below it. root: /sys
[[nodiscard]] std::set<std::string> stack_of(const Directory& root, const std::string& netdev);

} // namespace rdmad::sysfs
