// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/inventory/inventory.hpp"
#include "daemon/systemd/orders.hpp"

#include <functional>
#include <map>
#include <set>

namespace rdmad {

/// Has udev look again at devices of which its records are outdated, by PID 1, as rdmad may write
/// nothing in /sys: rdmad-refresh@INDEX.service requests an event of each node. Once for what the
/// kernel reports of a device, when that has not changed for a moment; if no event brings the
/// records up to date, a few times more.
class RecordRefresh {
public:
    /// Microseconds of CLOCK_BOOTTIME.
    using Time = uint64_t;
    using Clock = std::function<Time()>;

    /// Takes inventory, which must outlive it.
    RecordRefresh(const Inventory& inventory, Clock clock)
        : inventory_(inventory), clock_(std::move(clock))
    {
    }

    void use(systemd::Orders* manager)
    {
        manager_ = manager;
    }
    /// Starts the service for what is due, and forgets what is up to date.
    void settle();
    /// Returns the devices that settle() would start the service for: ask the kernel for them
    /// before.
    [[nodiscard]] std::set<uint32_t> due() const;
    /// Returns when something is due next; nullopt if nothing will be before something changes.
    [[nodiscard]] std::optional<Time> next_deadline() const;

private:
    /// GUID and network device of each port.
    using Told = std::vector<std::pair<std::optional<uint64_t>, std::string>>;
    struct Attempt {
        Told told = {}; ///< by the kernel
        Time began =
            0; ///< when the records were first outdated since the last start of the service
        std::optional<Time> due = {}; ///< none: given up
        size_t tries = 0;
        std::string refusal = {}; ///< of the last start
    };

    [[nodiscard]] static Told told_of(const Device& device);
    void start(uint32_t index, Attempt& attempt);
    void give_up(uint32_t index, Attempt& attempt) const;
    [[nodiscard]] bool can_start() const
    {
        return manager_ && manager_->is_connected();
    }

    const Inventory& inventory_;
    Clock clock_;
    systemd::Orders* manager_ = nullptr;
    std::map<uint32_t, Attempt> attempts_; ///< by index
};

} // namespace rdmad
