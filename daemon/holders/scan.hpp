// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/holders/holder.hpp"

#include <functional>

namespace rdmad {

/// Returns the service or scope that a process belongs to, of the user's manager if of none else;
/// empty if none.
[[nodiscard]] std::string unit_of_process(uint32_t pid);

/// What a look at all processes needs.
struct ScanSetup {
    std::string proc = "/proc";
    std::string devices = "/sys/dev/char";
    std::string dev = "/dev";              ///< where the kernel makes the nodes, and removes them
    std::string nodes = "/dev/infiniband"; ///< those that are there, by name
    std::function<std::string(uint32_t pid)> unit_of = unit_of_process;
    std::function<bool()> is_time_over = [] { return false; };
};

/// Returns the major numbers of RDMA nodes, from the text of /proc/devices: proc(5).
[[nodiscard]] std::set<uint32_t> node_majors(std::string_view devices);

/// Looks at the descriptors of all processes, but not of threads that do not share them. Whoever
/// has the most open is looked at last, as users can open more than there is time for. If a
/// process ends that has a node, or was not looked at, those that came since are looked at, too, as
/// they may be its children; they count as unread if there is no end of that. What a process hands
/// on meanwhile, and lives, may be missed. Reports at most 16 holders of one node, of as many units
/// as possible. Fails if /proc cannot be read.
[[nodiscard]] Result<HolderReport> scan(const ScanSetup& setup);

/// Finds the services for which PID 1 stores the descriptors that it has open. Since systemd 254 it
/// can be asked (DumpUnitFileDescriptorStore() of org.freedesktop.systemd1(5)); before, the
/// services have no name.
[[nodiscard]] std::vector<Holder> resolve_stored(std::vector<Holder> holders);

} // namespace rdmad
