// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace rdmad::recovery {

/// Returns true if nvmf-autoconnect.service may be started again for hosts that lost their
/// controllers with a device: it is enabled, knows connections over RDMA, and neither stafd nor
/// stacd runs, which reconnect by themselves. nvme(1) itself decides whom it leaves alone. root:
/// before each path; empty but in tests.
[[nodiscard]] bool connects_nvme(const std::string& root);

} // namespace rdmad::recovery
