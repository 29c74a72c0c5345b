// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/varlink/connection.hpp"

#include <utility>

namespace rdmad::varlink {

Call::Call(Connection& connection, Request request, uid_t peer_uid)
    : connection_(&connection), request_(std::move(request)), peer_uid_(peer_uid)
{
}

Call::~Call()
{
    if (!connection_)
        return;
    auto parameters = Json::object();
    parameters["method"] = method();
    fail("org.varlink.service.MethodNotImplemented", std::move(parameters));
}

const std::string& Call::method() const
{
    return request_.method;
}

const Json& Call::parameters() const
{
    return request_.parameters;
}

bool Call::wants_more() const
{
    return request_.wants_more;
}

uid_t Call::peer_uid() const
{
    return peer_uid_;
}

bool Call::is_open() const
{
    return connection_ && !connection_->is_closing();
}

void Call::finish(std::string message)
{
    auto* connection = std::exchange(connection_, nullptr);
    if (!connection)
        return;
    // they may hold the last reference to this call: they end last
    const auto room = std::exchange(on_room_, nullptr);
    const auto close = std::exchange(on_close_, nullptr);
    connection->finish(request_.is_oneway ? std::string() : message);
}

void Call::reply(Json parameters)
{
    // "{}" in C++ is null, which some clients take for a mistake (varlink.c of systemd 255)
    if (parameters.is_null())
        parameters = Json::object();
    if (connection_)
        finish(format_reply(parameters));
}

bool Call::notify(const Json& parameters)
{
    return notify_formatted(format_reply(parameters, true));
}

bool Call::notify_formatted(const std::string& message)
{
    return is_open() && wants_more() && connection_->notify(message);
}

void Call::fail(const std::string& error, Json parameters)
{
    if (connection_)
        finish(format_error(error, parameters));
}

void Call::fail_parameter(const std::string& parameter)
{
    auto parameters = Json::object();
    parameters["parameter"] = parameter;
    fail("org.varlink.service.InvalidParameter", std::move(parameters));
}

void Call::fail_permission()
{
    fail("org.varlink.service.PermissionDenied");
}

void Call::on_room(std::function<void()> callback)
{
    if (!connection_)
        return;
    on_room_ = std::move(callback);
    connection_->wake();
}

void Call::on_close(std::function<void()> callback)
{
    if (connection_)
        on_close_ = std::move(callback);
}

} // namespace rdmad::varlink
