// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/clock.hpp"
#include "daemon/inventory/inventory.hpp"
#include "daemon/inventory/node_id.hpp"
#include "daemon/lifecycle/lifecycle.hpp"
#include "daemon/systemd/orders.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace rdmad {

/// Ports that are ready: by GUID, the node whose unit the target hangs on, in this appearance. Of
/// two ports with one GUID the device that came first counts, as with the links.
using ReadyPorts = std::map<std::string, NodeId>;

/// Reports ready ports to PID 1: reaches rdma-port-ready@GUID.target with them, and leaves it. Once
/// for each appearance: each request starts what wants a target, and an administrator may have
/// stopped it since; and a few times more if the target was not reached, or something else was done
/// to it right after that: systemd may hear late, after a long daemon-reload, that an earlier
/// appearance of the port went, and stop the target for that. A file /run/rdmad/ready/GUID tells
/// the next rdmad what was requested, and rdmad-wait-ready@.service, that it need not ask;
/// .leave-GUID tells of a request to leave it. They tell, too, whether systemd has taken the
/// request: if not, the next rdmad repeats it.
class Readiness {
public:
    /// Takes the directory, /run/rdmad/ready.
    explicit Readiness(std::string directory, Clock clock = now_usec)
        : directory_(std::move(directory)), clock_(std::move(clock))
    {
    }

    void use(systemd::Orders* manager)
    {
        manager_ = manager;
    }
    /// Has requests repeated that PID 1 refused, or did not reply to before the connection changed.
    void on_connected();
    /// Takes the end of a job of any unit.
    void on_job(const std::string& unit, uint32_t job, const std::string& result);
    /// Returns true if a target is to be requested again, by settle() after a pause.
    [[nodiscard]] bool has_due() const;
    /// Reports what is ready now, and nothing else. The ports of unknown devices, given by index,
    /// stay as they were.
    void settle(const ReadyPorts& ready, const std::set<uint32_t>& unknown = {});

private:
    void read();
    void reach(const std::string& guid, const NodeId& node);
    void leave(const std::string& guid);
    uint64_t note_order(const std::string& guid);
    bool confirm(const std::string& guid, uint64_t order);
    [[nodiscard]] std::string path(const std::string& guid) const;
    [[nodiscard]] std::string leave_mark(const std::string& guid) const;
    void write(const std::string& file, const std::string& text) const;

    std::string directory_;
    Clock clock_;
    systemd::Orders* manager_ = nullptr;
    bool is_read_ = false; ///< what an earlier rdmad has requested
    struct Reached {
        std::optional<NodeId> node; ///< none: to be left again, or the record does not say
        bool is_due = false;        ///< to be requested again
        uint32_t job = 0;           ///< of the last request; 0: that of an earlier rdmad
        uint64_t since = 0;         ///< when PID 1 replied to it, or rdmad was started
        unsigned repeats = 0;
    };
    std::map<std::string, Reached> reached_; ///< by GUID
    /// The last request, by GUID, if PID 1 refused it or did not reply.
    std::map<std::string, uint64_t> unconfirmed_;
    uint64_t last_order_ = 0;
};

/// Returns ports through which traffic can flow, of devices that have settled and are not held.
[[nodiscard]] ReadyPorts ready_ports(const Inventory& inventory, const lifecycle::Lifecycle& lives);

} // namespace rdmad
