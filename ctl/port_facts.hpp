// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/match.hpp"
#include "ctl/answers.hpp"

namespace rdmad::ctl {

/// Returns the ports for which a [Match] section of a .binding file holds: "mlx5_0/1". As in rdmad,
/// a device without ports is never among them. host: what is so of all of them. Pure.
[[nodiscard]] std::vector<std::string> matches_of(const config::Match& match,
                                                  const std::vector<Device>& devices,
                                                  const config::Facts& host);

} // namespace rdmad::ctl
