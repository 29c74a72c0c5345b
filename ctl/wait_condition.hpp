// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/answers.hpp"

// The condition that "rdmactl wait" waits for. Pure.

namespace rdmad::ctl {

enum class WaitGoal { active, ready, present, absent };

/// A device, or one port of it.
struct Target {
    std::string word = {}; ///< as it was given
    std::string name = {}; ///< of the device, or a GUID in rdmad's form
    std::optional<uint32_t> port = {};
};

/// Parses "mlx5_0", "mlx5_0/1", "0002:c903:0000:0a01".
[[nodiscard]] Answer<Target> parse_target(const std::string& word);

/// The result of a look: if it is so, and what is seen: "port 0002c90300000a01 of mlx5_0 is down".
struct Look {
    bool holds = false;
    std::string seen = {};
};

[[nodiscard]] Look look_at(const Target& target, WaitGoal goal, const std::vector<Device>& devices);

/// Returns "'mlx5_9' is not there now; there is mlx5_0", with the names that may have been meant;
/// empty if it is there.
[[nodiscard]] std::string note_of_missing(const Target& target, const std::vector<Device>& devices);

} // namespace rdmad::ctl
