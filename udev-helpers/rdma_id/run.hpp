// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/nldev/transport.hpp"
#include "udev-helpers/rdma_id/context.hpp"
#include "udev-helpers/rdma_id/options.hpp"

namespace rdmad::rdma_id {

/// The machine that rdma_id runs on.
struct Host {
    std::string sys = "/sys";
    Paths paths = {};
    EventProperties event;     ///< the environment
    nldev::Transport& netlink; ///< a request loads ib_core
};

/// The text for standard output, for udev or the user, and the exit code.
struct Answer {
    ExitCode exit_code = exit_found;
    std::string text = {};
};

/// Handles the udev event of the host, or the request of a user, as the options say. Logs the
/// reason for an exit code other than exit_found, unless a udev event is not about an RDMA device.
[[nodiscard]] Answer run(const Options& options, const Host& host);

} // namespace rdmad::rdma_id
