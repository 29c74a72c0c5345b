// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/answers.hpp"
#include "ctl/table.hpp"

// The output of "rdmactl status". now is microseconds since 1970. Pure.

namespace rdmad::ctl {

/// Returns counts, then each device with its units, those that the kernel cannot remove, then the
/// units without one, and what files name in vain.
[[nodiscard]] std::string status_of_all(const std::vector<Device>& devices,
                                        const std::vector<Life>& removing, const Bindings& bindings,
                                        int64_t now, const Style& style);
/// Returns the status of one that the kernel removes.
[[nodiscard]] std::string status_of_removing(const Life& life, const Style& style);
/// Returns its status with the units that are bound to the ports that it has here.
[[nodiscard]] std::string status_of_device(const Device& device, const std::vector<Unit>& units,
                                           int64_t now, const Style& style);
/// Returns its status. bindings: the files that bind it.
[[nodiscard]] std::string status_of_unit(const Unit& unit, const std::vector<Binding>& bindings,
                                         int64_t now, const Style& style);
/// Returns what to do about a unit that systemd cannot load, or that rdmad leaves alone although it
/// is to start it (is_started); empty if nothing.
[[nodiscard]] std::string remedy_for(const Unit& unit, bool is_started);
/// Returns the unit alone, in a line.
[[nodiscard]] std::string unit_line(const Unit& unit, const Style& style);

} // namespace rdmad::ctl
