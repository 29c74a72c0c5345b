// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/inventory/inventory.hpp"
#include "daemon/lifecycle/functions.hpp"
#include "daemon/lifecycle/life.hpp"

// Why a device went: what udev and devlink told of what it hung on, around that time. Pure.

namespace rdmad::lifecycle {

/// What was seen of a device's ancestors and their driver.
struct Evidence {
    bool was_bus_removed = false;    ///< "remove" of the PCI device; its hardware went
    bool was_driver_unbound = false; ///< "unbind" of the PCI device
    bool was_driver_removed = false; ///< the driver itself was unloaded
    bool is_recovering = false;      ///< an error recovery began (pci_uevent_ers())
    bool has_recovery_failed = false;
    // when devlink told that
    std::optional<Time> unhealthy = {}; ///< some error was found in its function
    std::optional<Time> recovered = {}; ///< that was over
    std::optional<Time> reloaded = {};  ///< the driver had begun anew
    bool is_partial = false;            ///< rdmad was away when it went

    friend bool operator==(const Evidence&, const Evidence&) = default;
};

/// What a device hangs on: where it is in sysfs, and who drives it.
struct Place {
    std::string syspath; ///< "/sys/devices/pci0000:00/0000:00:10.0/0000:01:00.0/infiniband/mlx5_0"
    std::string driver;  ///< "mlx5_core"
    std::string hardware = {}; ///< below /sys, above auxiliary devices; empty: nothing
};

/// Takes what an event says of a place. False: it says nothing.
bool add(Evidence& evidence, const UdevEvent& event, const Place& place);
void add(Evidence& evidence, Functions::News news, Time now);
/// Whether it hangs on that function, or on something of it; function: its name on its bus.
[[nodiscard]] bool hangs_on(const Place& place, const std::string& function);

/// Of a device that went then. What hung on nothing cannot be told of.
[[nodiscard]] Cause classify(const Evidence& evidence, const Place& place, Time went);

/// Whom a device that appears was before.
enum class Kinship { none, same, replaced, moved };
/// By GUID and by hardware, as Place has it; a GUID of 0 or hardware that is empty tells nothing.
[[nodiscard]] Kinship kinship(uint64_t node_guid, const std::string& hardware,
                              uint64_t old_node_guid, const std::string& old_hardware);

} // namespace rdmad::lifecycle
