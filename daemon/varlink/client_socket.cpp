// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/varlink/client_socket.hpp"

#include <csignal>
#include <sys/socket.h>
#include <sys/time.h>

namespace rdmad::varlink {

namespace {

// asm-generic/socket.h of Linux 6.16, which may be newer than the headers
#ifdef SO_PASSRIGHTS
constexpr int pass_rights = SO_PASSRIGHTS;
#else
constexpr int pass_rights = 83;
#endif

/// Sends us a signal every 200 us while it lives: that ends a wait of the kernel's for a socket
/// that lingers (sk_stream_wait_close(), net/core/stream.c). One signal could come before the wait.
/// The 4096 clients of a full queue, each with such a socket, then take less than a second.
class Hurry {
public:
    Hurry()
    {
        // stays: another thread may see the last signal after the timer was stopped
        struct sigaction action = {};
        action.sa_handler = [](int) {};
        sigaction(SIGALRM, &action, nullptr);
        set({.it_interval = pause, .it_value = pause});
    }
    ~Hurry()
    {
        set({});
    }
    Hurry(const Hurry&) = delete;
    Hurry& operator=(const Hurry&) = delete;

private:
    static constexpr timeval pause = {.tv_sec = 0, .tv_usec = 200};

    static void set(const itimerval& timer)
    {
        setitimer(ITIMER_REAL, &timer, nullptr);
    }
};

} // namespace

void refuse_descriptors(int listening)
{
    const int no = 0;
    (void)setsockopt(listening, SOL_SOCKET, pass_rights, &no, sizeof no);
}

Received receive(int socket, char* buffer, size_t size)
{
    iovec bytes = {.iov_base = buffer, .iov_len = size};
    msghdr message = {};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    const Hurry hurry;
    const auto received = recvmsg(socket, &message, MSG_DONTWAIT);
    // without room for them, descriptors are all that can be cut off
    return {.size = received,
            .has_descriptors = received >= 0 && (message.msg_flags & MSG_CTRUNC) != 0};
}

void hang_up(UniqueFd& socket)
{
    const Hurry hurry;
    socket.reset();
}

} // namespace rdmad::varlink
