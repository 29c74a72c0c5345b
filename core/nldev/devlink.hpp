// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/nldev/wire.hpp"

// Messages of devlink(8), generic netlink, about the functions that RDMA devices hang on. Pure, as
// wire.hpp is.

namespace rdmad::nldev {

/// A message of the multicast group "config".
struct DevlinkNotice {
    std::string device = {}; ///< on its bus: "0000:01:00.0", "mlx5_core.sf.4"
    /// Number of reloads of its driver since it was bound. DEVLINK_CMD_NEW has it when a reload is
    /// done, and when something else about the function changed (devlink_notify()). Reloads that
    /// leave everything as it is (DEVLINK_RELOAD_LIMIT_NO_RESET) do not count.
    std::optional<uint64_t> reloads = {};
    bool has_failed_to_reload = false; ///< what hung on it is gone then
    /// State of a health reporter of the whole function. false: the reporter found an error just
    /// now (devlink_health_report()). If the driver can recover, it does, and what hangs on the
    /// function goes. Not all can, and some never report that it is over.
    std::optional<bool> is_healthy = {};
    bool is_gone = false; ///< its driver let go of it

    friend bool operator==(const DevlinkNotice&, const DevlinkNotice&) = default;
};

/// Parses the payload of a message of the family "devlink". Skips what a reporter of one port says:
/// an error in sending packets says nothing about the function.
[[nodiscard]] Result<DevlinkNotice> parse_devlink(wire::Bytes payload);

} // namespace rdmad::nldev
