// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace rdmad::recovery {

/// Whether nvmf-autoconnect.service may be started anew for hosts that lost their controllers with
/// a device: it is enabled, knows of connections over RDMA, and neither stafd nor stacd runs, which
/// see to them by themselves. Whom nvme(1) leaves alone is its own business.
/// root: before each path; empty but in tests.
[[nodiscard]] bool connects_nvme(const std::string& root);

} // namespace rdmad::recovery
