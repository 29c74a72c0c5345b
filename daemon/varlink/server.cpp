// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/varlink/server.hpp"

#include "daemon/priority.hpp"
#include "daemon/varlink/client_socket.hpp"
#include "daemon/varlink/connection.hpp"
#include "daemon/varlink/registry.hpp"
#include "daemon/varlink/throttle.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>
#include <utility>
#include <vector>

namespace rdmad::varlink {

namespace {

constexpr uint64_t pause_usec = 1'000'000;
// A flood fills the queue of the socket (net.core.somaxconn, 4096): all of that has passed after 64
// looks, each followed by the turn of a stranger. A look takes a millisecond, or some 13 where
// clients pass sockets that linger (before Linux 6.16): 112 strangers may then wait for 1.5 s, and
// longer while root calls.
constexpr int max_accepts = 64;
// A look after turns of root is shorter than these: not the flood, but only root can keep strangers
// waiting.
constexpr uint64_t max_turns_of_root = 16;
constexpr int accepts_after_root = 4;

/// Returns true if an error concerns one client, or nobody; the next accept() may work.
bool is_of_one_client(int code)
{
    return code == EAGAIN || code == EWOULDBLOCK || code == EINTR || code == ECONNABORTED ||
           code == EPROTO;
}

Result<uid_t> uid_of_peer(int socket)
{
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0)
        return fail(errno, "cannot tell who a client is");
    return credentials.uid;
}

Result<void> prepare(int socket)
{
    const int is_listening = sd_is_socket_unix(socket, SOCK_STREAM, 1, nullptr, 0);
    if (is_listening <= 0)
        return fail(is_listening < 0 ? -is_listening : EINVAL, "no listening AF_UNIX socket");
    const int flags = fcntl(socket, F_GETFL);
    if (flags < 0 || fcntl(socket, F_SETFL, flags | O_NONBLOCK) < 0)
        return fail(errno, "cannot have a socket not wait");
    refuse_descriptors(socket);
    return {};
}

} // namespace

class Server::Implementation final : public Connection::Owner,
                                     public std::enable_shared_from_this<Implementation> {
public:
    Implementation(sd_event* event, Info info, const Limits& limits)
        : event_(event), limits_(limits), registry_(std::make_shared<Registry>(std::move(info)))
    {
    }

    void end();
    [[nodiscard]] Result<void> listen(UniqueFd socket);
    void serves(const Connection& connection) override;
    void closed(Connection& connection, const std::string& why) override;
    [[nodiscard]] bool has_room(const Connection& connection, size_t bytes) const override;

    Registry& registry()
    {
        return *registry_;
    }
    [[nodiscard]] size_t connection_count() const
    {
        return connections_.size();
    }

    std::function<void()> on_connections_changed;
    std::function<void(const std::string&)> on_trouble;

private:
    struct Listener {
        UniqueFd socket;
        EventSource source;
    };

    static int on_client(sd_event_source* source, int fd, uint32_t events, void* userdata);
    static int on_resume(sd_event_source* source, uint64_t usec, void* userdata);

    [[nodiscard]] bool accept_from(int socket);
    void take(UniqueFd socket);
    [[nodiscard]] bool has_room_for(uid_t uid) const;
    [[nodiscard]] bool make_room_for(uid_t uid);
    void close_hung_up(uid_t uid);
    void turn_away(UniqueFd socket, uid_t uid);
    [[nodiscard]] int add_resume();
    void pause(int code);
    void enable_listeners(int enabled);
    void queue_listeners(int64_t priority);

    void tell_trouble(const std::string& reason, const std::string& details);
    void tell_change();

    sd_event* event_;
    Limits limits_;
    std::shared_ptr<Registry> registry_;
    std::vector<Listener> listeners_;
    std::map<Connection*, std::shared_ptr<Connection>> connections_;
    Throttle throttle_;
    EventSource resume_;
    uint64_t turns_of_root_ = 0; ///< since the last look at who connects, or turn of a stranger
};

void Server::Implementation::end()
{
    on_connections_changed = nullptr;
    on_trouble = nullptr;
    listeners_.clear();
    resume_.reset();
    for (const auto connections = std::exchange(connections_, {});
         const auto& [key, connection] : connections)
        connection->end();
}

Result<void> Server::Implementation::listen(UniqueFd socket)
{
    if (auto prepared = prepare(socket.get()); !prepared)
        return std::move(prepared).error().while_doing("cannot listen");
    sd_event_source* source = nullptr;
    int code = resume_ ? 0 : add_resume();
    if (code >= 0)
        code = sd_event_add_io(event_, &source, socket.get(), EPOLLIN, on_client, this);
    EventSource owned(source);
    if (code >= 0)
        code = sd_event_source_set_priority(source, priority::root);
    if (code < 0)
        return fail(-code, "cannot listen");
    listeners_.push_back({.socket = std::move(socket), .source = std::move(owned)});
    return {};
}

int Server::Implementation::on_client(sd_event_source*, int fd, uint32_t, void* userdata)
{
    const auto self = static_cast<Implementation*>(userdata)->shared_from_this();
    const bool is_after_root = self->turns_of_root_ >= max_turns_of_root;
    const int accepts = is_after_root ? accepts_after_root : max_accepts;
    self->turns_of_root_ = 0;
    self->queue_listeners(priority::strangers);
    // a callback may end the server
    for (int i = 0; i < accepts && !self->listeners_.empty() && self->accept_from(fd); i++) {
    }
    return 0;
}

int Server::Implementation::on_resume(sd_event_source*, uint64_t, void* userdata)
{
    static_cast<Implementation*>(userdata)->enable_listeners(SD_EVENT_ON);
    return 0;
}

/// Returns true if there may be another client.
bool Server::Implementation::accept_from(int socket)
{
    UniqueFd client(accept4(socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    const int code = client ? 0 : errno;
    if (client)
        take(std::move(client));
    else if (!is_of_one_client(code))
        pause(code);
    return code == 0;
}

void Server::Implementation::take(UniqueFd socket)
{
    const auto uid = uid_of_peer(socket.get());
    if (!uid)
        return tell_trouble(uid.error().message(), "");
    if (!make_room_for(*uid))
        return turn_away(std::move(socket), *uid);
    // a callback may have ended the server
    if (listeners_.empty())
        return hang_up(socket);
    const auto connection =
        std::make_shared<Connection>(*this, registry_, limits_, std::move(socket), *uid);
    if (auto started = connection->start(event_); !started) {
        connection->end();
        return tell_trouble(started.error().message(), "");
    }
    connections_.emplace(connection.get(), connection);
    tell_change();
}

bool Server::Implementation::has_room_for(uid_t uid) const
{
    size_t of_root = 0;
    size_t of_user = 0;
    for (const auto& [key, connection] : connections_) {
        of_root += connection->peer_uid() == 0 ? 1U : 0U;
        of_user += connection->peer_uid() == uid ? 1U : 0U;
    }
    // however many strangers there are, an administrator gets in
    if (uid == 0)
        return of_root < limits_.connections_of_root;
    return of_user < limits_.connections_per_uid &&
           connections_.size() - of_root < limits_.connections_of_strangers;
}

bool Server::Implementation::make_room_for(uid_t uid)
{
    if (has_room_for(uid))
        return true;
    close_hung_up(uid);
    return has_room_for(uid);
}

/// Ends the clients that hung up and have a place that the user may take, unless they left calls:
/// whoever connects next comes before their end does in the event loop.
void Server::Implementation::close_hung_up(uid_t uid)
{
    std::vector<pollfd> polled;
    std::vector<std::shared_ptr<Connection>> polled_connections;
    for (const auto& [key, connection] : connections_) {
        if ((connection->peer_uid() == 0) != (uid == 0))
            continue;
        polled.push_back({.fd = connection->socket(), .events = 0, .revents = 0});
        polled_connections.push_back(connection);
    }
    if (poll(polled.data(), polled.size(), 0) <= 0)
        return;
    for (size_t i = 0; i < polled.size(); i++) {
        if ((polled[i].revents & (POLLHUP | POLLERR)) != 0)
            polled_connections[i]->hung_up();
    }
}

void Server::Implementation::turn_away(UniqueFd socket, uid_t uid)
{
    const auto message = format_error("io.rdmad.TooManyConnections", Json::object());
    // it fits into an empty socket
    [[maybe_unused]] const auto sent =
        send(socket.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    hang_up(socket);
    tell_trouble("too many connections: turned a client away",
                 " (of user " + std::to_string(uid) + ")");
}

/// Makes the timer before it is needed: the first one takes a file descriptor.
int Server::Implementation::add_resume()
{
    sd_event_source* source = nullptr;
    const int code =
        sd_event_add_time_relative(event_, &source, CLOCK_MONOTONIC, 0, 0, on_resume, this);
    resume_.reset(source);
    return code < 0 ? code : sd_event_source_set_enabled(source, SD_EVENT_OFF);
}

/// Stops listening for a moment: a socket from which nothing can be taken stays readable.
void Server::Implementation::pause(int code)
{
    enable_listeners(SD_EVENT_OFF);
    sd_event_source_set_time_relative(resume_.get(), pause_usec);
    sd_event_source_set_enabled(resume_.get(), SD_EVENT_ONESHOT);
    tell_trouble(std::string("cannot take a connection: ") + strerror(code), "");
}

void Server::Implementation::enable_listeners(int enabled)
{
    for (const auto& listener : listeners_)
        sd_event_source_set_enabled(listener.source.get(), enabled);
}

/// Sets who comes first, whoever connects or the clients of strangers.
void Server::Implementation::queue_listeners(int64_t priority)
{
    for (const auto& listener : listeners_)
        sd_event_source_set_priority(listener.source.get(), priority);
}

/// Puts who connects before the strangers again, after one of these had its turn, or root a few. An
/// administrator who connects does not wait until each stranger had a turn, nor do strangers behind
/// a flood of connections, nor does anybody who connects behind a client of root that never pauses.
void Server::Implementation::serves(const Connection& connection)
{
    turns_of_root_ = connection.peer_uid() == 0 ? turns_of_root_ + 1 : 0;
    if (turns_of_root_ == 0 || turns_of_root_ >= max_turns_of_root)
        queue_listeners(priority::root);
}

void Server::Implementation::closed(Connection& connection, const std::string& why)
{
    const auto self = shared_from_this();
    connections_.erase(&connection);
    if (!why.empty())
        tell_trouble("dropped a client that " + why,
                     " (of user " + std::to_string(connection.peer_uid()) + ")");
    tell_change();
}

/// Returns true if the user's other clients, and those of all users but root, leave room for as
/// many bytes. One reply to a user may be longer: what rdmad has to say does not depend on who
/// asks.
bool Server::Implementation::has_room(const Connection& connection, size_t bytes) const
{
    if (connection.peer_uid() == 0)
        return true;
    size_t of_user = 0;
    size_t of_strangers = bytes;
    for (const auto& [key, other] : connections_) {
        if (key == &connection || other->peer_uid() == 0)
            continue;
        of_strangers += other->queued_bytes();
        if (other->peer_uid() == connection.peer_uid())
            of_user += other->queued_bytes();
    }
    return (of_user == 0 || of_user + bytes <= limits_.output_bytes_per_uid) &&
           of_strangers <= limits_.output_bytes_of_strangers;
}

void Server::Implementation::tell_trouble(const std::string& reason, const std::string& details)
{
    uint64_t now = 0;
    sd_event_now(event_, CLOCK_MONOTONIC, &now);
    const auto line = throttle_.line(reason, details, now);
    // a copy: it may end the server, or put another in its place
    if (const auto callback = on_trouble; line && callback)
        callback(*line);
}

void Server::Implementation::tell_change()
{
    if (const auto callback = on_connections_changed)
        callback();
}

Server::Server(sd_event* event, Info info, Limits limits)
    : implementation_(std::make_shared<Implementation>(event, std::move(info), limits))
{
}

Server::~Server()
{
    end();
}

void Server::end()
{
    implementation_->end();
}

void Server::add_interface(const std::string& name, std::string description,
                           std::map<std::string, Handler> methods)
{
    implementation_->registry().add(name, std::move(description), std::move(methods));
}

Result<void> Server::listen(UniqueFd socket)
{
    return implementation_->listen(std::move(socket));
}

size_t Server::connection_count() const
{
    return implementation_->connection_count();
}

void Server::on_connections_changed(std::function<void()> callback)
{
    implementation_->on_connections_changed = std::move(callback);
}

void Server::on_trouble(std::function<void(const std::string&)> callback)
{
    implementation_->on_trouble = std::move(callback);
}

} // namespace rdmad::varlink
