// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/client.hpp"

#include "core/base/json_size.hpp"
#include "ctl/words.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

namespace rdmad::ctl {

namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;
using Kind = Complaint::Kind;

// None of rdmad's interfaces nests deeper than six. What reads and copies JSON may be recursive.
constexpr size_t max_depth = 32;

std::optional<nanoseconds> time_left(Deadline deadline)
{
    if (!deadline)
        return std::nullopt;
    return std::max(nanoseconds(0), duration_cast<nanoseconds>(*deadline - steady_clock::now()));
}

timespec to_timespec(nanoseconds time)
{
    constexpr nanoseconds::rep second = 1'000'000'000;
    return {.tv_sec = time.count() / second, .tv_nsec = time.count() % second};
}

tl::unexpected<Complaint> broken(const std::string& what)
{
    return complaint(Kind::broken, "rdmad's answer is wrong: " + what);
}

tl::unexpected<Complaint> late()
{
    return complaint(Kind::late, "rdmad did not answer in time; look at: systemctl status rdmad");
}

tl::unexpected<Complaint> hung_up(int code)
{
    return complaint(Kind::hung_up, std::string("the connection to rdmad broke") +
                                        (code != 0 ? std::string(": ") + strerror(code) : "") +
                                        "; look at: systemctl status rdmad");
}

enum class Wake { ready, gone, late };

// poll(2) skips it
constexpr pollfd nobody = {-1, 0, 0};

/// Waits for the socket, or for the end of what else is watched.
Wake wait_for(int socket, short events, pollfd watched, Deadline deadline)
{
    std::array<pollfd, 2> waited = {pollfd{socket, events, 0}, watched};
    for (;;) {
        const auto left = time_left(deadline);
        const timespec time = to_timespec(left.value_or(nanoseconds(0)));
        const int count = ppoll(waited.data(), waited.size(), left ? &time : nullptr, nullptr);
        if (count < 0 && errno == EINTR)
            continue;
        if (waited[1].revents != 0)
            return Wake::gone;
        return count != 0 ? Wake::ready : Wake::late;
    }
}

std::string parameter(const Json& parameters, const char* name)
{
    const auto found = parameters.find(name);
    return found != parameters.end() && found->is_string() ? found->get<std::string>() : "?";
}

std::string names(const Json& parameters, const char* name)
{
    std::vector<std::string> list;
    const auto found = parameters.find(name);
    if (found != parameters.end() && found->is_array())
        for (const auto& one : *found)
            if (one.is_string())
                list.push_back(one.get<std::string>());
    return list.empty() ? "?" : join(list, ", ");
}

/// Ends a connection attempt with the deadline: connect(2) waits while the queue is full.
void limit_connect(int socket, Deadline deadline)
{
    const auto left = time_left(deadline);
    if (!left)
        return;
    const auto time = std::max(microseconds(1), duration_cast<microseconds>(*left)).count();
    const timeval limit{.tv_sec = time / 1'000'000, .tv_usec = time % 1'000'000};
    (void)setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

} // namespace

Deadline answer_deadline()
{
    return steady_clock::now() + std::chrono::seconds(30);
}

Answer<Message> parse_message(std::string_view bytes)
{
    if (size_of_json(bytes).depth > max_depth)
        return broken("it nests too deep");
    auto json = Json::parse(bytes, nullptr, false);
    if (!json.is_object())
        return broken("it is no JSON object");
    Message message;
    if (const auto found = json.find("parameters"); found != json.end() && !found->is_null())
        message.parameters = std::move(*found);
    if (!message.parameters.is_object())
        return broken("'parameters' is no object");
    if (const auto found = json.find("continues"); found != json.end() && !found->is_null()) {
        if (!found->is_boolean())
            return broken("'continues' is neither true nor false");
        message.continues = found->get<bool>();
    }
    if (const auto found = json.find("error"); found != json.end() && !found->is_null()) {
        if (!found->is_string() || found->get_ref<const std::string&>().empty())
            return broken("'error' is no name");
        message.error = found->get<std::string>();
    }
    return message;
}

std::string explain_error(const std::string& error, const Json& parameters)
{
    if (error == "io.rdmad.Devices.NoSuchDevice")
        return "there is no RDMA device '" + parameter(parameters, "device") +
               "'; rdmactl list shows what is there";
    if (error == "io.rdmad.Lifecycle.NoSuchDevice")
        return "'" + parameter(parameters, "device") +
               "' is no RDMA device or GUID; rdmactl list shows what is there";
    if (error == "io.rdmad.Lifecycle.Ambiguous")
        return "several devices are called so: give a name, of " + names(parameters, "devices");
    if (error == "io.rdmad.Lifecycle.Busy")
        return parameter(parameters, "device") +
               " is being prepared already; rdmactl resume undoes that";
    if (error == "io.rdmad.Lifecycle.Resumed")
        return "somebody else has resumed " + parameter(parameters, "device");
    if (error == "io.rdmad.Lifecycle.NotRecovered")
        return "targets in the kernel could not be looked at: " + parameter(parameters, "reason") +
               "; see journalctl -u rdmad-recovery";
    if (error == "io.rdmad.Bindings.NoSuchUnit")
        return "'" + parameter(parameters, "unit") + "' is not bound";
    if (error == "io.rdmad.Bindings.InvalidBinding")
        return "rdmad refuses the binding: " + parameter(parameters, "reason");
    if (error == "org.varlink.service.PermissionDenied")
        return "rdmad lets only root do that";
    if (error == "org.varlink.service.InvalidParameter")
        return "rdmad does not take '" + parameter(parameters, "parameter") + "' as it is given";
    if (error == "org.varlink.service.MethodNotFound" ||
        error == "org.varlink.service.InterfaceNotFound")
        return "the rdmad that runs does not know how to do that; is it older than rdmactl? "
               "systemctl restart rdmad";
    if (error == "io.rdmad.TooManyConnections")
        return "rdmad has too many connections; try again later";
    if (error == "io.rdmad.TooMuchUnread")
        return "other clients do not read what rdmad sends them; end those of this user, and try "
               "again";
    if (error == "io.rdmad.ProtocolError")
        return "rdmad does not understand rdmactl: " + parameter(parameters, "reason");
    return "rdmad refuses: " + error;
}

std::string explain_no_connection(const std::string& path, int code)
{
    const std::string if_masked =
        "; if it is masked, first: systemctl unmask rdmad.service rdmad.socket";
    if (path != default_socket && (code == ENOENT || code == ECONNREFUSED))
        return "nobody listens on " + path + "; rdmad listens on " + default_socket +
               ", unless it was told otherwise";
    if (code == ENOENT)
        return "rdmad does not run, and its socket " + path +
               " is not there: systemctl start rdmad.socket" + if_masked;
    if (code == ECONNREFUSED)
        return "rdmad does not run, and nobody listens on its socket " + path +
               ": systemctl start rdmad.socket" + if_masked;
    return "cannot connect to rdmad at " + path + ": " + strerror(code);
}

Answer<Client> Client::connect(const std::string& path, Deadline deadline)
{
    const auto unreachable = [&](int code) {
        return complaint(Kind::unreachable, explain_no_connection(path, code));
    };
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    if (path.empty() || path.size() >= sizeof(address.sun_path))
        return unreachable(path.empty() ? ENOENT : ENAMETOOLONG);
    path.copy(address.sun_path, path.size());
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket)
        return unreachable(errno);
    limit_connect(socket.get(), deadline);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) < 0)
        return errno == EAGAIN ? Answer<Client>(late()) : unreachable(errno);
    return Client(std::move(socket));
}

Answer<Json> Client::call(const std::string& method, const Json& parameters, Deadline deadline)
{
    if (auto sent = send({{"method", method}, {"parameters", parameters}}, deadline); !sent)
        return as_told(sent);
    auto answer = next(deadline);
    if (!answer)
        return as_told(answer);
    return std::move(**answer);
}

Answer<void> Client::call_more(const std::string& method, const Json& parameters, Deadline deadline)
{
    return send({{"method", method}, {"parameters", parameters}, {"more", true}}, deadline);
}

Answer<std::optional<Json>> Client::next(Deadline deadline, int watched, short watched_events)
{
    auto bytes = take();
    while (!bytes) {
        const auto wake = wait_for(socket_.get(), POLLIN, {watched, watched_events, 0}, deadline);
        if (wake == Wake::gone)
            return std::optional<Json>();
        if (wake == Wake::late)
            return late();
        if (auto more = read_some(); !more)
            return as_told(more);
        bytes = take();
    }
    auto message = parse_message(*bytes);
    if (!message)
        return as_told(message);
    if (!message->error.empty())
        return tl::unexpected<Complaint>(
            Complaint{Kind::refused, explain_error(message->error, message->parameters),
                      message->error, std::move(message->parameters)});
    return std::optional<Json>(std::move(message->parameters));
}

Answer<void> Client::send(const Json& message, Deadline deadline)
{
    // an argument may be anything; rdmad knows no name with U+FFFD
    auto bytes = message.dump(-1, ' ', false, Json::error_handler_t::replace);
    bytes += '\0';
    for (std::string_view rest = bytes; !rest.empty();) {
        const ssize_t count =
            ::send(socket_.get(), rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count >= 0)
            rest.remove_prefix(static_cast<size_t>(count));
        else if (errno == EPIPE)
            return {}; // why it hung up may be there to read
        else if (errno != EAGAIN && errno != EINTR)
            return hung_up(errno);
        else if (wait_for(socket_.get(), POLLOUT, nobody, deadline) == Wake::late)
            return late();
    }
    return {};
}

/// Takes a whole message out of what was read.
std::optional<std::string> Client::take()
{
    const auto end = inbox_.find('\0', searched_);
    searched_ = end == std::string::npos ? inbox_.size() : 0;
    if (end == std::string::npos)
        return std::nullopt;
    auto message = inbox_.substr(0, end);
    inbox_.erase(0, end + 1);
    return message;
}

Answer<void> Client::read_some()
{
    if (inbox_.size() > max_message)
        return broken("it is longer than 64 MiB");
    std::array<char, 65536> chunk;
    const ssize_t count = recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return {};
    if (count <= 0)
        return hung_up(count < 0 ? errno : 0);
    inbox_.append(chunk.data(), static_cast<size_t>(count));
    return {};
}

} // namespace rdmad::ctl
