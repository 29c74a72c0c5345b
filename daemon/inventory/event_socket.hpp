// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/c_ptr.hpp"
#include "core/nldev/devlink.hpp"

#include <memory>
#include <netlink/socket.h>
#include <set>
#include <vector>

namespace rdmad {

/// A netlink socket for the kernel's own notifications.
class EventSocket {
public:
    /// Listens to RDMA netlink, which since Linux 6.12 reports: registered, unregistered, renamed,
    /// a network device came or went. Older kernels let one join, too, and never say anything:
    /// check nldev::Client::has_monitor() first.
    [[nodiscard]] static Result<EventSocket> of_rdma();
    /// Listens to rtnetlink for changes of network devices and their addresses.
    [[nodiscard]] static Result<EventSocket> of_links();
    /// Listens to devlink for changes of the functions that devices hang on. It does not ask how
    /// they are: the kernel would wait there for each function that somebody has locked, as a
    /// driver that probes, or a flash (devlink_nl_inst_iter_dumpit(), net/devlink/netlink.c). Fails
    /// with ENOENT if the kernel has no devlink.
    [[nodiscard]] static Result<EventSocket> of_devlink();

    [[nodiscard]] int fd() const;
    /// Returns the next datagram, valid until the next call; empty if it is none of the kernel's,
    /// nullopt if there is none. Fails with ENOBUFS if some were lost, and discards the queue then,
    /// so that a look from now on misses nothing; with EMSGSIZE if it is longer than 16 KiB.
    [[nodiscard]] Result<std::optional<nldev::wire::Bytes>> receive();

private:
    using Socket = CPtr<nl_sock, nl_socket_free>;

    EventSocket(Socket socket, const char* name);
    [[nodiscard]] static Result<EventSocket> create(int protocol, std::initializer_list<int> groups,
                                                    const char* name);

    Socket socket_;
    const char* name_;
    std::unique_ptr<std::byte[]> buffer_;
};

// Skips what is of another kind, or malformed: the next one, or udev, reports it again.

[[nodiscard]] std::vector<nldev::Notification> notifications_in(nldev::wire::Bytes datagram);
/// Returns the indexes of network devices that changed, or whose addresses did.
[[nodiscard]] std::set<uint32_t> links_in(nldev::wire::Bytes datagram);
[[nodiscard]] std::vector<nldev::DevlinkNotice> devlink_notices_in(nldev::wire::Bytes datagram);

} // namespace rdmad
