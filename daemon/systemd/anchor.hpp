// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// What ties a unit to a device node inside systemd, so that the one stops with the other whether
// rdmad lives or not: a transient slice without processes that is bound to the node's device unit
// and hands its stop on to the unit. A slice, as that is the one transient kind that starts no
// process.
//
// Each is made for one appearance of a node and has the RDMA index in its name: while the one of
// the last appearance still waits for a unit that stops slowly, the next one can be there already.

namespace rdmad::systemd {

struct Anchor {
    std::string name;
    std::string description;
    /// Of the node's sysfs path: a link may move to another device. Empty: a keeper.
    std::string device_unit = {};
    std::string unit;                      ///< that stops with it
    std::optional<std::string> group = {}; ///< "any of": the slice that hands the stop on instead
};

/// "rdmad-srp_daemon.service:7:uverbs0.slice". The dashes and other bytes that a slice cannot have
/// in a part of its name become \xNN; of a unit that is too long the end becomes a hash.
[[nodiscard]] std::string anchor_name(std::string_view unit, uint32_t index, std::string_view node,
                                      std::string_view group = {});
/// Of a unit that needs any of the ports that a binding file matches.
[[nodiscard]] std::string group_name(std::string_view unit, std::string_view binding);

/// What an anchor's name tells; none of a keeper or a group.
struct AnchorParts {
    uint32_t index = 0;
    std::string node;
    std::string group; ///< name of its group; empty: none
};
[[nodiscard]] std::optional<AnchorParts> parse_anchor_name(std::string_view name);

/// Of the slice that stays as long as a unit is bound, device or not, and does nothing but mention
/// the unit: PID 1 forgets when a unit stopped as soon as nobody mentions it any more.
[[nodiscard]] std::string keeper_name(std::string_view unit);
constexpr std::string_view keeper_suffix = ":bound.slice";

/// What lists all anchors and groups (ListUnitsByPatterns).
constexpr char anchor_pattern[] = "rdmad-*.slice";

} // namespace rdmad::systemd
