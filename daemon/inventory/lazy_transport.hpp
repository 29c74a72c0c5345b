// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/nldev/kernel_transport.hpp"

#include <cerrno>
#include <optional>

namespace rdmad {

/// Opens its socket with the first request: that loads ib_core, which a machine without RDMA
/// devices need not have. An open one keeps ib_core from being unloaded (netlink_create(),
/// net/netlink/af_netlink.c).
class LazyTransport final : public nldev::Transport {
public:
    [[nodiscard]] Result<void> send(std::string_view message) override
    {
        if (!transport_) {
            auto opened = nldev::KernelTransport::create();
            if (!opened)
                return tl::unexpected<Error>(std::move(opened).error());
            transport_.emplace(std::move(*opened));
        }
        return transport_->send(message);
    }
    [[nodiscard]] Result<nldev::Datagram> receive() override
    {
        return transport_ ? transport_->receive() : fail(ENODATA, "RDMA netlink");
    }
    [[nodiscard]] Result<void> reset() override
    {
        return transport_ ? transport_->reset() : Result<void>();
    }

    /// Closes the socket until the next request.
    void close()
    {
        transport_.reset();
    }

private:
    std::optional<nldev::KernelTransport> transport_;
};

} // namespace rdmad
