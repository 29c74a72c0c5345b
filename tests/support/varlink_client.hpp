// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/c_ptr.hpp"
#include "core/base/unique_fd.hpp"
#include "tests/catch.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-event.h>
#include <unistd.h>
#include <vector>

namespace rdmad::test {

using Event = CPtr<sd_event, sd_event_unref>;
using Replies = std::vector<std::string>;

constexpr uid_t stranger = 65534;

/// Returns true for root, who can be root and strangers to a server. Warns others that they test
/// less.
inline bool can_be_several_users()
{
    if (geteuid() == 0)
        return true;
    WARN("only root can test the rest of this");
    return false;
}

inline UniqueFd unix_socket()
{
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(socket);
    return socket;
}

/// A listening socket in a directory of its own.
class Place {
public:
    Place()
    {
        REQUIRE(mkdtemp(directory_) != nullptr);
        chmod(directory_, 0755);
        const auto path = std::string(directory_) + "/socket";
        path.copy(address_.sun_path, sizeof address_.sun_path - 1);
    }
    ~Place()
    {
        remove();
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    void remove() const
    {
        unlink(address_.sun_path);
        rmdir(directory_);
    }
    [[nodiscard]] std::string path() const
    {
        return address_.sun_path;
    }
    [[nodiscard]] UniqueFd listening() const
    {
        auto socket = unix_socket();
        REQUIRE(bind(socket.get(), address(), sizeof address_) == 0);
        REQUIRE(::listen(socket.get(), 100) == 0);
        chmod(address_.sun_path, 0777);
        return socket;
    }
    [[nodiscard]] UniqueFd connected() const
    {
        auto socket = unix_socket();
        connect(socket.get());
        return socket;
    }
    /// Another user's, if the own one is root.
    [[nodiscard]] UniqueFd connected_as(uid_t uid) const
    {
        const bool may_change = geteuid() == 0;
        if (may_change)
            REQUIRE(seteuid(uid) == 0);
        auto socket = connected();
        if (may_change)
            REQUIRE(seteuid(0) == 0);
        return socket;
    }
    void connect(int socket) const
    {
        REQUIRE(::connect(socket, address(), sizeof address_) == 0);
    }

private:
    [[nodiscard]] const sockaddr* address() const
    {
        return reinterpret_cast<const sockaddr*>(&address_);
    }

    char directory_[32] = "/tmp/varlink-test-XXXXXX";
    sockaddr_un address_{.sun_family = AF_UNIX, .sun_path = {}};
};

/// Another program, for which nothing is done: it sends and receives bytes.
class Client {
public:
    explicit Client(UniqueFd socket) : socket_(std::move(socket)) {}

    bool send(const std::string& bytes) const
    {
        return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
               static_cast<ssize_t>(bytes.size());
    }
    /// Sends bytes with a descriptor beside them. 0, or an errno value.
    int send_with(const UniqueFd& descriptor, std::string bytes) const
    {
        iovec part = {.iov_base = bytes.data(), .iov_len = bytes.size()};
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
        msghdr message = {};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        auto* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        const int fd = descriptor.get();
        memcpy(CMSG_DATA(header), &fd, sizeof fd);
        return sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? errno : 0;
    }
    void call(const std::string& method, const std::string& rest = "") const
    {
        CHECK(send("{\"method\":\"" + method + "\"" + rest + "}" + '\0'));
    }
    /// The messages that are there.
    Replies replies()
    {
        receive();
        Replies found;
        for (size_t end; (end = bytes_.find('\0')) != std::string::npos; bytes_.erase(0, end + 1))
            found.push_back(bytes_.substr(0, end));
        return found;
    }
    /// Of all that comes no more than this is taken.
    size_t receive(size_t most = SIZE_MAX)
    {
        size_t sum = 0;
        char chunk[4096];
        while (sum < most) {
            const auto size = recv(socket_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
            if (size == 0)
                is_at_end_ = true;
            if (size <= 0)
                break;
            bytes_.append(chunk, static_cast<size_t>(size));
            sum += static_cast<size_t>(size);
        }
        return sum;
    }
    /// The server has hung up, and all it said was read.
    bool is_at_end()
    {
        receive();
        return is_at_end_;
    }
    [[nodiscard]] const std::string& unfinished() const
    {
        return bytes_;
    }
    void half_close() const
    {
        shutdown(socket_.get(), SHUT_WR);
    }
    void stop_reading() const
    {
        shutdown(socket_.get(), SHUT_RD);
    }
    void hang_up()
    {
        socket_.reset();
    }

private:
    UniqueFd socket_;
    std::string bytes_;
    bool is_at_end_ = false;
};

inline Event new_event()
{
    sd_event* event = nullptr;
    REQUIRE(sd_event_new(&event) >= 0);
    return Event(event);
}

} // namespace rdmad::test
