// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/c_ptr.hpp"
#include "core/base/unique_fd.hpp"
#include "daemon/varlink/output.hpp"
#include "daemon/varlink/protocol.hpp"
#include "daemon/varlink/registry.hpp"
#include "daemon/varlink/server.hpp"

#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <systemd/sd-event.h>

namespace rdmad::varlink {

using EventSource = CPtr<sd_event_source, sd_event_source_unref>;

/// A client. It runs one call after the other, the next one when the client has read the reply to
/// the last; so a client can make us keep one call, one reply and a few messages.
class Connection : public std::enable_shared_from_this<Connection> {
public:
    /// The owner of a connection.
    class Owner {
    public:
        /// Handles that a connection is served next.
        virtual void serves(const Connection& connection) = 0;
        /// Handles the end of a connection; why is empty if the client wanted it so.
        virtual void closed(Connection& connection, const std::string& why) = 0;
        /// Returns true if so many bytes may wait for the client, beside those that wait for other
        /// clients of its user.
        [[nodiscard]] virtual bool has_room(const Connection& connection, size_t bytes) const = 0;

    protected:
        ~Owner() = default;
    };

    Connection(Owner& owner, std::shared_ptr<const Registry> registry, const Limits& limits,
               UniqueFd socket, uid_t peer_uid);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    [[nodiscard]] Result<void> start(sd_event* event);
    /// Closes it without a word to the owner.
    void end();

    [[nodiscard]] uid_t peer_uid() const
    {
        return peer_uid_;
    }

    [[nodiscard]] int socket() const
    {
        return socket_.get();
    }
    /// Handles that the client hung up, as the event loop will: closes, unless it left bytes that
    /// are yet to be looked at.
    void hung_up();

    /// Returns the bytes that wait until the client reads.
    [[nodiscard]] size_t queued_bytes() const
    {
        return output_.size();
    }

    // The requests of a Call. None of these calls back or closes: that is left to the event loop.

    /// Sends the last message of the call that runs, empty if it gets none.
    void finish(const std::string& message);
    /// Returns false if the message does not fit now. It goes out when it is the client's turn.
    [[nodiscard]] bool notify(const std::string& message);
    [[nodiscard]] bool is_closing() const
    {
        return why_.has_value();
    }
    /// Writes what can be written after a change from outside, and has the event loop come back for
    /// the rest.
    void wake();

private:
    static int on_io(sd_event_source* source, int fd, uint32_t events, void* userdata);
    static int on_stall(sd_event_source* source, uint64_t usec, void* userdata);

    [[nodiscard]] bool can_go_on();
    void advance();
    void receive();
    void flush();
    void run_next_call();
    void run_call(std::string_view message);
    void refuse(const std::string& reason);
    void offer_room();
    void settle();

    [[nodiscard]] bool is_writable() const;
    [[nodiscard]] bool has_input() const;
    [[nodiscard]] bool may_run_call() const;
    [[nodiscard]] bool may_receive() const;
    [[nodiscard]] bool may_offer_room() const;
    [[nodiscard]] bool is_over() const;

    [[nodiscard]] bool fits(const std::string& message) const;
    void turn_down(const std::string& message);
    void give_up(std::string why);
    void close();
    void close_soon();
    void await_turn();
    void watch_io();
    void watch_stall(bool is_stalled);

    Owner* owner_; ///< null: nothing is reported
    std::shared_ptr<const Registry> registry_;
    Limits limits_;
    UniqueFd socket_;
    uid_t peer_uid_;
    Splitter input_;
    Output output_;
    Call* call_ = nullptr;           ///< the one that runs; whoever replies owns it
    bool is_end_of_input_ = false;   ///< the client sends no more, but may read
    bool has_hung_up_ = false;       ///< the client does not read either
    bool is_in_turn_ = false;        ///< below advance()
    bool is_blocked_ = false;        ///< the socket took no more
    std::optional<std::string> why_; ///< it is to be closed once all output is gone
    EventSource io_;
    EventSource stall_;
};

} // namespace rdmad::varlink
