// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/nldev/wire.hpp"

// What devlink(8) tells by generic netlink of the functions that RDMA devices hang on. Pure, as
// wire.hpp is.

namespace rdmad::nldev {

/// Of a message of the multicast group "config".
struct DevlinkNotice {
    std::string device = {}; ///< on its bus: "0000:01:00.0", "mlx5_core.sf.4"
    /// How often its driver began anew, since it was bound: DEVLINK_CMD_NEW has that when a reload
    /// is done, and when something else about the function changed (devlink_notify()). Not counted
    /// are those that leave everything as it is (DEVLINK_RELOAD_LIMIT_NO_RESET).
    std::optional<uint64_t> reloads = {};
    bool has_failed_to_reload = false; ///< and what hung on it is gone
    /// Of a health reporter of the whole function; false: it found an error just now
    /// (devlink_health_report()). If the driver can recover, it does, and what hangs on the
    /// function goes. Not all can, and some never tell that it is over.
    std::optional<bool> is_healthy = {};
    bool is_gone = false; ///< its driver let go of it

    friend bool operator==(const DevlinkNotice&, const DevlinkNotice&) = default;
};

/// The payload of a message of the family "devlink". What a reporter of one port tells is left out:
/// an error in sending packets says nothing of the function.
[[nodiscard]] Result<DevlinkNotice> parse_devlink(wire::Bytes payload);

} // namespace rdmad::nldev
