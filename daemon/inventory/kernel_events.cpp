// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/inventory/kernel_events.hpp"

#include <cerrno>
#include <utility>

namespace rdmad {

void KernelEvents::listen(nldev::Client& client)
{
    if (is_listening_)
        return;
    is_listening_ =
        links_.socket || open(links_, priority::kernel, sockets_.links(), [this] { hear_links(); });
    const auto has_monitor = client.has_monitor();
    if (!has_monitor)
        is_listening_ = false;
    else if (*has_monitor)
        is_listening_ &= open(rdma_, priority::kernel, sockets_.rdma(), [this] { hear_rdma(); });
}

void KernelEvents::listen_to_devlink()
{
    auto socket = EventSocket::of_devlink();
    const bool has_none = !socket && socket.error().code == ENOENT;
    if (!has_none)
        (void)open(devlink_, priority::evidence, std::move(socket), [this] { hear_devlink(); });
}

void KernelEvents::end()
{
    close(rdma_);
    close(links_);
    is_listening_ = false;
}

void KernelEvents::close(Ear& ear)
{
    ear.source = {};
    ear.socket.reset();
}

bool KernelEvents::open(Ear& ear, int64_t priority, Result<EventSocket> socket,
                        EventSource::Callback on_event)
{
    auto source = socket ? EventSource::io(event_, socket->fd(), priority, std::move(on_event))
                         : tl::unexpected<Error>(socket.error());
    if (!source) {
        callbacks_.on_trouble(source.error());
        return false;
    }
    close(ear);
    ear = {std::move(*socket), std::move(*source)};
    return true;
}

void KernelEvents::hear_rdma()
{
    const auto datagram = rdma_.socket->receive();
    if (!datagram)
        return callbacks_.on_lost();
    if (!*datagram)
        return;
    for (const auto& notification : notifications_in(**datagram))
        if (notification.device_index)
            callbacks_.on_device(*notification.device_index);
        else
            callbacks_.on_netdev();
}

void KernelEvents::hear_links()
{
    const auto datagram = links_.socket->receive();
    if (!datagram)
        callbacks_.on_links(std::nullopt);
    else if (*datagram)
        callbacks_.on_links(links_in(**datagram));
}

/// Ignores losses: they make a cause less exact, and the grace that follows from it.
void KernelEvents::hear_devlink()
{
    const auto datagram = devlink_.socket->receive();
    if (!datagram || !*datagram)
        return;
    for (const auto& notice : devlink_notices_in(**datagram))
        callbacks_.on_devlink(notice);
}

} // namespace rdmad
