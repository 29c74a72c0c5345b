// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"
#include "daemon/systemd/anchor.hpp"

#include <functional>
#include <map>

namespace rdmad::systemd {

/// What PID 1 is asked for. The Manager asks it over the bus; a test looks at what was asked.
class Orders {
public:
    using OnJob = std::function<void(Result<uint32_t> job)>;
    using OnDone = std::function<void(Result<void>)>;
    /// By name; whether it is up, or still waits for its device.
    using Anchors = std::map<std::string, bool>;
    using OnAnchors = std::function<void(Result<Anchors>)>;

    Orders() = default;
    Orders(const Orders&) = delete;
    Orders& operator=(const Orders&) = delete;
    virtual ~Orders() = default;

    [[nodiscard]] virtual bool is_connected() const = 0;

    /// From now on its states are told, the first one at once, though it is watched already.
    virtual void watch(const std::string& unit) = 0;
    /// Takes back one watch(): the last one ends it.
    virtual void unwatch(const std::string& unit) = 0;
    /// Asks for the state of a watched unit once more.
    virtual void refresh(const std::string& unit) = 0;

    /// Mode "replace": queued behind a stop that is under way. Gives the number of the job.
    virtual void start(const std::string& unit, OnJob on_job) = 0;
    virtual void stop(const std::string& unit, OnJob on_job) = 0;
    /// on_done is called when it is up, or will not be.
    virtual void start_anchor(const Anchor& anchor, OnDone on_done) = 0;
    /// Takes an anchor away, and leaves the unit that it ties alone. on_done is called when PID 1
    /// has agreed, or has none of that name, or refuses.
    virtual void drop_anchor(const std::string& name, OnDone on_done) = 0;
    /// Takes back an anchor that waits for a device that will not come; one that is up stays.
    virtual void cancel_anchor(const std::string& name) = 0;
    /// The anchors that are there or on their way.
    virtual void list_anchors(OnAnchors on_anchors) = 0;
};

} // namespace rdmad::systemd
