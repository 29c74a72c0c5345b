// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/event.hpp"
#include "daemon/systemd/bus.hpp"
#include "daemon/systemd/orders.hpp"
#include "daemon/systemd/unit_state.hpp"

#include <map>
#include <set>
#include <vector>

namespace rdmad::systemd {

/// Sockets of PID 1.
struct Addresses {
    std::string bus = "/run/dbus/system_bus_socket";
    std::string direct = "/run/systemd/private";
};

/// The connection to PID 1: reports the states of units, and starts and stops them. It uses the
/// system bus; before there is one, and on a machine without, /run/systemd/private, which systemd
/// keeps for its own tools. It changes to the bus as soon as that is there.
class Manager final : public Orders {
public:
    struct Events {
        /// Called after each connect: earlier requests may have got no reply.
        std::function<void()> on_connected;
        std::function<void(const std::string& unit, const UnitState&)> on_unit;
        /// Called when a job of a watched unit, or of an rdma-port-ready@.target, has ended.
        std::function<void(const std::string& unit, uint32_t job, const std::string& result)>
            on_job;
        /// Called when a job of an anchor or a keeper ended that this connection did not request.
        std::function<void(const std::string& anchor)> on_anchor_job;
        std::function<void(const Error&)> on_trouble;
    };
    [[nodiscard]] static Result<std::unique_ptr<Manager>> create(sd_event* event, Events events,
                                                                 Addresses addresses = {});

    [[nodiscard]] bool is_connected() const override
    {
        return connection_ && sd_bus_is_open(connection_->get()) > 0;
    }
    void watch(const std::string& unit) override;
    void unwatch(const std::string& unit) override;
    void refresh(const std::string& unit) override;
    [[nodiscard]] bool is_current(const std::string& unit) const override;
    void start(const std::string& unit, OnJob on_job) override;
    void stop(const std::string& unit, OnJob on_job) override;
    void start_anchor(const Anchor& anchor, OnDone on_done) override;
    void drop_anchor(const std::string& name, OnDone on_done) override;
    void cancel_anchor(const std::string& name) override;
    void list_anchors(OnAnchors on_anchors) override;

private:
    struct Watch {
        size_t watchers = 0;   ///< calls of watch() without an unwatch() yet
        std::string id = {};   ///< its own name, if it is watched by an alias
        bool is_asked = false; ///< the state was requested
        bool is_stale = false; ///< and something changed since that request
        bool is_lost = false;  ///< the last request for it failed
    };
    /// An anchor whose job has not ended.
    struct Pending {
        OnDone on_done = {};
        std::optional<uint32_t> job = {};
        bool is_cancelled = false;
    };

    Manager(sd_event* event, Events events, Addresses addresses)
        : event_(event), events_(std::move(events)), addresses_(std::move(addresses))
    {
    }
    [[nodiscard]] Result<void> prepare();

    void connect_to_bus();
    void connect_directly();
    void use(std::unique_ptr<Connection> connection);
    void lose(const char* what);
    void subscribe();
    void listen_to_changes(const std::string& unit);
    [[nodiscard]] std::vector<std::string> watched(const std::string& id) const;
    void fetch(const std::string& unit, Watch& watch);
    void fetch_lost();
    void follow_alias(const std::string& unit, Watch& watch, const std::string& id);
    void take_state(const std::string& unit, Result<sd_bus_message*> reply);
    void tell_state(const std::string& unit, Watch& watch, const UnitState& state);
    [[nodiscard]] Anchors take_anchors(sd_bus_message* message);
    void end_job(sd_bus_message* message);
    void take_anchor_job(const std::string& anchor, Result<uint32_t> job);
    void cancel_job(uint32_t job) const;
    void end_pending(const std::string& anchor, Result<void> outcome);
    void run_job(const char* method, const std::string& unit, const char* mode, OnJob on_job);
    void transient_call(const Anchor& anchor, bool with_group);
    static int on_local_signal(sd_bus_message* message, void* manager, sd_bus_error* error);

    sd_event* event_;
    Events events_;
    Addresses addresses_;
    Bus coming_; ///< the bus that is not ready yet
    std::unique_ptr<Connection> connection_;
    std::vector<Subscription> subscriptions_;
    std::map<std::string, Subscription> changes_; ///< of watched units, by interface
    std::map<std::string, Watch> watches_;
    std::multimap<std::string, std::string> aliases_; ///< what is watched, by its own name
    std::map<std::string, Pending> pending_;
    /// Ended inside of their own callbacks: destroyed only after these have returned.
    std::vector<Subscription> spent_;
    EventSource sweep_;
    EventSource retry_;
    EventSource impatience_;
    EventSource lost_; ///< requests lost states again
    std::chrono::microseconds lost_pause_ = {};
    bool is_absence_told_ = false; ///< the journal knows that there is no way to PID 1
};

} // namespace rdmad::systemd
