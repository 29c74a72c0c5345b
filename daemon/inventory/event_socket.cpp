// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/inventory/event_socket.hpp"

#include "daemon/inventory/overrun.hpp"

#include "core/nldev/kernel_transport.hpp"
#include "core/nldev/uapi.hpp"

#include <cerrno>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <sys/socket.h>

namespace rdmad {

namespace {

using nldev::wire::Bytes;

constexpr size_t buffer_size = 16384;
// libnl asks for 32 KiB, where 68 messages of RDMA fit
constexpr int receive_buffer = 1024 * 1024;

template <typename Visit>
void each_message(Bytes datagram, Visit visit)
{
    while (!datagram.empty()) {
        const auto message = nldev::wire::take_message(datagram);
        if (!message)
            return;
        visit(*message);
    }
}

} // namespace

EventSocket::EventSocket(Socket socket, const char* name)
    : socket_(std::move(socket)),
      name_(name),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(buffer_size))
{
}

Result<EventSocket> EventSocket::create(int protocol, std::initializer_list<int> groups,
                                        const char* name)
{
    Socket socket(nl_socket_alloc());
    if (!socket)
        return fail(ENOMEM, name);
    errno = 0;
    bool is_joined = nl_connect(socket.get(), protocol) >= 0;
    for (const int group : groups)
        is_joined = is_joined && nl_socket_add_membership(socket.get(), group) >= 0;
    if (!is_joined)
        return fail(errno != 0 ? errno : EPROTO, name);
    (void)nl_socket_set_buffer_size(socket.get(), receive_buffer, 0);
    return EventSocket(std::move(socket), name);
}

Result<EventSocket> EventSocket::of_rdma()
{
    return create(NETLINK_RDMA, {nldev::uapi::group_notify}, "RDMA notifications");
}

Result<EventSocket> EventSocket::of_links()
{
    return create(NETLINK_ROUTE, {RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR},
                  "events of network devices");
}

Result<EventSocket> EventSocket::of_devlink()
{
    static constexpr char name[] = "events of devlink";
    const Socket asker(nl_socket_alloc());
    if (!asker)
        return fail(ENOMEM, name);
    errno = 0;
    if (genl_connect(asker.get()) < 0)
        return fail(errno != 0 ? errno : EPROTO, name);
    const int group =
        genl_ctrl_resolve_grp(asker.get(), DEVLINK_GENL_NAME, DEVLINK_GENL_MCGRP_CONFIG_NAME);
    if (group < 0)
        return fail(group == -NLE_OBJ_NOTFOUND ? ENOENT : EPROTO, name);
    return create(NETLINK_GENERIC, {group}, name);
}

int EventSocket::fd() const
{
    return nl_socket_get_fd(socket_.get());
}

Result<std::optional<Bytes>> EventSocket::receive()
{
    const auto datagram = nldev::receive_datagram(fd(), {buffer_.get(), buffer_size}, name_);
    if (!datagram && datagram.error().code == ENODATA)
        return std::optional<Bytes>();
    if (!datagram && datagram.error().code == ENOBUFS)
        discard_queue(fd());
    if (!datagram)
        return tl::unexpected<Error>(datagram.error());
    if (datagram->sender != 0)
        return Bytes();
    // a network device with a hundred long alternative names has more to tell than fits
    if (datagram->truncated)
        return fail(EMSGSIZE, name_);
    return datagram->bytes;
}

std::vector<nldev::Notification> notifications_in(Bytes datagram)
{
    std::vector<nldev::Notification> notifications;
    each_message(datagram, [&](const nldev::wire::Message& message) {
        if (message.type != nldev::uapi::message_type(nldev::uapi::command_monitor))
            return;
        if (auto notification = nldev::wire::parse_notification(message.payload); notification)
            notifications.push_back(*notification);
    });
    return notifications;
}

std::set<uint32_t> links_in(Bytes datagram)
{
    std::set<uint32_t> links;
    each_message(datagram, [&](const nldev::wire::Message& message) {
        if (const auto index = nldev::wire::parse_link_index(message); index)
            links.insert(*index);
    });
    return links;
}

std::vector<nldev::DevlinkNotice> devlink_notices_in(Bytes datagram)
{
    std::vector<nldev::DevlinkNotice> notices;
    each_message(datagram, [&](const nldev::wire::Message& message) {
        if (message.type < NLMSG_MIN_TYPE)
            return;
        if (auto notice = nldev::parse_devlink(message.payload); notice)
            notices.push_back(std::move(*notice));
    });
    return notices;
}

} // namespace rdmad
