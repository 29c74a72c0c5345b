// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/bindings/bindings.hpp"
#include "daemon/clock.hpp"
#include "daemon/inventory/inventory.hpp"
#include "daemon/prepare/preparations.hpp"
#include "daemon/supervisor/anchors.hpp"
#include "daemon/supervisor/memory_file.hpp"

#include <map>
#include <set>
#include <tuple>

namespace rdmad {

/// A job that rdmad requested from PID 1.
struct OrderedJob {
    bool is_sent = false; ///< and PID 1 has not replied
    std::optional<uint32_t> number = {};

    /// Returns true until PID 1 has finished it.
    [[nodiscard]] bool is_coming() const
    {
        return is_sent || number;
    }
};

/// A unit that some file binds.
struct BoundUnit {
    /// Binding, index and number of the port.
    using Key = std::tuple<std::string, uint32_t, uint32_t>;

    std::set<std::string> bindings = {}; ///< names of the files
    std::map<Key, Member> present = {};
    /// Its name contains an old name of its device: it is stopped.
    bool is_misnamed = false;
    /// A node that it was tied to went, and PID 1 has yet to say what became of the unit.
    bool is_behind = false;
    UnitRecord record = {};
    bool is_unwritten = false;                    ///< the file has an older one
    std::optional<systemd::UnitState> state = {}; ///< nullopt: PID 1 has not reported it yet
    std::string reason = "systemd has not answered yet";
    OrderedJob start = {};
    OrderedJob stop = {};
    std::string stop_problem = {};  ///< why a stop that rdmad requested came to nothing
    std::string coming_result = {}; ///< of the start: it counts with the next state
    std::string job_result = {};
    bool is_coming = true;      ///< see Verdict; not judged yet, it may
    bool is_left_alone = false; ///< see Verdict
};

/// Ties units to the ports that files bind them to: an anchor in PID 1 for each pair, so that PID 1
/// stops the unit with the port, and a start when what the unit needs is there again.
class Supervisor {
public:
    struct Paths {
        std::string units = "/run/rdmad/units";
        std::string removals = "/run/rdmad/bound";
    };
    struct Events {
        std::function<void(const std::string& unit, const BoundUnit&)> on_unit;
        /// Returns why what lives with a device may not start now.
        std::function<Obstacle(uint32_t index, const config::BindingFile& file)> obstacle;
        /// Returns true if the kernel is still removing the device: somebody may have it open.
        std::function<bool(uint32_t index)> is_removing;
        /// Requests a settle() before the loop sleeps.
        std::function<void()> on_work;
    };

    Supervisor(const Inventory& inventory, const Bindings& bindings, config::Facts host,
               Paths paths, Events events, Clock clock = now_usec);

    /// Takes a manager, which must outlive the supervisor; without one nothing is done.
    void use(systemd::Orders* manager);

    void on_device(const DeviceChange& change);
    /// Handles another result of Events::obstacle.
    void on_obstacle(uint32_t index);
    /// Binds units anew after the files were read.
    void on_bindings();
    void on_connected();
    void on_unit(const std::string& unit, const systemd::UnitState& state);
    void on_job(const std::string& unit, uint32_t job, const std::string& result);
    /// Handles the end of some job of an anchor.
    void on_anchor_job(const std::string& anchor)
    {
        anchors_.on_job(anchor);
    }

    /// Stops units that keep a device from being removed, if their files say so.
    void on_blocked(uint32_t index, const std::set<std::string>& holders);
    /// Stops the units that run with a device, one stage after the other. Returns those that are
    /// not down yet. Call it again when a unit has changed. asked: how often each stop was
    /// requested, at first empty.
    [[nodiscard]] Drained drain(uint32_t index, std::map<std::string, int>& asked);

    /// Judges what has changed.
    void settle();

    [[nodiscard]] const std::map<std::string, BoundUnit>& units() const
    {
        return units_;
    }
    using UnitsByPort = std::map<uint32_t, std::set<std::string>>;
    /// Returns the units that are bound to a device.
    [[nodiscard]] UnitsByPort units_of(uint32_t index) const;
    /// Returns the devices for whose ports some unit waits to become active.
    [[nodiscard]] std::set<uint32_t> awaited() const;
    /// Returns how many units are tied to a device, as they still are when rdmad has ended.
    [[nodiscard]] size_t tied_count() const
    {
        return anchors_.tied_count();
    }
    /// Returns true if some anchor could not be made: retry() tries again.
    [[nodiscard]] bool has_failed() const
    {
        return anchors_.has_failed();
    }
    void retry()
    {
        anchors_.retry();
    }
    /// Returns true if the record of some unit could not be written.
    [[nodiscard]] bool has_unwritten() const;
    /// Writes these records.
    void write_again();

private:
    using Claims = std::map<uint32_t, std::vector<Claim>>; ///< by index

    [[nodiscard]] bool is_connected() const
    {
        return manager_ && manager_->is_connected();
    }
    void claim(uint32_t index, std::vector<Claim> claims, bool is_renamed);
    void release(const std::string& unit, const std::string& binding, bool is_renamed);
    BoundUnit& bind(const std::string& unit, const std::string& binding);
    [[nodiscard]] UnitRecord read_record(const std::string& unit) const;
    void prune(const std::string& unit);
    void bind_fixed_units();
    void bind_remembered_instances();
    static void forget_asked(BoundUnit& unit);
    void mark(const std::string& unit);
    void on_anchors(const systemd::Orders::Anchors& existing);
    [[nodiscard]] bool is_unknown(const Member& member) const;
    void add_unused(const std::string& name, BoundUnit& unit, Member member);
    [[nodiscard]] bool is_there(const Member& member) const;
    void note_departures(const std::string& name, BoundUnit& unit);
    void expect_end(const std::string& name, BoundUnit& unit);
    void tie(const std::string& name, BoundUnit& unit);

    [[nodiscard]] std::vector<std::string> in_order(const std::set<std::string>& units) const;
    [[nodiscard]] config::Stage stage_of(const BoundUnit& unit) const;
    [[nodiscard]] Obstacle earlier_stage(uint32_t index, config::Stage stage) const;
    void wake_later_stages(const BoundUnit& unit);
    [[nodiscard]] bool is_current(const std::string& name, const BoundUnit& unit) const;
    [[nodiscard]] bool is_drained(const std::string& name, const BoundUnit& unit, uint32_t index,
                                  bool was_asked) const;
    bool stop_for(const std::string& name, BoundUnit& unit, uint32_t index, uint64_t time,
                  int& asked);
    void on_no_stop(const std::string& name, const Error& error);
    void spare(const std::string& name, BoundUnit& unit, const std::string& why);
    void evict(const std::string& name, BoundUnit& unit, const Member& from, uint64_t time);
    void request_stop(const std::string& name, BoundUnit& unit);
    void stop_misnamed(const std::set<std::string>& names);
    void judge_unit(const std::string& name, BoundUnit& unit);
    [[nodiscard]] std::vector<Group> groups_of(const std::string& name,
                                               const BoundUnit& unit) const;
    [[nodiscard]] Group group_of(const std::string& name, const BoundUnit& unit,
                                 const config::BindingFile& file) const;
    void remember(const std::string& name, BoundUnit& unit, UnitRecord record);
    void act(const std::string& name, BoundUnit& unit, Action action);
    void tell(const std::string& name, const BoundUnit& unit, const Memory& before) const;
    void sweep_departures();

    const Inventory& inventory_;
    const Bindings& bindings_;
    config::Facts host_;
    UnitRecords records_;
    Departures departures_;
    Anchors anchors_;
    Events events_;
    Clock clock_;
    systemd::Orders* manager_ = nullptr;
    std::set<uint32_t> sweep_due_; ///< devices of which notes may be needed no more
    Claims claims_;
    std::map<std::string, BoundUnit> units_;
    std::set<std::string> dirty_;
};

} // namespace rdmad
