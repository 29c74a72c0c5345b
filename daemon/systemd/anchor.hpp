// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/inventory/node_id.hpp"

#include <optional>
#include <string>
#include <string_view>

// An anchor ties a unit to a device node inside systemd, so that the one stops with the other
// whether rdmad lives or not. It is a transient slice without processes that is bound to the node's
// device unit and hands its stop on to the unit. A slice, as that is the one transient kind that
// starts no process.
//
// Each is made for one appearance of a node, which its name tells: while the one of the last
// appearance still waits for a unit that stops slowly, the next one can be there already.

namespace rdmad::systemd {

struct Anchor {
    std::string name;
    std::string description;
    /// Of the node's sysfs path: a link may move to another device. Empty: a keeper.
    std::string device_unit = {};
    std::string unit;                      ///< that stops with it
    std::optional<std::string> group = {}; ///< "any of": the slice that hands the stop on instead
};

/// Returns "rdmad-srp_daemon.service:7.23456789:uverbs0.slice", where the number behind the index
/// is when the node was born, if that is known. Dashes and other bytes that a part of a
/// slice's name cannot have become \xNN; the end of a unit's name that is too long becomes a hash.
[[nodiscard]] std::string anchor_name(std::string_view unit, const NodeId& node,
                                      std::string_view group = {});
/// Returns the group of a unit that needs any of the ports that a binding file matches.
[[nodiscard]] std::string group_name(std::string_view unit, std::string_view binding);

/// The parts of an anchor's name; a keeper or a group has none.
struct AnchorParts {
    NodeId node;
    std::string group; ///< name of its group; empty: none
};
[[nodiscard]] std::optional<AnchorParts> parse_anchor_name(std::string_view name);

/// Returns the name of the slice that stays as long as a unit is bound, device or not. It only
/// mentions the unit: PID 1 forgets when a unit stopped as soon as nobody mentions it.
[[nodiscard]] std::string keeper_name(std::string_view unit);
constexpr std::string_view keeper_suffix = ":bound.slice";

/// The pattern of all anchors and groups (ListUnitsByPatterns).
constexpr char anchor_pattern[] = "rdmad-*.slice";

} // namespace rdmad::systemd
