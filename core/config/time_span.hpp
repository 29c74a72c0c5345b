// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rdmad::config {

/// A time span of systemd.time(7) in microseconds: "90", which is seconds, "500ms", "1min 30s". The
/// units are us, ms, s, sec, m, min, h, hr and d; whole numbers alone. None: it is no such thing,
/// or longer than a year.
[[nodiscard]] std::optional<uint64_t> parse_time_span(std::string_view text);

} // namespace rdmad::config
