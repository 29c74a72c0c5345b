// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/c_ptr.hpp"
#include "core/base/result.hpp"

#include <deque>
#include <functional>
#include <string>
#include <systemd/sd-bus.h>

// sd-bus, as far as talking to PID 1 needs it. Nothing blocks.

namespace rdmad::systemd {

using Bus = CPtr<sd_bus, sd_bus_close_unref>;
using Message = CPtr<sd_bus_message, sd_bus_message_unref>;
using Slot = CPtr<sd_bus_slot, sd_bus_slot_unref>;

/// Takes the reply to a call, which is valid until the callback returns.
using OnReply = std::function<void(Result<sd_bus_message*>)>;
using OnMessage = std::function<void(sd_bus_message*)>;

/// A subscription, which ends with the object.
class Subscription {
public:
    Subscription() = default;

private:
    friend class Connection;
    std::unique_ptr<OnMessage> callback_;
    Slot slot_;
};

/// Calls PID 1 over a bus, or directly, where there is no bus.
class Connection {
public:
    explicit Connection(Bus bus) : bus_(std::move(bus)) {}
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    [[nodiscard]] sd_bus* get() const
    {
        return bus_.get();
    }

    /// Returns a call of a method of the manager, or null if memory ran out.
    [[nodiscard]] Message manager_call(const char* method) const;
    /// Returns a call of org.freedesktop.DBus.Properties.GetAll for a unit.
    [[nodiscard]] Message get_unit(const std::string& unit) const;
    /// Sends a call, or queues it while too many await their reply: dbus-daemon refuses more than
    /// 128 (max_replies_per_connection, dbus-daemon(1)).
    void call(Message message, OnReply on_reply);

    /// Subscribes to a signal of the manager.
    [[nodiscard]] Subscription on_manager_signal(const std::string& member,
                                                 OnMessage callback) const;
    /// Subscribes to changes of the properties that an interface has, of all units: a match for
    /// each unit would meet the limit of dbus-daemon (512, max_match_rules_per_connection).
    [[nodiscard]] Subscription on_unit_changed(const char* interface, OnMessage callback) const;
    /// Subscribes to a signal of the bus itself: NameOwnerChanged of PID 1. A direct connection has
    /// none.
    [[nodiscard]] Subscription on_owner_changed(OnMessage callback) const;

private:
    struct Call {
        Connection* connection;
        OnReply on_reply;
    };
    struct Waiting {
        Message message;
        OnReply on_reply;
    };
    static int on_reply_message(sd_bus_message* message, void* call, sd_bus_error* error);
    void send_waiting();
    void send(Waiting waiting);
    [[nodiscard]] Subscription subscribe(const std::string& rule, OnMessage callback) const;
    [[nodiscard]] std::string sender() const;

    std::deque<Waiting> waiting_;
    size_t on_their_way_ = 0;
    bool is_sending_ = false; ///< below send_waiting()
    Bus bus_;                 ///< goes first, and with it what calls back
};

/// Returns the object of a unit.
[[nodiscard]] std::string unit_path(const std::string& unit);
/// Returns the interface whose changes tell that a unit changed. PID 1 reports those of the unit's
/// type, where that has any, and those that all units have; it does so for each unit of each device
/// that appears, which are many, and services are told apart by theirs (send_changed_signal(),
/// src/core/dbus-unit.c).
[[nodiscard]] const char* interface_of_changes(const std::string& unit);
/// Returns the unit of an object; empty if it is none.
[[nodiscard]] std::string unit_of_path(const char* path);

} // namespace rdmad::systemd
