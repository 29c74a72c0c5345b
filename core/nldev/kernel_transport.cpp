// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/nldev/kernel_transport.hpp"

#include <cerrno>
#include <linux/netlink.h>
#include <netlink/netlink.h>
#include <sys/socket.h>

namespace rdmad::nldev {

// Does not use nl_recv(): it reads each datagram twice, or fails on a truncated one without saying
// who sent it.
Result<Datagram> receive_datagram(int socket, std::span<std::byte> buffer, const char* name)
{
    sockaddr_nl sender = {};
    iovec where = {buffer.data(), buffer.size()};
    msghdr header = {};
    header.msg_name = &sender;
    header.msg_namelen = sizeof sender;
    header.msg_iov = &where;
    header.msg_iovlen = 1;

    ssize_t size;
    do
        size = recvmsg(socket, &header, MSG_DONTWAIT);
    while (size < 0 && errno == EINTR);
    if (size < 0)
        return fail(errno == EAGAIN ? ENODATA : errno, name);
    return Datagram{buffer.first(static_cast<size_t>(size)), sender.nl_pid,
                    (header.msg_flags & MSG_TRUNC) != 0};
}

Result<KernelTransport::Socket> KernelTransport::open()
{
    Socket socket(nl_socket_alloc());
    if (!socket)
        return fail(ENOMEM, "RDMA netlink");
    // libnl folds several errno values into one code; errno itself still holds the kernel's
    errno = 0;
    if (nl_connect(socket.get(), NETLINK_RDMA) < 0)
        return fail(errno != 0 ? errno : EPROTO, "RDMA netlink");
    const int fd = nl_socket_get_fd(socket.get());
    const int on = 1;
    if (setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on) < 0)
        return fail(errno, "RDMA netlink, extended ACK");
    return socket;
}

Result<void> KernelTransport::send(std::string_view message)
{
    if (!socket_) {
        auto socket = open();
        if (!socket)
            return tl::unexpected<Error>(std::move(socket).error());
        socket_ = std::move(*socket);
    }
    // libnl does not change what it sends
    errno = 0;
    if (nl_sendto(socket_.get(), const_cast<char*>(message.data()), message.size()) < 0)
        return fail(errno != 0 ? errno : EIO, "sending to RDMA netlink");
    return {};
}

// Does not wait: the kernel handles a request within send(), modules to load included, and the next
// step of a dump within the receive() before it (netlink_unicast_kernel(), netlink_recvmsg(),
// net/netlink/af_netlink.c). A reply that is not there now never comes.
Result<Datagram> KernelTransport::receive()
{
    if (!socket_)
        return fail(ENODATA, "RDMA netlink");
    return receive_datagram(nl_socket_get_fd(socket_.get()), buffer_,
                            "receiving from RDMA netlink");
}

} // namespace rdmad::nldev
