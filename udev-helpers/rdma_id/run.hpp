// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/nldev/transport.hpp"
#include "udev-helpers/rdma_id/context.hpp"
#include "udev-helpers/rdma_id/options.hpp"

#include <memory>

namespace rdmad::rdma_id {

/// What rdma_id runs on.
struct Host {
    std::string sys = "/sys";
    Paths paths = {};
    EventProperties event; ///< the environment
    /// Opens RDMA netlink, which loads ib_core.
    std::function<Result<std::unique_ptr<nldev::Transport>>()> open_netlink;
};

/// What goes to standard output, for udev or the user, and how rdma_id ends.
struct Answer {
    ExitCode exit_code = exit_found;
    std::string text = {};
};

/// Does what the options ask for: handles the udev event of the host, or answers a user. Reasons
/// for another exit code than exit_found are logged, but for what a udev event is not concerned
/// with.
[[nodiscard]] Answer run(const Options& options, const Host& host);

} // namespace rdmad::rdma_id
