// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/match.hpp"
#include "ctl/answers.hpp"

namespace rdmad::ctl {

/// Returns the ports, or devices without any, for which a [Match] section of a .binding file holds:
/// "mlx5_0/1". host: what is so of all of them. Pure.
[[nodiscard]] std::vector<std::string> matches_of(const config::Match& match,
                                                  const std::vector<Device>& devices,
                                                  const config::Facts& host);

} // namespace rdmad::ctl
