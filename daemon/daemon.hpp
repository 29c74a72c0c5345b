// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/host_facts.hpp"
#include "core/nldev/kernel_transport.hpp"
#include "daemon/api/api.hpp"
#include "daemon/holders/search.hpp"
#include "daemon/inventory/kernel_events.hpp"
#include "daemon/inventory/udev_monitor.hpp"
#include "daemon/lifecycle/lifecycle.hpp"
#include "daemon/readiness/readiness.hpp"
#include "daemon/recovery/recovery.hpp"
#include "daemon/refresh/record_refresh.hpp"
#include "daemon/settings.hpp"
#include "daemon/systemd/manager.hpp"

namespace rdmad {

/// All parts and their wiring: handles events of udev, the kernel, PID 1 and clients, and does what
/// follows from them before the loop sleeps.
class Daemon {
public:
    /// Subscribes, then lists what is there. event and root (/sys) must outlive the daemon.
    [[nodiscard]] static Result<std::unique_ptr<Daemon>> create(sd_event* event,
                                                                const sysfs::Directory& root);
    ~Daemon();
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;
    /// Serves clients on a listening socket.
    [[nodiscard]] Result<void> serve(UniqueFd socket);
    /// Reads the binding files anew.
    void reload();
    /// Ends the event loop, and logs what stays without rdmad.
    void end();

private:
    Daemon(sd_event* event, const sysfs::Directory& root, UdevMonitor udev);

    [[nodiscard]] Result<void> add_sources();
    [[nodiscard]] Result<void> connect_to_systemd();
    void on_connected();
    [[nodiscard]] KernelEvents::Callbacks kernel_callbacks();
    void let_go_of_kernel();

    void on_udev();
    void on_links(const std::optional<std::set<uint32_t>>& links);
    void look_soon();
    void on_lost(const std::string& whose);
    void resync();
    void refresh(uint32_t index);
    void on_device(const DeviceChange& change);
    void on_life(const lifecycle::History& history, const lifecycle::Change& change);
    void look_for_holders();
    void on_holders(const Result<HolderReport>& found);
    void settle();
    void poll();
    void reconcile();
    [[nodiscard]] std::set<uint32_t> awaited() const;
    std::chrono::microseconds look_at(const std::set<uint32_t>& indexes,
                                      std::chrono::microseconds pause);
    void look_at_ports();
    void look_at_silent();
    void plan_polling();
    void plan_lives();
    void plan_preparations();
    void plan_recovery();
    void guard();
    void plan_guard();
    void refresh_records();
    void plan_refresh();
    void plan_writing();
    [[nodiscard]] std::set<uint32_t> recoverable() const;
    void find_users(uint32_t index, Preparations::OnUsers on_found);
    [[nodiscard]] Preparations::Parts preparation_parts();
    void plan_exit();
    void leave();
    [[nodiscard]] bool is_idle() const;

    sd_event* event_;
    const sysfs::Directory& root_;
    UdevMonitor udev_;
    nldev::KernelTransport transport_;
    nldev::Client client_{transport_};
    std::chrono::steady_clock::time_point next_look_at_ports_ = {}; ///< at all of them, not before
    bool is_resync_due_ = false; ///< a look at all devices failed
    int looks_due_ = 0;          ///< at all ports
    bool is_retry_due_ = false;  ///< a port may have a new address
    std::chrono::microseconds holders_pause_;
    bool is_readiness_due_ = true; ///< some port may be ready, or not any more
    config::Facts host_ = config::host_facts();
    Bindings bindings_{""};
    Inventory inventory_;
    Settings settings_ = read_settings("");
    lifecycle::Lifecycle lives_;
    Supervisor supervisor_;
    Readiness readiness_{"/run/rdmad/ready"};
    RecordRefresh record_refresh_;
    HolderSearch holders_{"/run/rdmad/holders"};
    recovery::Recovery recovery_;
    Inhibitors inhibitors_;
    Preparations preparations_;
    varlink::Server server_;
    api::Api api_;
    std::unique_ptr<systemd::Manager> manager_;
    // the sources call what is above
    KernelEvents kernel_events_;
    EventSource udev_source_;
    EventSource work_;
    EventSource poll_;
    EventSource silent_timer_;
    EventSource lives_timer_;
    EventSource holders_timer_;
    EventSource preparations_timer_;
    EventSource recovery_timer_;
    EventSource guard_timer_;
    EventSource refresh_timer_;
    EventSource write_timer_;
    EventSource exit_;
};

} // namespace rdmad
