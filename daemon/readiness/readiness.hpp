// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/inventory/inventory.hpp"
#include "daemon/lifecycle/lifecycle.hpp"
#include "daemon/systemd/orders.hpp"

#include <map>
#include <set>
#include <string>

namespace rdmad {

/// Ports that are ready: by GUID, the node whose unit the target hangs on, of this appearance of
/// the device. Of two ports with one GUID the device that came first counts, as with the links.
using ReadyPorts = std::map<std::string, std::string>;

/// Has PID 1 know which ports are ready: rdma-port-ready@GUID.target is reached and left with them.
/// Once for each appearance: what wants a target is started whenever that is asked for, and an
/// administrator may have stopped it since. A file /run/rdmad/ready/GUID tells the next rdmad what
/// was asked for, and rdmad-wait-ready@.service, that it need not ask.
class Readiness {
public:
    /// directory: /run/rdmad/ready
    explicit Readiness(std::string directory) : directory_(std::move(directory)) {}

    void use(systemd::Orders* manager)
    {
        manager_ = manager;
    }
    /// What PID 1 refused, or did not answer before the connection changed, is asked for again.
    void on_connected();
    /// What is ready now, and nothing else. The ports of unknown devices, given by index, stay as
    /// they were.
    void settle(const ReadyPorts& ready, const std::set<uint32_t>& unknown = {});

private:
    void read();
    void reach(const std::string& guid, const std::string& node);
    void leave(const std::string& guid);
    uint64_t note_order(const std::string& guid);
    void confirm(const std::string& guid, uint64_t order);
    [[nodiscard]] std::string path(const std::string& guid) const;

    std::string directory_;
    systemd::Orders* manager_ = nullptr;
    bool is_read_ = false; ///< what an earlier rdmad has asked for
    ReadyPorts reached_;
    /// What was asked for last, by GUID, and PID 1 refused or did not answer.
    std::map<std::string, uint64_t> unconfirmed_;
    uint64_t last_order_ = 0;
};

/// Ports through which traffic can flow, of devices that have settled and are not held.
[[nodiscard]] ReadyPorts ready_ports(const Inventory& inventory, const lifecycle::Lifecycle& lives);

} // namespace rdmad
