// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// The orders and reports between rdmad and rdmad-recovery, which acts for it, in
// /run/rdmad/recovery. A target is something in the kernel that waits for connections over RDMA at
// an address, or a port, of its own.

namespace rdmad::recovery {

enum class Kind {
    nvmet, ///< a port of the NVMe target
    iser,  ///< a portal of the iSCSI target
    srpt,  ///< a port of the SRP target
    nfs    ///< a listener of the NFS server
};

[[nodiscard]] std::string_view to_string(Kind kind);

/// An order of rdmad to rdmad-recovery.
struct Order {
    enum class Mode {
        look,    ///< change nothing; report what would be done
        restore, ///< put back what waits for no connections though its device is ready
        release  ///< take away what hinders the removal of devices, until they are ready again
    };
    Mode mode = Mode::look;
    std::set<uint32_t> devices = {}; ///< RDMA indexes: those that are ready; or that are to go
    std::set<Kind> kinds = {};       ///< others are left out
    bool has_nfs_server = false;     ///< nfs-server.service is up
    uint64_t number = 0;             ///< the report on it has the same
};

/// The state of a target, and what was done to it.
struct Target {
    enum class State {
        up,       ///< it waits for connections
        dead,     ///< it does not, and that would be changed; reported by look only
        waiting,  ///< it does not, and no ready device has its address
        restored, ///< it does again
        released, ///< taken away, to be put back
        failed    ///< that did not work
    };
    Kind kind = Kind::nvmet;
    std::string name = {};    ///< "ports/1", as its configuration has it
    std::string address = {}; ///< "192.0.2.1:4420", or the GUID of a port
    State state = State::up;
    std::string reason = {}; ///< of waiting and failed

    friend bool operator==(const Target&, const Target&) = default;
};

[[nodiscard]] std::string_view to_string(Target::State state);
/// Returns "nvmet ports/1 at 192.0.2.1:4420".
[[nodiscard]] std::string describe(const Target& target);

struct Report {
    std::vector<Target> targets = {};
    /// What in the kernel has connections over the devices of a release: "nvme_rdma".
    std::set<std::string> users = {};
    /// The service that connects NVMe hosts may be started anew: nobody else sees to that.
    bool connects_nvme = false;
    uint64_t order = 0; ///< the number of the order that it is about

    friend bool operator==(const Report&, const Report&) = default;
};

[[nodiscard]] std::string format_order(const Order& order);
/// Fails with EBADMSG if it is no such record, or of another version.
[[nodiscard]] Result<Order> parse_order(std::string_view text);
[[nodiscard]] std::string format_report(const Report& report);
/// Fails with EBADMSG, as above.
[[nodiscard]] Result<Report> parse_report(std::string_view text);

/// A record of RDMA indexes.
[[nodiscard]] std::string format_indexes(const std::set<uint32_t>& indexes);
/// Fails with EBADMSG, as above.
[[nodiscard]] Result<std::set<uint32_t>> parse_indexes(std::string_view text);

} // namespace rdmad::recovery
