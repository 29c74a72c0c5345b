// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/inventory/node_id.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace rdmad {

/// The reason why something may not be used now.
struct Obstacle {
    std::string reason = {}; ///< empty: it may
    bool passes = false;     ///< by itself, without an administrator
    /// PID 1 has yet to hear that a port went, and to stop what was tied to it.
    bool waits_for_end = false;

    friend bool operator==(const Obstacle&, const Obstacle&) = default;
};

/// A port, as far as a unit's life depends on it. It is the same port after a return: that with the
/// same GUID or, where it has none, at the same place in the same device.
struct Member {
    std::string binding = {}; ///< name of the file that ties it to the unit
    std::string device = {};
    uint32_t index = 0;
    uint32_t port = 0;
    std::string guid = {}; ///< empty: none
    std::string node_guid = {};
    std::string path = {};
    std::string node = {};    ///< "uverbs0"; empty: the port has no such node
    uint64_t born = 0;        ///< see NodeId; 0: a rdmad that did not know wrote the record
    std::string syspath = {}; ///< of the node
    bool is_ready = true;     ///< as WaitFor= asks
    Obstacle obstacle = {};
    std::string anchor = {}; ///< that has PID 1 stop the unit with it; empty: none is up
    /// The unit is tied to it, and was not seen to run with it: nothing waits for its return.
    bool is_unused = false;
    /// When it went (CLOCK_MONOTONIC; 0: nobody knows).
    std::optional<uint64_t> removed = {};

    [[nodiscard]] NodeId node_id() const
    {
        return {index, node, born};
    }
    [[nodiscard]] bool is_same_port(const Member& other) const;
    /// Returns true for the same port of what is in the same slot, if another adapter; of a
    /// software device, which is in none, for that of a device of the same name.
    [[nodiscard]] bool is_same_place(const Member& other) const;
    /// Returns true for the same port of the same binding, if it has not gone in between.
    [[nodiscard]] bool is_same_appearance(const Member& other) const;
    friend bool operator==(const Member&, const Member&) = default;
};

/// Returns "port 0002c90300000a01 of mlx5_0"; "port 1 of mlx5_0" without a GUID.
[[nodiscard]] std::string describe(const Member& member);

} // namespace rdmad
