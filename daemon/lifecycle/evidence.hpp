// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/inventory/inventory.hpp"
#include "daemon/lifecycle/functions.hpp"
#include "daemon/lifecycle/life.hpp"

// Why a device went: what udev and devlink reported of what it hung on, around that time. Pure.

namespace rdmad::lifecycle {

/// The events that were seen of a device's ancestors and their driver.
struct Evidence {
    bool was_bus_removed = false;    ///< "remove" of the PCI device; its hardware went
    bool was_driver_unbound = false; ///< "unbind" of the PCI device
    bool was_driver_removed = false; ///< the driver itself was unloaded
    // when the PCI core reported that (pci_uevent_ers())
    std::optional<Time> recovering = {};      ///< an error recovery began, and has not succeeded
    std::optional<Time> recovery_failed = {}; ///< of the device, or of a bridge above it
    // when devlink reported that
    std::optional<Time> unhealthy = {}; ///< some error was found in its function
    std::optional<Time> recovered = {}; ///< that was over
    std::optional<Time> reloaded = {};  ///< the driver had begun anew
    bool is_partial = false;            ///< rdmad did not run when it went

    friend bool operator==(const Evidence&, const Evidence&) = default;
};

/// The place of a device: where it is in sysfs, and who drives it.
struct Place {
    std::string syspath; ///< "/sys/devices/pci0000:00/0000:00:10.0/0000:01:00.0/infiniband/mlx5_0"
    std::string driver;  ///< "mlx5_core"
    std::string hardware = {}; ///< below /sys, above auxiliary devices; empty: nothing
};

/// Adds what an event says of a place. Returns false if it says nothing.
bool add(Evidence& evidence, const UdevEvent& event, const Place& place, Time now);
void add(Evidence& evidence, Functions::News news, Time now);
/// Returns true if it hangs on that function, or on something of it; function: its name on its bus.
[[nodiscard]] bool hangs_on(const Place& place, const std::string& function);

/// Returns why a device went at that time; unknown without evidence if it hung on nothing.
[[nodiscard]] Cause classify(const Evidence& evidence, const Place& place, Time went);

/// The relation of a device that appears to an earlier one.
enum class Kinship { none, same, replaced, moved };
/// Compares GUIDs and hardware, as Place has it; a GUID of 0 or empty hardware shows nothing.
[[nodiscard]] Kinship kinship(uint64_t node_guid, const std::string& hardware,
                              uint64_t old_node_guid, const std::string& old_hardware);

} // namespace rdmad::lifecycle
