// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>

namespace rdmad::systemd {

/// A unit's state in PID 1 (org.freedesktop.systemd1.Unit). Times are microseconds of
/// CLOCK_MONOTONIC, 0: never in this boot.
struct UnitState {
    std::string id = {};           ///< its own name, where it is watched by an alias
    std::string load_state = {};   ///< loaded, not-found, masked, ...
    std::string active_state = {}; ///< active, inactive, failed, activating, ...
    std::string sub_state = {};    ///< of a service: running, auto-restart, ...
    std::string file_state = {};   ///< enabled, disabled, static, ...; empty: none
    bool has_job = false;
    uint64_t inactive_exit = 0; ///< when it last began to start
    uint64_t active_exit = 0;   ///< when it last ceased to be active
    uint64_t state_change = 0;

    [[nodiscard]] bool is_up() const
    {
        return active_state == "active" || active_state == "activating" ||
               active_state == "reloading" || active_state == "refreshing";
    }
    /// Returns true if it is about to be up, and does not only wait for a restart.
    [[nodiscard]] bool is_starting() const
    {
        return active_state == "activating" && !sub_state.starts_with("auto-restart");
    }
    [[nodiscard]] bool is_down() const
    {
        return active_state == "inactive" || active_state == "failed";
    }
    /// Returns when it began to go down: the last change if it was stopped before it was active.
    [[nodiscard]] uint64_t went_down() const
    {
        return active_exit >= inactive_exit ? active_exit : state_change;
    }
};

} // namespace rdmad::systemd
