// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/c_ptr.hpp"
#include "core/nldev/transport.hpp"

#include <array>
#include <netlink/socket.h>
#include <span>

namespace rdmad::nldev {

/// Returns the next datagram of a netlink socket, as far as it fits. Fails with ENODATA if there is
/// none now.
[[nodiscard]] Result<Datagram> receive_datagram(int socket, std::span<std::byte> buffer,
                                                const char* name);

/// A NETLINK_RDMA socket of libnl. Opens it with the first request: that loads ib_core
/// (net-pf-16-proto-20), which a machine without RDMA devices need not have. An open one keeps
/// ib_core from being unloaded (netlink_create(), net/netlink/af_netlink.c).
class KernelTransport final : public Transport {
public:
    /// Fails with EPROTONOSUPPORT if the kernel has no RDMA.
    [[nodiscard]] Result<void> send(std::string_view message) override;
    [[nodiscard]] Result<Datagram> receive() override;
    /// Closes the socket until the next request.
    void close()
    {
        socket_.reset();
    }

private:
    using Socket = CPtr<nl_sock, nl_socket_free>;

    [[nodiscard]] static Result<Socket> open();

    Socket socket_;
    // the largest replies to our requests stay below NLMSG_DEFAULT_SIZE (8 KiB); MSG_TRUNC shows a
    // longer one
    std::array<std::byte, 16384> buffer_;
};

} // namespace rdmad::nldev
