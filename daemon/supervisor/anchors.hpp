// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/bindings/bindings.hpp"
#include "daemon/inventory/inventory.hpp"
#include "daemon/supervisor/departures.hpp"
#include "daemon/systemd/orders.hpp"

#include <map>
#include <set>

namespace rdmad {

/// The anchors that tie units to nodes in PID 1 (systemd::Anchor): makes those that are wanted, and
/// drops the others. They outlive rdmad: it asks PID 1 once for those that exist.
class Anchors {
public:
    enum class State { starting, up, failed };
    struct Events {
        /// Called when the unit's anchors have changed.
        std::function<void(const std::string& unit)> on_changed;
        /// Called when PID 1 has listed its anchors: every unit is to be tied anew.
        std::function<void(const systemd::Orders::Anchors&)> on_known;
        /// Called when has_failed() is true.
        std::function<void()> on_failed;
        /// Called after PID 1 stopped the unit, and then all its anchors whose nodes went.
        std::function<void(const std::string& unit)> on_ended;
    };

    Anchors(const Inventory& inventory, const Bindings& bindings, Departures& departures,
            Events events)
        : inventory_(inventory),
          bindings_(bindings),
          departures_(departures),
          events_(std::move(events))
    {
    }

    void use(systemd::Orders* manager)
    {
        manager_ = manager;
    }
    /// Asks PID 1 for its anchors. Nothing may be tied before the reply.
    void ask();
    [[nodiscard]] bool is_known() const
    {
        return is_known_;
    }
    /// Returns true if an anchor or keeper failed, was stopped, or ended its start: retry() asks.
    [[nodiscard]] bool has_failed() const
    {
        return is_look_due_ || is_refused_;
    }
    void retry();
    /// Lets the next retry() ask PID 1 again for its anchors.
    void doubt()
    {
        note_failure();
    }

    /// Ties the unit to these and to nothing else.
    void tie(const std::string& unit, const std::vector<Member>& members);
    /// Handles the end of a job of the anchor that this class did not request.
    void on_job(const std::string& anchor);
    /// Forgets the anchors whose nodes went, and expects PID 1 to end them.
    void forget_gone(const std::string& unit);
    /// Records that PID 1 has yet to stop an anchor whose node went.
    void expect_end(const std::string& unit, const std::string& anchor, const std::string& syspath);
    /// Returns true if PID 1 has yet to stop an anchor of a node that went, and the unit with it.
    [[nodiscard]] bool is_ending(const std::string& unit) const
    {
        return ending_.contains(unit);
    }
    /// Drops the anchors of a unit that is not bound any more, and keeps running.
    void release(const std::string& unit);
    /// Drops the anchors that PID 1 had, and that no tie() has claimed since.
    void drop_foreign();

    [[nodiscard]] std::string name(const std::string& unit, const Member& member) const;
    /// Returns how many units have an anchor.
    [[nodiscard]] size_t tied_count() const;
    /// Returns failed if there is none.
    [[nodiscard]] State state(const std::string& unit, const Member& member) const;

private:
    struct Entry {
        State state = State::starting;
        NodeId node = {};
        std::string syspath = {};
        std::optional<std::string> group = {};
        bool has_ended = false; ///< PID 1 knows that the node went, and rdmad does not yet
    };
    struct Tied {
        std::map<std::string, Entry> anchors = {}; ///< by name
        bool is_kept = false;                      ///< PID 1 was asked to remember when it stops
    };

    [[nodiscard]] systemd::Anchor anchor_of(const std::string& unit, const Member& member) const;
    void note_failure();
    void note_refusal();
    void note_success(const std::string& anchor);
    void drop(const std::string& name);
    void take_known(const systemd::Orders::Anchors& existing);
    void keep(const std::string& unit, Tied& tied);
    void make(const std::string& unit, Tied& tied, const systemd::Anchor& anchor,
              const Member& member);
    void take_outcome(const std::string& unit, const std::string& anchor, const Member& member,
                      const Result<void>& outcome);
    void untie(const std::string& unit, Tied& tied, const std::set<std::string>& wanted);
    bool end(const std::string& anchor);
    [[nodiscard]] bool waits_for_first(const std::string& group) const;
    [[nodiscard]] bool is_elsewhere(const std::string& anchor, const std::string& node) const;

    const Inventory& inventory_;
    const Bindings& bindings_;
    Departures& departures_;
    Events events_;
    systemd::Orders* manager_ = nullptr;
    bool is_known_ = false;
    bool is_look_due_ = false;     ///< PID 1 may have other anchors than rdmad knows of
    bool is_refused_ = false;      ///< PID 1 refused something
    bool is_refusal_told_ = false; ///< the journal knows that PID 1 does not list its anchors
    unsigned pause_ = 1;           ///< calls of retry() that make one try after a refusal
    unsigned skipped_ = 0;         ///< of those
    bool is_unnoted_ = false;      ///< the journal knows that some removal will not be noted
    std::map<std::string, Tied> units_;
    /// By unit, and by name of an anchor: the sysfs path of the node that went.
    std::map<std::string, std::map<std::string, std::string>> ending_;
    std::set<std::string> outlived_;     ///< anchors that were there at the last look, and no node
    std::set<std::string> told_;         ///< anchors that could not be made, which was logged
    systemd::Orders::Anchors unclaimed_; ///< what PID 1 has, and nobody wanted yet
};

} // namespace rdmad
