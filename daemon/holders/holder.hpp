// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// The processes that have nodes of RDMA devices open: the kernel waits for them when it removes a
// device whose driver cannot take them away. rdmad-holders looks, and writes them down for rdmad.

namespace rdmad {

struct Holder {
    uint32_t pid = 0;         ///< 0: a part of the kernel
    std::string command = {}; ///< /proc/PID/comm, or the kernel's part: "nvme_rdma"
    std::string unit = {};    ///< that the process belongs to; empty: nobody knows
    /// PID 1 keeps them for the unit, in its file descriptor store.
    bool is_stored = false;
    std::set<std::string> nodes = {}; ///< "uverbs0"
    /// The same of nodes that are no more. The kernel gives their numbers to others at once.
    std::set<std::string> gone = {};

    friend bool operator==(const Holder&, const Holder&) = default;
};

/// The node that a link /proc/PID/fd/N shows.
struct LinkedNode {
    std::string name = {}; ///< empty: another file, or the unknown name of a node that is gone
    bool is_gone = false;  ///< "(deleted)"
};
[[nodiscard]] LinkedNode node_of_link(std::string_view link);
/// Returns true if it is the name that the kernel gives to one.
[[nodiscard]] bool is_node(std::string_view name);

/// Returns the holders that have one of these nodes, or of those that are gone, and with them
/// alone.
[[nodiscard]] std::vector<Holder> holders_of(const std::vector<Holder>& all,
                                             const std::set<std::string>& nodes,
                                             const std::set<std::string>& gone);

[[nodiscard]] std::set<std::string> units_of(const std::vector<Holder>& holders);

/// Returns "\"ib_write_bw\" (PID 412) of perftest.service": the quotes, and backslashes before
/// those in the name, set it apart from what follows.
[[nodiscard]] std::string describe(const Holder& holder);
/// Returns all of them, with commas between.
[[nodiscard]] std::string describe(const std::vector<Holder>& holders);

/// What a run of rdmad-holders found.
struct HolderReport {
    uint64_t began = 0; ///< microseconds of CLOCK_BOOTTIME: who came later may be missing
    std::vector<Holder> holders = {};
    /// A process not all of whose descriptors were looked at, or are told, with no nodes; there may
    /// be others.
    std::optional<Holder> unread = {};

    friend bool operator==(const HolderReport&, const HolderReport&) = default;
};

/// Returns "not all open files of \"sshd\" (PID 412), and perhaps of others, were looked at";
/// nothing if all were.
[[nodiscard]] std::string describe_unread(const HolderReport& report);

[[nodiscard]] std::string format_holders(const HolderReport& report);
/// Fails with EBADMSG if it is no such record, or of another version.
[[nodiscard]] Result<HolderReport> parse_holders(std::string_view text);

} // namespace rdmad
