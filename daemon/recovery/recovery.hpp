// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/recovery/settings.hpp"
#include "daemon/systemd/errand.hpp"

#include <chrono>
#include <deque>
#include <functional>
#include <optional>

namespace rdmad::recovery {

/// Runs rdmad-recovery.service to put back the kernel's targets when their devices are ready: once
/// for each change, and again while something is missing, for some minutes.
class Recovery {
public:
    using OnReport = std::function<void(const Result<Report>&)>;
    struct Events {
        std::function<void(const Report&)> on_report; ///< of what was to be done
        /// Called once for each target that still waits after the last try.
        std::function<void(const Target&)> on_wait;
        /// Asked before a run that nobody asked for.
        std::function<bool()> may_have_work;
        std::function<void()> on_plan; ///< called when pause() may have changed
    };

    /// Takes directory, /run/rdmad/recovery.
    Recovery(const std::string& directory, Settings settings, Events events);

    void use(systemd::Orders* manager);
    void on_job(const std::string& unit, uint32_t job, const std::string& result);
    void on_connected();

    /// Restores targets on the devices that are ready now, unless they are the same as before.
    void settle(const std::set<uint32_t>& ready);
    /// Retries what is missing, as time has passed.
    void retry();
    /// Does the same, as an address came; that uses up no try.
    void on_address();
    /// Starts a restore, which takes away what a removal may wait for.
    void on_blocked();
    /// Records whether nfs-server.service is up.
    void on_nfs_server(bool is_up);
    [[nodiscard]] bool is_idle() const
    {
        return tasks_.empty() && !pause();
    }
    /// Returns the delay to the next retry; nullopt if that waits for an event.
    [[nodiscard]] std::optional<std::chrono::microseconds> pause() const;

    /// Looks at all targets, or restores them, at a user's request.
    void ask(Order::Mode mode, OnReport on_report);
    /// Takes a device's targets away before its removal.
    void release(uint32_t device, OnReport on_report);

private:
    struct Task {
        Order::Mode mode;
        std::set<uint32_t> devices;
        OnReport on_report;
    };

    void restore();
    void add(Task task);
    void begin();
    void end(const Task& task, const Result<std::string>& text);
    void take(const Task& task, const Report& report);
    void report_waiting(const Report& report);
    void connect_hosts(const std::set<uint32_t>& newcomers);
    void give_up_connecting(const std::set<uint32_t>& newcomers);
    void record_connected() const;

    std::string orders_; ///< a directory of its own: rdmad-recovery writes into the other
    Settings settings_;
    Events events_;
    systemd::Orders* manager_ = nullptr;
    systemd::Errand errand_;
    std::deque<Task> tasks_;                  ///< the first is under way
    std::optional<std::set<uint32_t>> ready_; ///< none: nothing was ever ready
    /// Those of them that hosts were connected over; a file tells the next rdmad.
    std::set<uint32_t> connected_;
    std::set<uint32_t> connecting_; ///< those that systemd has yet to take the request for
    uint64_t last_order_;           ///< its number
    bool is_missing_ = false;       ///< the last restore left something
    bool has_failed_ = false;       ///< it did not come to its end
    bool has_nfs_server_ = false;
    int tries_ = 0;                  ///< since something happened
    std::set<std::string> reported_; ///< targets that still wait, as on_wait was told
};

} // namespace rdmad::recovery
