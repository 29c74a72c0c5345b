// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/api/json.hpp"
#include "daemon/lifecycle/lifecycle.hpp"
#include "daemon/prepare/preparations.hpp"
#include "daemon/recovery/recovery.hpp"
#include "daemon/varlink/server.hpp"

#include <list>

namespace rdmad::api {

/// The methods of interfaces/*.varlink, which clients call. Everybody may read; only root may
/// change something.
class Api {
public:
    /// Offers the methods. Everything must outlive the API. reload reads the binding files anew;
    /// look_at_ports reads the states of ports, which the kernel does not report by itself; on_work
    /// requests what is done before the loop sleeps.
    Api(varlink::Server& server, const Inventory& inventory, Bindings& bindings,
        const Supervisor& supervisor, lifecycle::Lifecycle& lives, Inhibitors& inhibitors,
        Preparations& preparations, recovery::Recovery& recovery, config::Facts host,
        std::function<void()> reload, std::function<void()> look_at_ports,
        std::function<void()> on_work);

    void on_device(const DeviceChange& change);
    void on_life(const lifecycle::History& history, const lifecycle::Change& change);
    void on_unit(const std::string& name, const BoundUnit& unit);
    void on_binding(const std::string& name, const std::string& change);
    /// Sends a snapshot: events of the kernel or udev were lost, and all was looked at anew.
    void on_lost();

    /// Returns true if some caller of Monitor wants to see how ports change.
    [[nodiscard]] bool wants_port_states() const;
    /// Calls back when that may have changed.
    void on_monitors_changed(std::function<void()> callback)
    {
        on_monitors_changed_ = std::move(callback);
    }

private:
    using CallPtr = std::shared_ptr<varlink::Call>;
    struct Monitor {
        CallPtr call;
        bool polls_ports = false;
        bool has_lost = false; ///< it was too slow, and gets a snapshot when it has room
    };

    void list_devices(const CallPtr& call) const;
    void monitor(const CallPtr& call);
    void release_device(const CallPtr& call);
    void accept_device(const CallPtr& call);
    /// Returns the one device of that name; null if there is none, and the call got its reply.
    [[nodiscard]] const Device* only_device(const CallPtr& call, const std::string& name) const;
    /// Gives an order to all devices of that name.
    void steer(const CallPtr& call, bool (lifecycle::Lifecycle::*order)(uint32_t));
    void prepare_device(const CallPtr& call);
    void resume_device(const CallPtr& call);
    void inhibit(const CallPtr& call);
    void recover(const CallPtr& call);
    void list_inhibitors(const CallPtr& call) const;
    void list_bindings(const CallPtr& call) const;
    void add_binding(const CallPtr& call);
    void remove_bindings(const CallPtr& call);
    void reload_bindings(const CallPtr& call);

    void broadcast(Json event);
    void send(Monitor& monitor, const std::string& message);
    [[nodiscard]] Json event_of(const char* kind) const;
    [[nodiscard]] Json snapshot(const char* kind) const;
    [[nodiscard]] Json device(const Device& device) const;

    const Inventory& inventory_;
    Bindings& bindings_;
    const Supervisor& supervisor_;
    lifecycle::Lifecycle& lives_;
    Inhibitors& inhibitors_;
    Preparations& preparations_;
    recovery::Recovery& recovery_;
    config::Facts host_;
    std::function<void()> reload_;
    std::function<void()> look_at_ports_;
    std::function<void()> on_work_;
    std::function<void()> on_monitors_changed_;
    std::list<Monitor> monitors_;
    uint64_t sequence_ = 0;
    std::map<std::string, std::pair<std::string, std::string>> told_; ///< state and reason, by unit
};

} // namespace rdmad::api
