// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/systemd/orders.hpp"
#include "tests/catch.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace rdmad::test {

/// Writes down what it is asked for, and does nothing of it by itself.
class FakePid1 final : public systemd::Orders {
public:
    bool is_there = true;
    std::vector<std::string> asked = {};              ///< "start a.service"
    std::set<std::string> kept = {};                  ///< units that have a keeper
    Anchors existing = {};                            ///< that it has
    std::map<std::string, systemd::Anchor> made = {}; ///< anchors that it was asked for
    std::map<std::string, OnDone> pending = {};       ///< those that are on their way
    Result<uint32_t> job = 17U;                       ///< what a start gives
    Result<uint32_t> stop_job = 18U;
    Result<void> drop_outcome = {};
    std::set<std::string> refused = {}; ///< units that it does not start
    bool answers_starts = true;         ///< not: it has not read them yet
    std::vector<OnJob> unanswered = {};
    bool answers_stops = true;
    std::map<std::string, int> watchers = {}; ///< of units that are watched
    std::set<std::string> changed = {};       ///< units whose last state is on its way
    std::set<std::string> refreshed = {};     ///< units that were asked for once more

    /// What was asked since the last time, but for questions.
    std::vector<std::string> take()
    {
        return std::exchange(asked, {});
    }
    /// Answers the starts that it has not answered.
    void answer_starts(const Result<uint32_t>& answer)
    {
        for (const auto& on_job : std::exchange(unanswered, {}))
            on_job(answer);
    }
    void finish(const std::string& anchor, Result<void> outcome = {})
    {
        auto on_done = pending.extract(anchor);
        REQUIRE(on_done);
        on_done.mapped()(std::move(outcome));
    }

    [[nodiscard]] bool is_connected() const override
    {
        return is_there;
    }
    void watch(const std::string& unit) override
    {
        watchers[unit]++;
    }
    void unwatch(const std::string& unit) override
    {
        REQUIRE(watchers[unit] > 0);
        if (--watchers[unit] == 0)
            watchers.erase(unit);
        asked.push_back("unwatch " + unit);
    }
    void refresh(const std::string& unit) override
    {
        refreshed.insert(unit);
    }
    [[nodiscard]] bool is_current(const std::string& unit) const override
    {
        return !changed.contains(unit);
    }
    void start(const std::string& unit, OnJob on_job) override
    {
        asked.push_back("start " + unit);
        if (answers_starts)
            on_job(refused.contains(unit) ? Result<uint32_t>(fail(EPERM, "PID 1 refuses")) : job);
        else
            unanswered.push_back(std::move(on_job));
    }
    void stop(const std::string& unit, OnJob on_job) override
    {
        asked.push_back("stop " + unit);
        if (answers_stops)
            on_job(stop_job);
    }
    void start_anchor(const systemd::Anchor& anchor, OnDone on_done) override
    {
        if (anchor.device_unit.empty()) {
            kept.insert(anchor.unit);
            pending.insert_or_assign(anchor.name, std::move(on_done));
            return;
        }
        asked.push_back("anchor " + anchor.name);
        made.insert_or_assign(anchor.name, anchor);
        pending.insert_or_assign(anchor.name, std::move(on_done));
    }
    void drop_anchor(const std::string& name, OnDone on_done) override
    {
        on_done(drop_outcome);
        if (!name.ends_with(systemd::keeper_suffix))
            asked.push_back("drop " + name);
        else
            std::erase_if(kept,
                          [&](const auto& unit) { return systemd::keeper_name(unit) == name; });
    }
    void cancel_anchor(const std::string& name) override
    {
        asked.push_back("cancel " + name);
    }
    void list_anchors(OnAnchors on_anchors) override
    {
        on_anchors(existing);
    }
};

} // namespace rdmad::test
