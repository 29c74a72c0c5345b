// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/text.hpp"
#include "ctl/answers.hpp"
#include "ctl/table.hpp"

#include <string>
#include <string_view>
#include <vector>

// Words for people, and what people write. Pure, but for the time zone.

namespace rdmad::ctl {

using text::join;

/// Returns "1 device", "2 devices".
[[nodiscard]] std::string count_of(size_t count, std::string_view what);

/// Returns "just now", "2 min ago", "3 d ago"; of a clock that was set back "just now".
[[nodiscard]] std::string ago(int64_t then, int64_t now);

/// Returns microseconds since 1970 as local time: "2026-11-21 18:37:56".
[[nodiscard]] std::string local_time(int64_t timestamp);

/// Returns GUIDs as people have them, "0x0002c90300000a01" or "0002:c903:0000:0a01", as rdmad does;
/// any other word stays as it is.
[[nodiscard]] std::string plain_guid(std::string_view word);

/// Returns srp.service for "srp"; what has the suffix of a unit stays.
[[nodiscard]] std::string with_suffix(const std::string& unit);
/// Returns true if a word names a unit: it ends in .service, .target and so on.
[[nodiscard]] bool is_unit(std::string_view word);

/// Returns those names that a person may have meant, not too many.
[[nodiscard]] std::vector<std::string> nearby(std::string_view wanted,
                                              const std::vector<std::string>& names);

/// Returns "mlx5_0/1", or "mlx5_0" for the whole device.
[[nodiscard]] std::string port_name(const std::string& device, uint32_t port);

/// Returns the state of a port in a word.
[[nodiscard]] Cell state_cell(const Port& port);

/// Returns "last stop: unplug of mlx5_0/1, 2 min ago", or of a start that systemd did not carry
/// out "last start: condition not met, 2 min ago".
[[nodiscard]] std::string describe_stop(const Stop& stop, int64_t now);

/// Returns "\"ib_write_bw\" (PID 412) of perftest.service", with backslashes before quotes in the
/// name.
[[nodiscard]] std::string describe_holder(const Holder& holder);
/// Returns all of them, with commas between.
[[nodiscard]] std::string describe_holders(const std::vector<Holder>& holders);

/// Returns what a person should know of a device's life: "degraded: none of its ports could be used
/// in time"; empty if nothing.
[[nodiscard]] std::string describe_life(const Life& life);

enum class Standing { running, waiting, unplugged, left_alone };

[[nodiscard]] Standing standing_of(const Unit& unit);
[[nodiscard]] bool is_active(const Unit& unit);

} // namespace rdmad::ctl
