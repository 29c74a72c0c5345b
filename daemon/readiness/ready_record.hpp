// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/inventory/node_id.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace rdmad {

/// What /run/rdmad/ready/GUID says of a target that rdmad reached.
struct ReadyRecord {
    NodeId node;         ///< whose unit the target hangs on
    bool is_due = false; ///< systemd has yet to take the request

    friend bool operator==(const ReadyRecord&, const ReadyRecord&) = default;
};

/// Returns "INDEX NODE BORN", behind a "?" if it is due.
[[nodiscard]] std::string format_ready_record(const ReadyRecord& record);
/// Reads it, and what an earlier rdmad wrote: the node's place in sysfs, and maybe no birth.
[[nodiscard]] std::optional<ReadyRecord> parse_ready_record(std::string_view text);

} // namespace rdmad
