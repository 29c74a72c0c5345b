// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <string_view>

namespace rdmad::rdma_id {

/// Sends warnings to the journal from now on (syslog(3)): udevd keeps what its programs write to
/// stderr for debugging only.
void log_to_journal();

/// Returns true if something takes what syslog(3) sends. In an initrd without a journal nothing
/// does, and a warning is lost.
[[nodiscard]] bool is_log_read(const std::string& socket = "/dev/log");

/// Logs a warning. Escapes the message, as it may hold names that hardware or a stranger chose.
void warn(std::string_view message);

} // namespace rdmad::rdma_id
