// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/varlink/connection.hpp"

#include "daemon/priority.hpp"
#include "daemon/varlink/client_socket.hpp"

#include <cerrno>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utility>

namespace rdmad::varlink {

namespace {

constexpr size_t chunk_bytes = 16 * 1024;
// of what a client is told beside its turns: a long burst would wait in memory, once for each
// client
constexpr size_t most_beside_turns = 64 * 1024;

bool is_temporary(int code)
{
    return code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
}

} // namespace

Connection::Connection(Owner& owner, std::shared_ptr<const Registry> registry, const Limits& limits,
                       UniqueFd socket, uid_t peer_uid)
    : owner_(&owner),
      registry_(std::move(registry)),
      limits_(limits),
      socket_(std::move(socket)),
      peer_uid_(peer_uid),
      input_(limits.message_bytes)
{
}

Connection::~Connection()
{
    end();
}

Result<void> Connection::start(sd_event* event)
{
    sd_event_source* io = nullptr;
    sd_event_source* stall = nullptr;
    int code = sd_event_add_io(event, &io, socket_.get(), EPOLLIN, on_io, this);
    io_.reset(io);
    const auto order = peer_uid_ == 0 ? priority::root : priority::strangers;
    if (code >= 0)
        code = sd_event_source_set_priority(io, order);
    if (code >= 0)
        code = sd_event_add_time_relative(event, &stall, CLOCK_MONOTONIC, 0, 0, on_stall, this);
    stall_.reset(stall);
    if (code >= 0)
        code = sd_event_source_set_enabled(stall, SD_EVENT_OFF);
    if (code < 0)
        return fail(-code, "cannot watch a client");
    return {};
}

void Connection::end()
{
    owner_ = nullptr;
    flush();
    close();
}

void Connection::hung_up()
{
    const auto self = shared_from_this();
    has_hung_up_ = true;
    receive();
    settle();
}

void Connection::finish(const std::string& message)
{
    call_ = nullptr;
    if (is_closing())
        return;
    if (fits(message))
        output_.push(message);
    else
        turn_down(message);
    wake();
}

bool Connection::notify(const std::string& message)
{
    if (is_closing())
        return false;
    const bool is_said = fits(message);
    if (is_said)
        output_.push(message);
    else if (output_.size() == 0)
        turn_down(message); // it has read all: no room will come
    // who has news for many clients does not write each to each of them: they take turns
    if (output_.size() > most_beside_turns)
        wake();
    else if (socket_ && !is_in_turn_)
        await_turn();
    return is_said;
}

void Connection::wake()
{
    if (!socket_ || is_in_turn_)
        return;
    flush();
    await_turn();
}

/// Has the event loop come back, for what is left to write or to close.
void Connection::await_turn()
{
    if (is_over())
        close_soon();
    else
        watch_io();
}

int Connection::on_io(sd_event_source*, int, uint32_t events, void* userdata)
{
    const auto self = static_cast<Connection*>(userdata)->shared_from_this();
    self->owner_->serves(*self);
    if ((events & (EPOLLHUP | EPOLLERR)) != 0)
        self->has_hung_up_ = true;
    if (events != EPOLLIN)
        self->is_blocked_ = false;
    // the socket has room: the client reads
    if ((events & EPOLLOUT) != 0)
        self->watch_stall(false);
    if (events != EPOLLOUT)
        self->receive();
    self->advance();
    return 0;
}

int Connection::on_stall(sd_event_source*, uint64_t, void* userdata)
{
    const auto self = static_cast<Connection*>(userdata)->shared_from_this();
    if (!self->is_over()) {
        // it has read: timers come before clients
        if (self->is_writable())
            return 0;
        // the socket is told to be writable only once three quarters of it are empty
        if (self->can_go_on())
            return 0;
        self->output_.clear();
        self->give_up("does not read its answers");
    }
    self->settle();
    return 0;
}

/// Writes what the socket takes by now. Returns true if it took something, and waits on.
bool Connection::can_go_on()
{
    const auto before = output_.size();
    is_blocked_ = false;
    flush();
    if (output_.size() == before)
        return false;
    settle();
    return true;
}

/// Does all work of the event loop's callbacks. A handler may end the connection, or the server.
void Connection::advance()
{
    is_in_turn_ = true;
    run_next_call();
    offer_room();
    flush();
    is_in_turn_ = false;
    settle();
}

void Connection::receive()
{
    if (!may_receive())
        return;
    char chunk[chunk_bytes];
    const auto [size, has_descriptors] = varlink::receive(socket_.get(), chunk, sizeof chunk);
    if (has_descriptors)
        refuse("the message comes with file descriptors");
    else if (size > 0)
        input_.push({chunk, static_cast<size_t>(size)});
    else if (size == 0)
        is_end_of_input_ = true;
    else if (!is_temporary(errno))
        is_end_of_input_ = has_hung_up_ = true;
}

void Connection::flush()
{
    if (!socket_ || output_.size() == 0 || is_blocked_)
        return;
    const auto rest = output_.rest();
    const auto size = send(socket_.get(), rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size > 0)
        output_.drop(static_cast<size_t>(size));
    else if (size < 0 && !is_temporary(errno))
        has_hung_up_ = true;
    is_blocked_ = output_.size() > 0;
}

/// Runs at most one call: other clients wait, and some calls take long.
void Connection::run_next_call()
{
    flush();
    if (!may_run_call())
        return;
    if (const auto message = input_.next())
        run_call(*message);
    else if (input_.is_too_long())
        refuse("the message is too long");
    else if (has_input())
        refuse("the message is cut off");
}

void Connection::run_call(std::string_view message)
{
    auto request = parse(message);
    if (!request)
        return refuse(request.error().context);
    const bool is_upgrade = request->is_upgrade;
    const std::shared_ptr<Call> call(new Call(*this, std::move(*request), peer_uid_));
    call_ = call.get();
    // its destructor, if nobody keeps it, replies to an upgrade
    if (!is_upgrade)
        registry_->run(call);
}

void Connection::refuse(const std::string& reason)
{
    auto parameters = Json::object();
    parameters["reason"] = reason;
    output_.push(format_error("io.rdmad.ProtocolError", parameters));
    give_up("sent what is no call: " + reason);
}

void Connection::offer_room()
{
    if (!may_offer_room())
        return;
    const auto callback = std::exchange(call_->on_room_, nullptr);
    callback();
}

void Connection::settle()
{
    if (!socket_)
        return;
    if (is_over())
        return close();
    watch_io();
}

/// Returns true if the event loop is about to tell that the socket has room.
bool Connection::is_writable() const
{
    uint32_t events = 0;
    return sd_event_source_get_pending(io_.get()) > 0 &&
           sd_event_source_get_io_revents(io_.get(), &events) >= 0 && (events & EPOLLOUT) != 0;
}

/// Returns true if there is a call to run, or something to refuse.
bool Connection::has_input() const
{
    return input_.has_next() || (is_end_of_input_ && input_.size() > 0);
}

bool Connection::may_run_call() const
{
    return socket_ && !call_ && !is_closing() && output_.size() == 0;
}

bool Connection::may_receive() const
{
    const size_t calls = input_.messages() + (call_ ? 1 : 0);
    return socket_ && !is_closing() && !is_end_of_input_ && calls < limits_.calls &&
           input_.size() <= limits_.message_bytes;
}

bool Connection::may_offer_room() const
{
    return call_ && call_->on_room_ && output_.size() == 0 && !is_closing();
}

/// Returns true if it may close: after a client hung up, calls that need no reply are still run.
bool Connection::is_over() const
{
    if (has_hung_up_ && (call_ || output_.size() > 0))
        return true;
    if (output_.size() > 0)
        return false;
    return is_closing() || (is_end_of_input_ && !call_ && !has_input());
}

bool Connection::fits(const std::string& message) const
{
    const auto most = output_.size() == 0 ? limits_.answer_bytes : limits_.output_bytes;
    const auto bytes = output_.size() + message.size();
    return bytes <= most && owner_->has_room(*this, bytes);
}

/// Ends the connection over an answer that does not fit. One that could go out, had other clients
/// read theirs, is no fault of this client, which is told.
void Connection::turn_down(const std::string& message)
{
    if (message.size() > limits_.answer_bytes)
        return give_up("is to get an answer longer than the limit");
    if (output_.size() > 0) {
        output_.clear();
        return give_up("does not read its answers");
    }
    output_.push(format_error("io.rdmad.TooMuchUnread", Json::object()));
    give_up("gets no answer, as other clients do not read theirs");
}

void Connection::give_up(std::string why)
{
    if (!why_)
        why_ = std::move(why);
}

void Connection::close()
{
    if (!socket_)
        return;
    io_.reset();
    stall_.reset();
    hang_up(socket_);
    output_.clear();
    if (auto* call = std::exchange(call_, nullptr)) {
        call->connection_ = nullptr;
        // may hold the last reference to the call, and end the server
        const auto room = std::exchange(call->on_room_, nullptr);
        if (const auto callback = std::exchange(call->on_close_, nullptr))
            callback();
    }
    if (auto* owner = std::exchange(owner_, nullptr))
        owner->closed(*this, why_.value_or(""));
}

/// Closes soon, even if the socket takes nothing.
void Connection::close_soon()
{
    sd_event_source_set_time_accuracy(stall_.get(), 1);
    sd_event_source_set_time_relative(stall_.get(), 0);
    sd_event_source_set_enabled(stall_.get(), SD_EVENT_ONESHOT);
}

/// Sets the awaited events. EPOLLOUT also brings turns of which no byte is the reason. A defer
/// source would do, but sd-event prefers those, again and again, to the sockets of other clients.
void Connection::watch_io()
{
    uint32_t events = 0;
    if (may_receive())
        events |= EPOLLIN;
    if (output_.size() > 0 || (may_run_call() && has_input()) || may_offer_room())
        events |= EPOLLOUT;
    sd_event_source_set_io_events(io_.get(), events);
    watch_stall((events & EPOLLOUT) != 0);
}

/// Runs the timer while the client is to read before anything goes on: there is output, or a call
/// that is not run before the socket has room. Otherwise stops it: an idle daemon does not wake up.
void Connection::watch_stall(bool is_stalled)
{
    int enabled = SD_EVENT_OFF;
    sd_event_source_get_enabled(stall_.get(), &enabled);
    if (!is_stalled) {
        sd_event_source_set_enabled(stall_.get(), SD_EVENT_OFF);
    } else if (enabled == SD_EVENT_OFF) {
        const auto usec = std::chrono::microseconds(limits_.stall).count();
        sd_event_source_set_time_relative(stall_.get(), static_cast<uint64_t>(usec));
        sd_event_source_set_enabled(stall_.get(), SD_EVENT_ONESHOT);
    }
}

} // namespace rdmad::varlink
