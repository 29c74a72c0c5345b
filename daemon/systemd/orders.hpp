// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"
#include "daemon/systemd/anchor.hpp"

#include <functional>
#include <map>

namespace rdmad::systemd {

/// Returns true if PID 1 may or may not have got a request: what it does next shows that.
[[nodiscard]] bool is_lost_on_its_way(const Error& error);

/// The requests to PID 1. The Manager sends them over the bus; a test inspects them.
class Orders {
public:
    using OnJob = std::function<void(Result<uint32_t> job)>;
    using OnDone = std::function<void(Result<void>)>;
    enum class AnchorState {
        starting, ///< waits for its device
        up,
        stopping ///< has a job for that: most often, as its device went
    };
    using Anchors = std::map<std::string, AnchorState>; ///< by name
    using OnAnchors = std::function<void(Result<Anchors>)>;

    Orders() = default;
    Orders(const Orders&) = delete;
    Orders& operator=(const Orders&) = delete;
    virtual ~Orders() = default;

    [[nodiscard]] virtual bool is_connected() const = 0;

    /// Reports the unit's states from now on, the first one at once, even if it is watched already.
    virtual void watch(const std::string& unit) = 0;
    /// Takes back one watch(): the last one ends it.
    virtual void unwatch(const std::string& unit) = 0;
    /// Requests the state of a watched unit once more.
    virtual void refresh(const std::string& unit) = 0;
    /// Returns false if the unit may have changed since its state was reported: another report is
    /// on its way, or PID 1 failed to make it.
    [[nodiscard]] virtual bool is_current(const std::string& unit) const = 0;

    /// Starts a unit in mode "replace": behind a stop that is under way. Passes the job's number.
    virtual void start(const std::string& unit, OnJob on_job) = 0;
    virtual void stop(const std::string& unit, OnJob on_job) = 0;
    /// Starts an anchor. Calls on_done when it is up, or will not be.
    virtual void start_anchor(const Anchor& anchor, OnDone on_done) = 0;
    /// Takes an anchor away, and leaves the unit that it ties alone. on_done is called when PID 1
    /// has agreed, or has none of that name, or refuses.
    virtual void drop_anchor(const std::string& name, OnDone on_done) = 0;
    /// Takes back an anchor that waits for a device that will not come; one that is up stays.
    virtual void cancel_anchor(const std::string& name) = 0;
    /// Lists the anchors that are up, or are being started or stopped.
    virtual void list_anchors(OnAnchors on_anchors) = 0;
};

} // namespace rdmad::systemd
