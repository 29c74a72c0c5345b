// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rdmad::config {

/// Returns a time span of systemd.time(7) in microseconds: "90", which is seconds, "500ms", "1min
/// 30s". Takes all units of that page, in whole numbers alone. Returns nullopt for other text, and
/// for more than 366 days.
[[nodiscard]] std::optional<uint64_t> parse_time_span(std::string_view text);

} // namespace rdmad::config
