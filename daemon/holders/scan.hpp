// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/holders/holder.hpp"

#include <functional>

namespace rdmad {

using UnitOf = std::function<std::string(uint32_t pid)>;

/// Looks at the descriptors of all processes, but not of threads that do not share them. proc:
/// "/proc"; devices: "/sys/dev/char". Skips a process that ends meanwhile; reports at most 16
/// holders of one node.
[[nodiscard]] std::vector<Holder> scan(const std::string& proc, const std::string& devices,
                                       const UnitOf& unit_of);

/// Returns the service or scope that a process belongs to, of the user's manager if of none else;
/// empty if none.
[[nodiscard]] std::string unit_of_process(uint32_t pid);

/// Finds the services for which PID 1 stores the descriptors that it has open. Since systemd 254 it
/// can be asked (DumpUnitFileDescriptorStore() of org.freedesktop.systemd1(5)); before, the
/// services have no name.
[[nodiscard]] std::vector<Holder> resolve_stored(std::vector<Holder> holders);

} // namespace rdmad
