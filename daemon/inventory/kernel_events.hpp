// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/nldev/client.hpp"
#include "daemon/event.hpp"
#include "daemon/inventory/event_socket.hpp"

#include <functional>

namespace rdmad {

/// The sockets of KernelEvents; a test has others.
struct EventSockets {
    std::function<Result<EventSocket>()> rdma = EventSocket::of_rdma;
    std::function<Result<EventSocket>()> links = EventSocket::of_links;
};

/// The kernel's own notifications, beside udev: of RDMA devices, of network devices and of devlink.
class KernelEvents {
public:
    struct Callbacks {
        std::function<void(uint32_t index)> on_device;
        /// Called when a network device was renamed; the kernel does not say of which port.
        std::function<void()> on_netdev;
        /// Takes the indexes of network devices that changed; nullopt: any may have.
        std::function<void(const std::optional<std::set<uint32_t>>&)> on_links;
        std::function<void(const nldev::DevlinkNotice&)> on_devlink;
        /// Called when notifications of RDMA devices were lost.
        std::function<void()> on_lost;
        std::function<void(const Error&)> on_trouble;
    };

    KernelEvents(sd_event* event, Callbacks callbacks, EventSockets sockets = {})
        : event_(event), callbacks_(std::move(callbacks)), sockets_(std::move(sockets))
    {
    }

    /// Listens to devlink, for good: its notices may come when their device is gone.
    void listen_to_devlink();
    /// Listens to the others while there are devices: without one ib_core may be unloaded. Asks the
    /// kernel once whether it reports RDMA devices: joining the group succeeds on any.
    void listen(nldev::Client& client);
    void end();

private:
    /// The source goes before the socket.
    struct Ear {
        std::optional<EventSocket> socket;
        EventSource source;
    };

    /// Returns false if that failed, and reports it.
    bool open(Ear& ear, int64_t priority, Result<EventSocket> socket,
              EventSource::Callback on_event);
    static void close(Ear& ear);
    void hear_rdma();
    void hear_links();
    void hear_devlink();

    sd_event* event_;
    Callbacks callbacks_;
    EventSockets sockets_;
    bool is_listening_ = false; ///< all that the kernel has is open
    Ear rdma_;
    Ear links_;
    Ear devlink_;
};

} // namespace rdmad
