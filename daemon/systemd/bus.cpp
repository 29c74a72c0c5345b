// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/systemd/bus.hpp"

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace rdmad::systemd {

namespace {

constexpr char destination[] = "org.freedesktop.systemd1";
constexpr char unit_folder[] = "/org/freedesktop/systemd1/unit";
constexpr char manager_path[] = "/org/freedesktop/systemd1";
constexpr char manager_interface[] = "org.freedesktop.systemd1.Manager";
constexpr char unit_interface[] = "org.freedesktop.systemd1.Unit";
constexpr char service_interface[] = "org.freedesktop.systemd1.Service";
constexpr char properties_interface[] = "org.freedesktop.DBus.Properties";
// a daemon-reload keeps PID 1 from replying, with many units for a while
constexpr uint64_t patience_usec = 120'000'000;
constexpr size_t max_on_their_way = 64;

int on_signal_message(sd_bus_message* message, void* callback, sd_bus_error*)
{
    // PID 1 and the bus send signals to everybody; one to us alone is somebody's forgery
    if (sd_bus_message_get_destination(message))
        return 0;
    (*static_cast<OnMessage*>(callback))(message);
    (void)sd_bus_message_rewind(message, 1);
    return 0;
}

} // namespace

std::string unit_path(const std::string& unit)
{
    char* encoded = nullptr;
    if (sd_bus_path_encode(unit_folder, unit.c_str(), &encoded) < 0)
        return {};
    const CPtr<char, free> owned(encoded);
    return encoded;
}

std::string unit_of_path(const char* path)
{
    char* unit = nullptr;
    if (!path || sd_bus_path_decode(path, unit_folder, &unit) <= 0)
        return {};
    const CPtr<char, free> owned(unit);
    return unit;
}

const char* interface_of_changes(const std::string& unit)
{
    return unit.ends_with(".service") ? service_interface : unit_interface;
}

Message Connection::manager_call(const char* method) const
{
    sd_bus_message* message = nullptr;
    (void)sd_bus_message_new_method_call(bus_.get(), &message, destination, manager_path,
                                         manager_interface, method);
    return Message(message);
}

Message Connection::get_unit(const std::string& unit) const
{
    sd_bus_message* message = nullptr;
    (void)sd_bus_message_new_method_call(bus_.get(), &message, destination, unit_path(unit).c_str(),
                                         properties_interface, "GetAll");
    if (message)
        (void)sd_bus_message_append(message, "s", unit_interface);
    return Message(message);
}

void Connection::call(Message message, OnReply on_reply)
{
    waiting_.push_back({std::move(message), std::move(on_reply)});
    send_waiting();
}

/// Sends what may be on its way. A call that fails at once calls back from here, and what that
/// calls is sent from here as well, and not one level deeper: there may be thousands.
void Connection::send_waiting()
{
    if (std::exchange(is_sending_, true))
        return;
    while (on_their_way_ < max_on_their_way && !waiting_.empty()) {
        auto next = std::move(waiting_.front());
        waiting_.pop_front();
        send(std::move(next));
    }
    is_sending_ = false;
}

void Connection::send(Waiting waiting)
{
    auto call = std::make_unique<Call>(Call{this, std::move(waiting.on_reply)});
    sd_bus_slot* slot = nullptr;
    const int code = waiting.message
                         ? sd_bus_call_async(bus_.get(), &slot, waiting.message.get(),
                                             on_reply_message, call.get(), patience_usec)
                         : -ENOMEM;
    // no memory for the call, or for a part of it (sd_bus_message_append(3)): PID 1 has not seen
    // it, as where the bus takes no more
    if (code == -ENOMEM || code == -ESTALE)
        return call->on_reply(fail(ENOBUFS, "systemd: no memory for a call"));
    if (code < 0)
        return call->on_reply(fail(-code, "systemd"));
    on_their_way_++;
    // the bus owns the slot from here on, and the slot the call
    (void)sd_bus_slot_set_destroy_callback(slot,
                                           [](void* sent) { delete static_cast<Call*>(sent); });
    (void)call.release();
    (void)sd_bus_slot_set_floating(slot, 1);
    sd_bus_slot_unref(slot);
}

int Connection::on_reply_message(sd_bus_message* message, void* userdata, sd_bus_error* /*error*/)
{
    const auto& [connection, on_reply] = *static_cast<Call*>(userdata);
    connection->on_their_way_--;
    if (const auto* error = sd_bus_message_get_error(message); error)
        on_reply(
            fail(sd_bus_message_get_errno(message), error->message ? error->message : "systemd"));
    else
        on_reply(message);
    connection->send_waiting();
    return 0;
}

std::string Connection::sender() const
{
    return sd_bus_is_bus_client(bus_.get()) > 0 ? std::string("sender='") + destination + "',"
                                                : std::string();
}

Subscription Connection::subscribe(const std::string& rule, OnMessage callback) const
{
    Subscription subscription;
    subscription.callback_ = std::make_unique<OnMessage>(std::move(callback));
    sd_bus_slot* slot = nullptr;
    (void)sd_bus_add_match_async(bus_.get(), &slot, rule.c_str(), on_signal_message, nullptr,
                                 subscription.callback_.get());
    subscription.slot_.reset(slot);
    return subscription;
}

Subscription Connection::on_manager_signal(const std::string& member, OnMessage callback) const
{
    return subscribe("type='signal'," + sender() + "path='" + manager_path + "',interface='" +
                         manager_interface + "',member='" + member + "'",
                     std::move(callback));
}

Subscription Connection::on_unit_changed(const char* interface, OnMessage callback) const
{
    return subscribe("type='signal'," + sender() + "path_namespace='" + unit_folder +
                         "',interface='" + properties_interface +
                         "',member='PropertiesChanged',arg0='" + interface + "'",
                     std::move(callback));
}

Subscription Connection::on_owner_changed(OnMessage callback) const
{
    if (sd_bus_is_bus_client(bus_.get()) <= 0)
        return {};
    return subscribe(std::string("type='signal',sender='org.freedesktop.DBus',"
                                 "member='NameOwnerChanged',arg0='") +
                         destination + "'",
                     std::move(callback));
}

} // namespace rdmad::systemd
