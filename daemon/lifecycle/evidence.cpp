// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/lifecycle/evidence.hpp"

#include <utility>

namespace rdmad::lifecycle {

namespace {

bool is_below(std::string_view path, std::string_view ancestor)
{
    return !ancestor.empty() && path.size() > ancestor.size() && path.starts_with(ancestor) &&
           path[ancestor.size()] == '/';
}

// an end may be reported before udev reports that the device went
constexpr Time longest_lag = 3 * second;
// some errors are reported for which no driver has a remedy
constexpr Time longest_attempt = 120 * second;

bool is_within(const std::optional<Time>& told, Time span, Time went)
{
    return told && went <= *told + span;
}

/// Adds ERROR_EVENT of pci_uevent_ers(), drivers/pci/pci-driver.c.
bool add_recovery(Evidence& evidence, const std::string& error_event, Time now)
{
    if (error_event == "BEGIN_RECOVERY")
        evidence.recovering = now;
    else if (error_event == "SUCCESSFUL_RECOVERY")
        evidence.recovering.reset();
    else if (error_event == "FAILED_RECOVERY")
        evidence.recovery_failed = now;
    else
        return false;
    return true;
}

bool add_of_pci(Evidence& evidence, const UdevEvent& event, Time now)
{
    if (event.action == "remove")
        evidence.was_bus_removed = true;
    else if (event.action == "unbind")
        evidence.was_driver_unbound = true;
    else
        return event.action == "change" && add_recovery(evidence, event.error_event, now);
    return true;
}

bool add_of_driver(Evidence& evidence, const UdevEvent& event, const std::string& driver)
{
    if (event.action != "remove" || driver.empty() || event.node.sysname != driver)
        return false;
    evidence.was_driver_removed = true;
    return true;
}

} // namespace

bool add(Evidence& evidence, const UdevEvent& event, const Place& place, Time now)
{
    if (event.subsystem == "drivers")
        return add_of_driver(evidence, event, place.driver);
    return event.subsystem == "pci" && is_below(place.syspath, event.node.syspath) &&
           add_of_pci(evidence, event, now);
}

void add(Evidence& evidence, Functions::News news, Time now)
{
    using News = Functions::News;
    if (news == News::reloaded)
        evidence.reloaded = now;
    else if (news == News::unhealthy)
        evidence.unhealthy = now;
    else if (news == News::recovered && std::exchange(evidence.unhealthy, std::nullopt))
        evidence.recovered = now;
}

bool hangs_on(const Place& place, const std::string& function)
{
    return place.syspath.find("/" + function + "/") != std::string::npos;
}

Cause classify(const Evidence& evidence, const Place& place, Time went)
{
    if (is_within(evidence.recovering, longest_attempt, went) ||
        is_within(evidence.recovery_failed, longest_attempt, went))
        return Cause::error_recovery;
    if (evidence.was_bus_removed)
        return Cause::hot_unplug;
    if (evidence.was_driver_removed)
        return Cause::driver_reload;
    // somebody wrote to the driver's "unbind"
    if (evidence.was_driver_unbound)
        return Cause::administrator;
    if (is_within(evidence.reloaded, longest_lag, went))
        return Cause::driver_reload;
    if (is_within(evidence.unhealthy, longest_attempt, went) ||
        is_within(evidence.recovered, longest_lag, went))
        return Cause::error_recovery;
    return place.hardware.empty() || evidence.is_partial ? Cause::unknown : Cause::reset;
}

Kinship kinship(uint64_t node_guid, const std::string& hardware, uint64_t old_node_guid,
                const std::string& old_hardware)
{
    const bool has_same_guid = node_guid != 0 && node_guid == old_node_guid;
    const bool is_same_hardware = hardware == old_hardware;
    if (has_same_guid)
        return is_same_hardware ? Kinship::same : Kinship::moved;
    if (!is_same_hardware || hardware.empty())
        return Kinship::none;
    return node_guid == 0 || old_node_guid == 0 ? Kinship::same : Kinship::replaced;
}

} // namespace rdmad::lifecycle
