// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"
#include "daemon/varlink/protocol.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <sys/types.h>
#include <systemd/sd-event.h>

namespace rdmad::varlink {

class Connection;

/// A method call that awaits its reply: at once, later, or many of them. It may be kept; once the
/// client has gone, its replies go nowhere. A call that nobody keeps and nobody replied to fails
/// with org.varlink.service.MethodNotImplemented. Its callbacks come from the event loop, never out
/// of reply() or notify(); on_close() out of the server's destructor as well.
class Call {
public:
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    [[nodiscard]] const std::string& method() const; ///< "io.rdmad.Devices.List"
    [[nodiscard]] const Json& parameters() const;    ///< an object
    [[nodiscard]] bool wants_more() const;
    [[nodiscard]] uid_t peer_uid() const;
    [[nodiscard]] bool is_open() const; ///< the client is there, and did not get the last reply

    /// Sends the only or last reply.
    void reply(Json parameters);
    /// Sends one of several, if the client wants more. Returns false if the client does not keep up
    /// (see Limits::output_bytes) or has gone; then nothing was sent.
    bool notify(const Json& parameters);
    /// The same, with what format_reply() makes of the parameters, for several calls at once.
    bool notify_formatted(const std::string& message);
    /// Sends an error as reply. The name is complete: "io.rdmad.Devices.NoSuchDevice".
    void fail(const std::string& error, Json parameters = Json::object());
    /// Sends org.varlink.service.InvalidParameter.
    void fail_parameter(const std::string& parameter);
    /// Sends org.varlink.service.PermissionDenied.
    void fail_permission();
    /// Calls back once when the client has read all that was sent: there is room for more.
    void on_room(std::function<void()> callback);
    /// Calls back once when the client hangs up, is dropped, or the server ends; not after reply().
    void on_close(std::function<void()> callback);

private:
    friend class Connection;

    Call(Connection& connection, Request request, uid_t peer_uid);
    void finish(std::string message);

    Connection* connection_; ///< null: nothing can be sent
    Request request_;
    uid_t peer_uid_;
    std::function<void()> on_room_;
    std::function<void()> on_close_;
};

using Handler = std::function<void(std::shared_ptr<Call>)>;

struct Limits {
    size_t message_bytes = 64 * 1024;
    size_t output_bytes = 1024 * 1024; ///< queued for one client, if that is more than one reply
    /// Of one reply. It grows with the devices, not with what a client requests.
    size_t answer_bytes = 16 * 1024 * 1024;
    /// Queued for all clients of one user other than root, if that is more than one reply.
    size_t output_bytes_per_uid = 16 * 1024 * 1024;
    /// Queued for all clients of all users but root. A user with subordinate UIDs is many of them.
    size_t output_bytes_of_strangers = 64 * 1024 * 1024;
    size_t connections_of_root = 768;      ///< a rdmad-wait-ready@ for each port is one
    size_t connections_of_strangers = 112; ///< of all users but root
    size_t connections_per_uid = 16;       ///< of each of these
    size_t calls = 16;                     ///< of one client, pipelined or waiting
    std::chrono::milliseconds stall = std::chrono::seconds(30); ///< nothing that waits is read
};

/// The description of a program in org.varlink.service.GetInfo.
struct Info {
    std::string vendor;
    std::string product;
    std::string version;
    std::string url;
};

/// A varlink server on a listening socket. Clients are strangers.
class Server {
public:
    /// Takes event, which must outlive the server.
    Server(sd_event* event, Info info, Limits limits = {});
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Adds an interface. description is in varlink's own language. methods: by name without the
    /// interface: "List".
    void add_interface(const std::string& name, std::string description,
                       std::map<std::string, Handler> methods);
    /// Takes a listening AF_UNIX stream socket.
    [[nodiscard]] Result<void> listen(UniqueFd socket);

    /// Drops all clients, and takes no more.
    void end();

    [[nodiscard]] size_t connection_count() const;
    /// Calls back when the number of connections changed.
    void on_connections_changed(std::function<void()> callback);
    /// Calls back for what a log should have: a client that was dropped, and why.
    void on_trouble(std::function<void(const std::string&)> callback);

private:
    class Implementation;
    std::shared_ptr<Implementation> implementation_; ///< outlives a callback that ends the server
};

} // namespace rdmad::varlink
