// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/naming/unit_name.hpp"
#include "daemon/supervisor/supervisor.hpp"
#include "tests/support/captured_sysfs.hpp"
#include "tests/support/must.hpp"
#include "tests/support/replay_transport.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <random>
#include <sstream>

// The supervisor over two ports, in any order of what happens and of who hears of it when: udev,
// PID 1 and rdmad each have a queue of what they were told and have not read yet. Once all have
// read everything, what runs follows from what happened, and from nothing that rdmad believes.
//
// rdmad dies between two steps, or before or after anything that it asks PID 1 for: wherever it is,
// what it has on disk and has asked for suffices for the next one.
//
// Where an order of rdmad's and an administrator's cross, or rdmad was dead for what counts, no
// outcome is right or wrong: Wanted::unknown.

using namespace rdmad;
using namespace rdmad::test;

namespace {

constexpr uint64_t second = 1'000'000;
constexpr char unit_name[] = "a.service";

using Queue = std::deque<std::function<void()>>;

bool run_first(Queue& queue)
{
    if (queue.empty())
        return false;
    const auto first = std::move(queue.front());
    queue.pop_front();
    first();
    return true;
}

/// PID 1 as far as it is concerned with one unit and its anchors (facts of systemd 252 to 258): a
/// stop that is handed on waits for the unit, a start waits for anchors that wait, a group goes
/// when no anchor requires it.
class Pid1 {
public:
    struct Unit {
        systemd::UnitState state = {.load_state = "loaded", .active_state = "inactive"};
        uint32_t start_job = 0; ///< queued, or running: then it is activating
    };
    struct AnchorUnit {
        systemd::Anchor anchor;
        uint32_t job = 0; ///< that waits for the device
        bool is_up = false;
        bool is_stopping = false; ///< has a job for that
        bool was_unknown = false; ///< see hears_unknown
    };
    enum class By { rdmad, dead_rdmad, administrator };
    struct Events {
        std::function<void()> on_unit;
        std::function<void(const std::string& name, uint32_t job, const std::string& result)>
            on_job;
        std::function<void()> on_begin;
        std::function<void()> on_propagated; ///< a stop of the unit, or of its start
    };

    explicit Pid1(const uint64_t& clock) : clock_(clock) {}

    Events events;
    Unit unit;
    std::map<std::string, AnchorUnit> anchors;
    std::set<std::string> groups;
    By started_by = By::administrator; ///< the run, or the start that is queued
    bool hears_unknown = false;        ///< of the end of a device that rdmad never saw

    void device(const std::string& device_unit, bool is_there)
    {
        if (is_there)
            devices_.insert(device_unit);
        else
            devices_.erase(device_unit);
        for (const auto& [name, anchor] : std::map(anchors)) {
            if (anchor.anchor.device_unit != device_unit)
                continue;
            if (is_there && anchor.job != 0)
                bring_up(name);
            else if (!is_there && anchor.is_up)
                end(name);
        }
        begin_if_free();
    }
    /// Returns the job, 0 if there is one of that name.
    uint32_t make(const systemd::Anchor& anchor)
    {
        if (anchors.contains(anchor.name))
            return 0;
        const auto job = ++last_job_;
        anchors[anchor.name] = {.anchor = anchor, .job = job};
        if (anchor.group)
            groups.insert(*anchor.group);
        return job;
    }
    /// What was made comes up at once if it can.
    void settle_anchor(const std::string& name)
    {
        const auto& anchor = anchors.at(name).anchor;
        if (anchor.device_unit.empty() || devices_.contains(anchor.device_unit))
            bring_up(name);
        begin_if_free();
    }
    void drop(const std::string& name)
    {
        groups.erase(name);
        const auto found = anchors.find(name);
        if (found == anchors.end() || found->second.is_stopping)
            return;
        take_away(name, "canceled");
        begin_if_free();
    }
    void cancel(uint32_t job)
    {
        for (const auto& [name, anchor] : std::map(anchors))
            if (anchor.job == job)
                take_away(name, "canceled");
        begin_if_free();
    }

    /// Returns the number of the job that start() is to have, or stop().
    uint32_t start_job()
    {
        return unit.start_job != 0 ? unit.start_job : new_job();
    }
    uint32_t stop_job()
    {
        return stop_job_ != 0 ? stop_job_ : new_job();
    }
    uint32_t new_job()
    {
        return ++last_job_;
    }
    void start(By by, uint32_t job)
    {
        (void)begin_stop();
        if (unit.state.active_state == "active")
            return events.on_job(unit_name, job, "done");
        if (unit.start_job == 0)
            started_by = by;
        unit.start_job = job;
        unit.state.has_job = true;
        begin_if_free();
        events.on_unit();
    }
    void stop(uint32_t job)
    {
        if (unit.start_job != 0)
            events.on_job(unit_name, std::exchange(unit.start_job, 0), "canceled");
        if (stop_job_ == 0 && unit.state.is_up())
            stop_job_ = job;
        else if (stop_job_ == 0)
            events.on_job(unit_name, job, "done");
        unit.state.has_job = stop_job_ != 0;
        events.on_unit();
    }
    /// The stop that was queued begins.
    bool begin_stop()
    {
        if (!unit.state.is_up() || stop_job_ == 0)
            return false;
        // of one that was not active yet, PID 1 keeps no time
        if (unit.state.active_state == "active")
            unit.state.active_exit = clock_;
        unit.state.active_state = "deactivating";
        unit.state.state_change = clock_;
        events.on_unit();
        return true;
    }
    /// The unit is ready.
    bool finish_start()
    {
        if (unit.state.active_state != "activating" || stop_job_ != 0)
            return false;
        unit.state.active_state = "active";
        unit.state.state_change = clock_;
        unit.state.has_job = false;
        events.on_job(unit_name, std::exchange(unit.start_job, 0), "done");
        events.on_unit();
        return true;
    }
    /// Jobs that stop anchors run, or else the unit has stopped.
    bool finish()
    {
        if (stop_grouped() || begin_stop())
            return true;
        if (unit.state.active_state != "deactivating")
            return false;
        unit.state.active_state = "inactive";
        unit.state.state_change = clock_;
        unit.state.has_job = unit.start_job != 0;
        events.on_job(unit_name, std::exchange(stop_job_, 0), "done");
        for (const auto& [name, anchor] : std::map(anchors))
            if (anchor.is_stopping)
                take_away(name, "done");
        events.on_unit();
        begin_if_free();
        return true;
    }

private:
    void bring_up(const std::string& name)
    {
        auto& anchor = anchors.at(name);
        anchor.is_up = true;
        events.on_job(name, std::exchange(anchor.job, 0), "done");
    }
    void take_away(const std::string& name, const std::string& result)
    {
        const auto anchor = anchors.extract(name).mapped();
        events.on_job(name, anchor.job != 0 ? anchor.job : ++last_job_, result);
        drop_unneeded();
    }
    /// The device of an anchor went. A group has no job before its last anchor's has run.
    void end(const std::string& name)
    {
        auto& anchor = anchors.at(name);
        anchor.is_up = false;
        anchor.is_stopping = true;
        anchor.was_unknown = hears_unknown;
        if (anchor.anchor.group)
            return;
        propagate();
        if (stop_job_ == 0)
            take_away(name, "done");
    }
    bool stop_grouped()
    {
        const auto is_due = [](const auto& entry) {
            return entry.second.is_stopping && entry.second.anchor.group;
        };
        const auto found = std::find_if(anchors.begin(), anchors.end(), is_due);
        if (found == anchors.end())
            return false;
        hears_unknown = found->second.was_unknown;
        take_away(std::string(found->first), "done");
        hears_unknown = false;
        return true;
    }
    void drop_unneeded()
    {
        for (const auto& group : std::set(groups)) {
            const auto needs = [&](const auto& entry) {
                return entry.second.anchor.group == group;
            };
            if (std::none_of(anchors.begin(), anchors.end(), needs)) {
                groups.erase(group);
                propagate();
            }
        }
    }
    void propagate()
    {
        if (unit.state.is_up() || unit.start_job != 0)
            events.on_propagated();
        stop(++last_job_);
    }
    void begin_if_free()
    {
        const auto waits = [](const auto& entry) {
            return entry.second.job != 0 && !entry.second.anchor.group;
        };
        if (unit.start_job == 0 || stop_job_ != 0 || unit.state.is_up() ||
            std::any_of(anchors.begin(), anchors.end(), waits))
            return;
        unit.state.active_state = "activating";
        unit.state.inactive_exit = unit.state.state_change = clock_;
        events.on_begin();
        events.on_unit();
    }

    const uint64_t& clock_;
    uint32_t last_job_ = 0;
    uint32_t stop_job_ = 0;
    std::set<std::string> devices_;
};

struct Death {};

/// rdmad's side of the bus, as the Manager is: one question for the state of a unit at a time.
class BusEnd final : public systemd::Orders {
public:
    struct Callbacks {
        std::function<void(const systemd::UnitState&)> on_unit;
        std::function<void(uint32_t job, const std::string& result)> on_job;
        std::function<void(const std::string&)> on_anchor_job;
        std::function<void()> on_order; ///< of a start, by rdmad
        std::function<void()> on_order_read;
        std::function<void()> on_stop_order;
        std::function<void()> on_point; ///< at which rdmad may die
    };

    BusEnd(Pid1& pid1, Queue& to_pid1, Queue& to_rdmad, Callbacks callbacks)
        : pid1_(pid1), to_pid1_(to_pid1), to_rdmad_(to_rdmad), callbacks_(std::move(callbacks))
    {
    }

    void hear_of_unit()
    {
        fetch();
    }
    void hear_of_job(const std::string& name, uint32_t job, const std::string& result)
    {
        if (name == unit_name)
            return callbacks_.on_job(job, result);
        const auto pending = pending_.find(name);
        if (pending == pending_.end())
            return callbacks_.on_anchor_job(name);
        if (pending->second.job == job)
            end_pending(name, result == "done" ? Result<void>() : fail(ECANCELED, result));
    }

    [[nodiscard]] bool is_connected() const override
    {
        return true;
    }
    void watch(const std::string& /*unit*/) override
    {
        fetch();
    }
    void unwatch(const std::string& /*unit*/) override {}
    void refresh(const std::string& /*unit*/) override
    {
        fetch();
    }
    [[nodiscard]] bool is_current(const std::string& /*unit*/) const override
    {
        return !is_asked_;
    }
    void start(const std::string& /*unit*/, OnJob on_job) override
    {
        callbacks_.on_order();
        send([this, on_job] {
            callbacks_.on_order_read();
            const auto job = pid1_.start_job();
            answer(on_job, job);
            pid1_.start(Pid1::By::rdmad, job);
        });
    }
    void stop(const std::string& /*unit*/, OnJob on_job) override
    {
        callbacks_.on_stop_order();
        send([this, on_job] {
            const auto job = pid1_.stop_job();
            answer(on_job, job);
            pid1_.stop(job);
        });
    }
    void start_anchor(const systemd::Anchor& anchor, OnDone on_done) override
    {
        pending_.insert_or_assign(anchor.name, Pending{std::move(on_done)});
        send([this, anchor] {
            const auto job = pid1_.make(anchor);
            to_rdmad_.push_back([this, name = anchor.name, job] { take_job(name, job); });
            if (job != 0)
                pid1_.settle_anchor(anchor.name);
        });
    }
    void drop_anchor(const std::string& name, OnDone /*on_done*/) override
    {
        send([this, name] { pid1_.drop(name); });
    }
    void cancel_anchor(const std::string& name) override
    {
        const auto pending = pending_.find(name);
        if (pending == pending_.end())
            return;
        pending->second.is_cancelled = true;
        if (pending->second.job != 0)
            cancel(pending->second.job);
    }
    void list_anchors(OnAnchors on_anchors) override
    {
        send([this, on_anchors] {
            to_rdmad_.push_back([this, on_anchors, anchors = pid1_.anchors, groups = pid1_.groups] {
                take_anchors(on_anchors, anchors, groups);
            });
        });
    }

private:
    struct Pending {
        OnDone on_done;
        uint32_t job = 0;
        bool is_cancelled = false;
    };

    /// rdmad may die before it, and after it.
    void send(std::function<void()> order)
    {
        callbacks_.on_point();
        to_pid1_.push_back(std::move(order));
        callbacks_.on_point();
    }
    void answer(const OnJob& on_job, uint32_t job)
    {
        to_rdmad_.push_back([on_job, job] { on_job(job); });
    }
    void fetch()
    {
        if (std::exchange(is_asked_, true)) {
            is_stale_ = true;
            return;
        }
        send([this] {
            to_rdmad_.push_back([this, state = pid1_.unit.state] {
                is_asked_ = false;
                if (std::exchange(is_stale_, false))
                    fetch();
                else
                    callbacks_.on_unit(state);
            });
        });
    }
    void cancel(uint32_t job)
    {
        send([this, job] { pid1_.cancel(job); });
    }
    void take_job(const std::string& name, uint32_t job)
    {
        const auto pending = pending_.find(name);
        if (pending == pending_.end())
            return;
        if (job == 0)
            return end_pending(name, fail(EEXIST, name));
        pending->second.job = job;
        if (pending->second.is_cancelled)
            cancel(job);
    }
    void end_pending(const std::string& name, Result<void> outcome)
    {
        const auto pending = pending_.extract(name);
        if (pending)
            pending.mapped().on_done(std::move(outcome));
    }
    void take_anchors(const OnAnchors& on_anchors,
                      const std::map<std::string, Pid1::AnchorUnit>& anchors,
                      const std::set<std::string>& groups)
    {
        Anchors known;
        for (const auto& group : groups)
            known[group] = AnchorState::up;
        for (const auto& [name, anchor] : anchors) {
            const auto state = anchor.is_stopping ? AnchorState::stopping
                               : anchor.job == 0  ? AnchorState::up
                                                  : AnchorState::starting;
            known[name] = state;
            if (state == AnchorState::up)
                pending_.erase(name);
            else if (state == AnchorState::starting)
                pending_.try_emplace(name, Pending{[this, name = name](const auto&) {
                                                       callbacks_.on_anchor_job(name);
                                                   },
                                                   anchor.job});
        }
        on_anchors(std::move(known));
    }

    Pid1& pid1_;
    Queue& to_pid1_;
    Queue& to_rdmad_;
    Callbacks callbacks_;
    std::map<std::string, Pending> pending_;
    bool is_asked_ = false;
    bool is_stale_ = false;
};

struct Slot {
    uint32_t captured; ///< index of what is in it, in the capture
    const char* name;
    uint32_t index;
    bool is_there = false;
    uint64_t noted = 0; ///< when udev noted the last removal
    uint64_t born = 0;  ///< its node

    [[nodiscard]] NodeRef node() const
    {
        const auto number = std::to_string(captured);
        return {"uverbs" + number, "/sys/devices/slot" + number + "/uverbs" + number, born};
    }
    [[nodiscard]] UdevEvent event(const std::string& action) const
    {
        return {.action = action, .subsystem = "infiniband_verbs", .node = node(), .index = index};
    }
    [[nodiscard]] UdevEvent device_event(const std::string& action) const
    {
        return {.action = action,
                .subsystem = "infiniband",
                .node = {name, std::string("/sys/devices/") + name},
                .index = index};
    }
};

class World {
public:
    explicit World(config::Require require) : require_(require)
    {
        add_captured_devices(sys_);
        for (const auto& slot : slots_)
            kernel_.remove(slot.captured);
        run_.file("etc/rdmad/binding.d/50-a.binding",
                  std::string("[Match]\nPortGUID=0011750101000001 0002c90300000a01\n[Binding]\n"
                              "Unit=a.service\nRequire=") +
                      (require == config::Require::any ? "any" : "all") + "\n");
        pid1_.events = {
            .on_unit = [this] { signal([this] { bus_->hear_of_unit(); }); },
            .on_job =
                [this](const std::string& name, uint32_t job, const std::string& result) {
                    signal([this, name, job, result] { bus_->hear_of_job(name, job, result); });
                },
            .on_begin = [this] { on_begin(); },
            .on_propagated = [this] { on_propagated(); }};
        begin();
        quiet();
    }

    [[nodiscard]] const std::string& wrong() const
    {
        return wrong_;
    }

    /// Returns false, and does nothing, where it cannot happen now.
    bool happen(bool (World::*what)())
    {
        clock_ += 10;
        const bool has_happened = (this->*what)();
        clock_ -= has_happened ? 0 : 10;
        return has_happened;
    }

    template <size_t N>
    bool unplug()
    {
        auto& slot = slots_.at(N);
        if (!slot.is_there)
            return false;
        slot.is_there = false;
        unheard_++;
        kernel_.remove(slot.index);
        udev_.push_back([this, gone = slot] { note_removal(gone); });
        udev_.push_back([this, gone = slot] { tell(gone, "remove"); });
        return true;
    }
    /// A node goes and is made anew, and its device stays: ib_uverbs is loaded anew.
    template <size_t N>
    bool blink()
    {
        auto& slot = slots_.at(N);
        if (!slot.is_there)
            return false;
        unheard_++;
        udev_.push_back([this, gone = slot] { note_removal(gone); });
        udev_.push_back([this, gone = slot] { tell(gone, "remove", false); });
        slot.born = clock_;
        udev_.push_back([this, come = slot] { tell(come, "add", false); });
        return true;
    }
    template <size_t N>
    bool plug()
    {
        auto& slot = slots_.at(N);
        if (slot.is_there)
            return false;
        slot.is_there = true;
        slot.index = ++last_index_;
        slot.born = clock_;
        kernel_.copy(slot.captured, slot.index);
        udev_.push_back([this, come = slot] { tell(come, "add"); });
        return true;
    }
    bool start()
    {
        if (pid1_.unit.state.active_state == "active" || pid1_.unit.start_job != 0)
            return false;
        pid1_.start(Pid1::By::administrator, pid1_.start_job());
        return true;
    }
    bool stop()
    {
        if (!pid1_.unit.state.is_up() && pid1_.unit.start_job == 0)
            return false;
        // of a start that never began, nothing tells an rdmad that was dead
        const auto memory = record().memory;
        const bool is_told =
            is_alive() || pid1_.unit.state.is_up() || (memory.is_known && !memory.is_wanted);
        // of a stop that rdmad has on record, it could not be told apart
        const bool is_clear = is_stop_clear() && unread_orders_ == 0 && !memory.eviction && is_told;
        wanted_ = is_clear ? Wanted::no : Wanted::unknown;
        pid1_.stop(pid1_.new_job());
        // if the device went before it, whether that stopped the unit would be for nobody to say
        (void)pid1_.begin_stop();
        return true;
    }
    /// The unit is to let go of a device, which is to be removed.
    template <size_t N>
    bool prepare()
    {
        const auto index = slots_.at(N).index;
        if (!is_alive() || prepared_ || !inventory_->devices().contains(index))
            return false;
        prepared_ = index;
        is_draining_ = true;
        stops_.clear();
        as_rdmad([&] { judge_anew(index); });
        return true;
    }
    bool resume()
    {
        if (!prepared_)
            return false;
        is_draining_ = false;
        as_rdmad([this, index = *std::exchange(prepared_, std::nullopt)] { judge_anew(index); });
        return true;
    }
    bool finish()
    {
        return pid1_.finish();
    }
    bool finish_start()
    {
        return pid1_.finish_start();
    }
    bool read_udev()
    {
        return run_first(udev_);
    }
    bool read_pid1_device()
    {
        return run_first(udev_to_pid1_);
    }
    bool read_pid1_bus()
    {
        return run_first(bus_to_pid1_);
    }
    /// Before it does anything about them, it reads all that are there.
    bool read_rdmad_udev()
    {
        if (!is_alive() || udev_to_rdmad_.empty())
            return false;
        as_rdmad([this] {
            while (run_first(udev_to_rdmad_)) {
            }
            supervisor_->settle();
        });
        return true;
    }
    /// What udev says is there before PID 1 can tell what follows from it, and is read first.
    bool read_rdmad_bus()
    {
        if (!is_alive() || bus_to_rdmad_.empty())
            return false;
        (void)happen(&World::read_rdmad_udev);
        as_rdmad([this] {
            (void)run_first(bus_to_rdmad_);
            supervisor_->settle();
        });
        return true;
    }
    /// All that PID 1 has told, before it does anything about it.
    bool read_rdmad_bus_at_once()
    {
        if (!is_alive() || bus_to_rdmad_.empty())
            return false;
        (void)happen(&World::read_rdmad_udev);
        as_rdmad([this] {
            while (run_first(bus_to_rdmad_)) {
            }
            supervisor_->settle();
        });
        return true;
    }
    /// Events were lost; what udev has now is read.
    bool overrun()
    {
        if (!is_alive() || udev_to_rdmad_.empty())
            return false;
        udev_to_rdmad_.clear();
        as_rdmad([this] {
            resync();
            supervisor_->settle();
        });
        return true;
    }
    /// The timer that rdmad has for what failed.
    bool tick()
    {
        if (!is_alive() || !supervisor_->has_failed())
            return false;
        (void)happen(&World::read_rdmad_udev);
        clock_ += second;
        as_rdmad([this] {
            supervisor_->retry();
            supervisor_->settle();
        });
        return true;
    }
    bool wait()
    {
        clock_ += 10 * second;
        return true;
    }
    bool die()
    {
        if (!is_alive())
            return false;
        supervisor_.reset();
        // who asked for a preparation has lost the connection; the device stays prepared
        is_draining_ = false;
        // what it asked for is done before the next one asks: what is on its way nobody could know
        while (run_first(bus_to_pid1_)) {
        }
        if (is_rdmads_start())
            pid1_.started_by = Pid1::By::dead_rdmad;
        known_.clear();
        for (const auto& member : record().members)
            known_.insert(member.index);
        // of a run that no record has, only what PID 1 remembers is known
        if (wanted_ == Wanted::yes && began_ != 0 && record().memory.began != began_)
            wanted_ = Wanted::unknown;
        unread_orders_ = 0;
        dead_.push_back(std::move(bus_));
        bus_to_rdmad_.clear();
        udev_to_rdmad_.clear();
        return true;
    }
    /// In the next step of rdmad, or a later one.
    template <size_t N>
    bool die_at()
    {
        if (!is_alive())
            return false;
        dies_at_ = N;
        return true;
    }
    bool restart()
    {
        if (is_alive())
            return false;
        begin();
        return true;
    }
    /// All read all that they were told: what runs is what is to run.
    bool quiet()
    {
        dies_at_ = 0;
        if (!is_alive())
            begin();
        drain();
        if (is_draining_)
            complain("is never drained");
        (void)resume();
        for (int looks = 0; looks < 4; looks++) {
            drain();
            clock_ += 10 * second;
            (void)tick();
        }
        drain();
        if (supervisor_->has_failed())
            complain("something fails for good");
        check();
        return true;
    }

private:
    enum class Wanted { yes, no, unknown };

    [[nodiscard]] bool is_alive() const
    {
        return supervisor_.has_value();
    }
    void complain(const std::string& what)
    {
        if (wrong_.empty())
            wrong_ = what;
    }
    void drain()
    {
        for (int steps = 0; steps < 10000; steps++)
            if (!happen(&World::read_udev) && !happen(&World::read_pid1_device) &&
                !happen(&World::read_pid1_bus) && !happen(&World::read_rdmad_udev) &&
                !happen(&World::read_rdmad_bus) && !happen(&World::finish_start) &&
                !happen(&World::finish))
                return;
        complain("it never comes to rest");
    }
    void signal(std::function<void()> tell)
    {
        if (is_alive())
            bus_to_rdmad_.push_back(std::move(tell));
    }
    /// A step of rdmad, in which it may die; one that is dead does nothing.
    void as_rdmad(const std::function<void()>& act)
    {
        if (!is_alive())
            return;
        try {
            act();
            advance();
        } catch (const Death&) {
            (void)die();
            return;
        }
        for (const auto& [index, device] : inventory_->devices())
            known_.insert(index);
    }

    /// As the preparation does after each report.
    void advance()
    {
        if (!is_draining_)
            return;
        is_draining_ = inventory_->devices().contains(*prepared_);
        if (!is_draining_)
            return;
        const auto drained = supervisor_->drain(*prepared_, stops_);
        is_draining_ = !drained.left.empty() && drained.problem.empty();
        const bool is_down = !pid1_.unit.state.is_up() && pid1_.unit.start_job == 0;
        // with another port it may run; one without its node PID 1 is about to stop
        const bool is_bound =
            require_ == config::Require::all && !supervisor_->units_of(*prepared_).empty();
        if (drained.left.empty() && bus_to_rdmad_.empty() && !is_down && is_bound)
            complain("runs with what counts as drained");
    }
    [[nodiscard]] Obstacle obstacle_of(uint32_t index) const
    {
        return index == prepared_ ? Obstacle{"is prepared"} : Obstacle();
    }
    void judge_anew(uint32_t index)
    {
        supervisor_->on_obstacle(index);
        supervisor_->settle();
    }

    // -- devices

    void note_removal(const Slot& slot)
    {
        slots_.at(slot.captured).noted = clock_;
        // PID 1 keeps no time of the stop of what was not active yet
        const auto& unit = pid1_.unit.state;
        if (wanted_ == Wanted::no && unit.active_state == "deactivating" &&
            unit.active_exit < unit.inactive_exit)
            wanted_ = Wanted::unknown;
        const auto directory = "bound/" + std::to_string(slot.index);
        if (!run_.exists(directory))
            return;
        const auto note = directory + "/" + slot.node().sysname + "." + std::to_string(slot.born);
        (void)std::filesystem::remove(run_.path(note));
        run_.link(note, std::to_string(clock_));
    }
    void tell(const Slot& slot, const std::string& action, bool has_device_event = true)
    {
        const bool is_there = action != "remove";
        const auto unit = naming::device_unit(slot.node().syspath);
        if (is_there)
            recorded_[slot.captured] = slot;
        else if (recorded_.contains(slot.captured) &&
                 recorded_.at(slot.captured).index == slot.index)
            recorded_.erase(slot.captured);
        udev_to_pid1_.push_back([this, unit, is_there, index = slot.index] {
            pid1_.hears_unknown = !is_there && !known_.contains(index);
            pid1_.device(unit, is_there);
            unheard_ -= is_there ? 0 : 1;
            pid1_.hears_unknown = false;
        });
        if (!is_alive())
            return;
        udev_to_rdmad_.push_back([this, slot, action, has_device_event] {
            inventory_->handle(slot.event(action));
            if (has_device_event)
                inventory_->handle(slot.device_event(action));
        });
    }

    [[nodiscard]] std::vector<UdevEvent> nodes() const
    {
        std::vector<UdevEvent> events;
        for (const auto& [captured, slot] : recorded_) {
            events.push_back(slot.event(""));
            events.push_back(slot.device_event(""));
        }
        return events;
    }

    // -- rdmad

    void resync()
    {
        if (!inventory_->resync(nodes()))
            complain("the kernel does not answer");
    }
    void begin()
    {
        client_.emplace(kernel_);
        bindings_.emplace(run_.path());
        inventory_.emplace(*client_, root_, [this](const DeviceChange& change) {
            if (supervisor_)
                supervisor_->on_device(change);
        });
        supervisor_.emplace(
            *inventory_, *bindings_, config::Facts(),
            Supervisor::Paths{run_.path("units"), run_.path("bound")},
            Supervisor::Events{
                .on_unit = [](const auto&, const auto&) {},
                .obstacle = [this](uint32_t index, const auto&) { return obstacle_of(index); },
                .is_removing = [](uint32_t) { return false; },
                .on_work = [] {}},
            [this](clockid_t) { return clock_; });
        bus_ = std::make_unique<BusEnd>(
            pid1_, bus_to_pid1_, bus_to_rdmad_,
            BusEnd::Callbacks{
                .on_unit = [this](const auto& state) { supervisor_->on_unit(unit_name, state); },
                .on_job =
                    [this](uint32_t job, const std::string& result) {
                        supervisor_->on_job(unit_name, job, result);
                    },
                .on_anchor_job =
                    [this](const std::string& name) { supervisor_->on_anchor_job(name); },
                .on_order = [this] { on_order(); },
                .on_order_read =
                    [this] {
                        unread_orders_--;
                        is_crossed_ = wanted_ != Wanted::yes;
                    },
                .on_stop_order = [this] { on_stop_order(); },
                .on_point =
                    [this] {
                        if (dies_at_ > 0 && --dies_at_ == 0)
                            throw Death();
                    }});
        as_rdmad([this] {
            resync();
            bindings_->read();
            supervisor_->on_bindings();
            supervisor_->use(bus_.get());
            supervisor_->on_connected();
            supervisor_->settle();
        });
    }

    // -- what is right

    void on_order()
    {
        unread_orders_++;
        const auto& known = supervisor_->units().at(unit_name).state;
        const bool knows = known && known->inactive_exit == began_ && !known->is_up();
        if (wanted_ == Wanted::no && knows)
            complain("is started though an administrator stopped it");
        if (require_ == config::Require::all && prepared_ &&
            inventory_->devices().contains(*prepared_))
            complain("is started though its port is to go");
    }
    void on_stop_order()
    {
        // PID 1 keeps no time of the stop of what was not active yet
        const auto& unit = pid1_.unit.state;
        if (wanted_ == Wanted::no && unit.active_state == "deactivating" &&
            unit.active_exit < unit.inactive_exit)
            wanted_ = Wanted::unknown;
    }
    void on_begin()
    {
        wanted_ = Wanted::yes;
        began_ = clock_;
        is_rdmads_ = is_rdmads_start();
        // by then a stop may be on its way that no record tells of
        const bool is_stop_queued =
            std::any_of(pid1_.anchors.begin(), pid1_.anchors.end(),
                        [](const auto& entry) { return entry.second.is_stopping; });
        began_behind_ = unheard_ > 0 || is_stop_queued || !udev_to_rdmad_.empty();
        is_crossed_ = false;
    }
    /// Returns true if rdmad knows of the run that an administrator began.
    [[nodiscard]] bool is_run_seen() const
    {
        return record().memory.began == began_;
    }
    [[nodiscard]] UnitRecord record() const
    {
        const auto path = std::string("units/") + unit_name;
        return run_.exists(path) ? must(parse_record(run_.read(path))) : UnitRecord();
    }
    [[nodiscard]] bool is_rdmads_start() const
    {
        return pid1_.started_by == Pid1::By::rdmad;
    }
    void on_propagated()
    {
        for (const auto& [name, anchor] : pid1_.anchors)
            if (anchor.anchor.group && anchor.is_up)
                complain("stopped though a port is there that it is tied to");
        // of an administrator's start that was queued behind a stop, and cancelled, nothing tells
        if (!pid1_.unit.state.is_up() && !is_rdmads_start()) {
            if (wanted_ == Wanted::no)
                wanted_ = Wanted::unknown;
            return;
        }
        const bool is_known = is_rdmads_start() ? !is_crossed_ : is_run_seen() && !began_behind_;
        wanted_ = is_known && !pid1_.hears_unknown ? Wanted::yes : Wanted::unknown;
    }
    /// No port went, so that rdmad can take the stop for nothing but an administrator's.
    [[nodiscard]] bool is_stop_clear() const
    {
        return unheard_ == 0 && !began_behind_ &&
               std::all_of(slots_.begin(), slots_.end(),
                           [&](const Slot& slot) { return slot.noted + 6 * second < began_; });
    }
    [[nodiscard]] bool is_satisfied() const
    {
        const auto is_there = [](const Slot& slot) { return slot.is_there; };
        return require_ == config::Require::any
                   ? std::any_of(slots_.begin(), slots_.end(), is_there)
                   : std::all_of(slots_.begin(), slots_.end(), is_there);
    }
    void check()
    {
        const bool is_active = pid1_.unit.state.active_state == "active";
        if (wanted_ == Wanted::yes && is_satisfied() && !is_active)
            complain("does not run, though its ports are there and nobody stopped it: " +
                     supervisor_->units().at(unit_name).reason);
        if (wanted_ == Wanted::no && is_active)
            complain("runs though an administrator stopped it");
        if (record().memory.eviction)
            complain("is to be stopped for ever");
        if (is_active && is_rdmads_ && !is_satisfied())
            complain("was started by rdmad and runs without its ports");
        std::set<uint32_t> there;
        for (const auto& slot : slots_)
            if (slot.is_there)
                there.insert(slot.index);
        std::set<uint32_t> tied;
        for (const auto& [name, anchor] : pid1_.anchors) {
            const auto parts = systemd::parse_anchor_name(name);
            if (!parts)
                continue;
            const auto index = parts->node.index;
            if (!there.contains(index) || !tied.insert(index).second)
                complain("a leftover: " + name);
            if (!anchor.is_up)
                complain("never comes up: " + name);
        }
        if (tied != there)
            complain("is not tied to a port that is there");
    }

    config::Require require_;
    uint64_t clock_ = 100 * second;
    FixtureTree sys_{FixtureTree::Place::memory};
    FixtureTree run_{FixtureTree::Place::memory};
    CapturedKernel kernel_{"7.2"};
    std::optional<nldev::Client> client_;
    sysfs::Directory root_ = sys_.root();
    std::array<Slot, 2> slots_ = {Slot{0, "mixed", 0}, Slot{1, "opa", 1}};
    uint32_t last_index_ = 10;
    std::map<uint32_t, Slot> recorded_; ///< what udev's database has

    Queue udev_; ///< events of the kernel
    Queue udev_to_pid1_;
    Queue udev_to_rdmad_;
    Queue bus_to_pid1_;
    Queue bus_to_rdmad_;

    Pid1 pid1_{clock_};
    std::optional<Bindings> bindings_;
    std::optional<Inventory> inventory_;
    std::unique_ptr<BusEnd> bus_;
    std::vector<std::unique_ptr<BusEnd>> dead_;
    std::optional<Supervisor> supervisor_;

    Wanted wanted_ = Wanted::yes;
    uint64_t began_ = 0;
    bool is_rdmads_ = false;
    std::set<uint32_t> known_;  ///< appearances that rdmad saw
    bool is_crossed_ = false;   ///< a start that rdmad asked for, by an administrator's stop
    int unread_orders_ = 0;     ///< starts that PID 1 has yet to read of
    int unheard_ = 0;           ///< removals that PID 1 has not heard of
    bool began_behind_ = false; ///< the run, before PID 1 or rdmad was done with one
    size_t dies_at_ = 0;        ///< so many points from now; 0: it does not
    std::optional<uint32_t> prepared_ = {}; ///< index of the device that is to be removed
    bool is_draining_ = false;              ///< somebody waits until it can be
    std::map<std::string, int> stops_;
    std::string wrong_;
};

struct Letter {
    const char* name;
    bool (World::*happen)();
};

constexpr std::array alphabet = {
    Letter{"unplug-0", &World::unplug<0>},
    Letter{"unplug-1", &World::unplug<1>},
    Letter{"plug-0", &World::plug<0>},
    Letter{"plug-1", &World::plug<1>},
    Letter{"start", &World::start},
    Letter{"stop", &World::stop},
    Letter{"finish", &World::finish},
    Letter{"started", &World::finish_start},
    Letter{"udev", &World::read_udev},
    Letter{"udev", &World::read_udev},
    Letter{"pid1-udev", &World::read_pid1_device},
    Letter{"pid1-udev", &World::read_pid1_device},
    Letter{"pid1-bus", &World::read_pid1_bus},
    Letter{"pid1-bus", &World::read_pid1_bus},
    Letter{"pid1-bus", &World::read_pid1_bus},
    Letter{"rdmad-udev", &World::read_rdmad_udev},
    Letter{"rdmad-udev", &World::read_rdmad_udev},
    Letter{"rdmad-bus", &World::read_rdmad_bus},
    Letter{"rdmad-bus", &World::read_rdmad_bus},
    Letter{"rdmad-bus", &World::read_rdmad_bus},
    Letter{"overrun", &World::overrun},
    Letter{"tick", &World::tick},
    Letter{"wait", &World::wait},
    Letter{"quiet", &World::quiet},
    Letter{"die", &World::die},
    Letter{"die-at-1", &World::die_at<1>},
    Letter{"die-at-2", &World::die_at<2>},
    Letter{"die-at-3", &World::die_at<3>},
    Letter{"die-at-6", &World::die_at<6>},
    Letter{"restart", &World::restart},
    Letter{"blink-0", &World::blink<0>},
    Letter{"blink-1", &World::blink<1>},
    Letter{"prepare-0", &World::prepare<0>},
    Letter{"prepare-1", &World::prepare<1>},
    Letter{"resume", &World::resume},
    Letter{"rdmad-bus-at-once", &World::read_rdmad_bus_at_once},
};
using Word = std::vector<size_t>;

/// Returns what goes wrong, and cuts the word there; empty: nothing.
std::string play(config::Require require, Word& word)
{
    World world(require);
    Word played;
    for (const auto letter : word) {
        if (!world.happen(alphabet.at(letter).happen))
            continue;
        played.push_back(letter);
        if (!world.wrong().empty())
            break;
    }
    if (world.wrong().empty())
        (void)world.quiet();
    word = std::move(played);
    return world.wrong();
}

/// Leaves out what is not needed for it to go wrong.
std::string shorten(config::Require require, Word word)
{
    std::string wrong = play(require, word);
    for (size_t size = word.size() / 2; size >= 1; size /= 2)
        for (size_t at = 0; at + size <= word.size();) {
            auto shorter = word;
            const auto first = shorter.begin() + static_cast<std::ptrdiff_t>(at);
            shorter.erase(first, first + static_cast<std::ptrdiff_t>(size));
            if (auto outcome = play(require, shorter); !outcome.empty()) {
                word = std::move(shorter);
                wrong = std::move(outcome);
            } else {
                at++;
            }
        }
    std::string text;
    for (const auto letter : word)
        text += std::string(alphabet.at(letter).name) + " ";
    return text + ": " + wrong;
}

Word spell(const std::string& text)
{
    Word word;
    std::istringstream names(text);
    for (std::string name; names >> name;) {
        const auto letter = std::find_if(alphabet.begin(), alphabet.end(),
                                         [&](const Letter& known) { return known.name == name; });
        REQUIRE(letter != alphabet.end());
        word.push_back(static_cast<size_t>(letter - alphabet.begin()));
    }
    return word;
}

size_t setting(const char* name, size_t otherwise)
{
    const char* text = std::getenv(name);
    return text ? std::strtoul(text, nullptr, 10) : otherwise;
}

} // namespace

TEST_CASE("whoever hears of it when, a unit follows its two ports, and the administrator",
          "[supervisor][model]")
{
    const auto require = GENERATE(config::Require::all, config::Require::any);
    const auto first = setting("RDMAD_MODEL_SEED", 1);
    const auto runs = setting("RDMAD_MODEL_RUNS", 300);
    for (auto seed = first; seed < first + runs; seed++) {
        std::mt19937_64 random(seed);
        Word word(80);
        for (auto& letter : word)
            letter = random() % alphabet.size();
        auto played = word;
        const auto wrong = play(require, played);
        if (wrong.empty())
            continue;
        INFO((require == config::Require::any ? "Require=any" : "Require=all"));
        INFO("RDMAD_MODEL_SEED=" << seed);
        FAIL(shorten(require, word));
    }
}

TEST_CASE("what went wrong once goes well", "[supervisor][words]")
{
    using config::Require;
    struct Case {
        Require require;
        const char* word;
    };
    const auto [require, text] = GENERATE(
        // an anchor that PID 1 makes after its node went stands on the one that came after
        Case{Require::all, "plug-1 udev overrun unplug-1 plug-1"},
        Case{Require::any, "plug-1 udev overrun unplug-1 plug-1"},
        Case{Require::all, "plug-1 die udev restart pid1-bus pid1-bus unplug-1 plug-1 rdmad-bus "
                           "rdmad-bus"},
        // a stop that PID 1 has yet to read, and so the start before it
        Case{Require::any, "plug-1 udev overrun prepare-1 resume"},
        // a start of rdmad's waits behind the stop of an administrator's run
        Case{Require::all, "plug-0 udev plug-1 start rdmad-bus unplug-0 udev rdmad-bus pid1-bus"},
        // a port that came after the start was asked for kept no unit up
        Case{Require::any, "plug-0 quiet unplug-0 udev stop rdmad-bus plug-0 pid1-bus finish "
                           "rdmad-bus pid1-bus"},
        // what went long ago did not stop what was started with another port
        Case{Require::any, "plug-1 quiet unplug-1 quiet plug-0 start udev stop rdmad-udev "
                           "unplug-0 start quiet plug-0"},
        // rdmad starts anew while PID 1 has yet to hear of a removal
        Case{Require::any, "start quiet plug-1 udev rdmad-udev unplug-1 die restart pid1-bus "
                           "rdmad-bus pid1-bus pid1-bus plug-0"},
        // a stop of what is being started is on record, and rdmad ends before it requests it
        Case{Require::any, "plug-0 quiet stop quiet start rdmad-bus pid1-bus prepare-0 "
                           "rdmad-bus-at-once die-at-1 pid1-bus rdmad-bus-at-once"},
        // rdmad starts anew while PID 1 has the stop of the unit in its queue
        Case{Require::all, "plug-0 plug-1 quiet unplug-0 die plug-0"},
        Case{Require::any, "plug-0 quiet plug-1 unplug-0 die"},
        // and before that stop is in its queue, which is after the anchor's
        Case{Require::any, "start quiet plug-0 plug-1 udev udev die-at-3 rdmad-udev restart "
                           "unplug-0"},
        // an anchor of a node that went long ago comes up on the next one before it is cancelled
        Case{Require::all, "plug-1 udev start rdmad-bus die-at-2 unplug-1 udev udev pid1-udev "
                           "pid1-udev rdmad-bus restart pid1-bus pid1-bus plug-1"},
        // a node is made anew, and with it ends an anchor that is in no record
        Case{Require::all, "start quiet plug-0 plug-1 udev udev rdmad-udev pid1-udev pid1-udev die "
                           "blink-0 udev udev udev pid1-udev restart"},
        // what ran with the node of before is not started before it is tied to that of now
        Case{Require::any, "die-at-2 plug-0 udev rdmad-udev start blink-0"},
        Case{Require::all, "start plug-1 quiet plug-0 blink-0 die-at-2 udev rdmad-udev"},
        // PID 1 has yet to hear of it when rdmad looks at the anchors
        Case{Require::all, "plug-0 plug-1 quiet blink-0 udev udev udev rdmad-udev pid1-bus "
                           "rdmad-bus tick pid1-bus rdmad-bus pid1-bus rdmad-bus"},
        Case{Require::any, "plug-0 quiet blink-0 udev udev udev overrun"},
        Case{Require::all, "plug-0 plug-1 quiet blink-0 udev udev udev overrun"},
        // rdmad starts anew before udev has noted that the ports of what somebody stopped went
        Case{Require::all, "plug-0 plug-1 quiet die-at-2 stop rdmad-bus unplug-0 plug-0 unplug-1 "
                           "restart pid1-bus rdmad-bus pid1-bus plug-1 pid1-bus rdmad-bus "
                           "rdmad-bus"},
        // a start is stopped as its port goes, while another is tied
        Case{Require::any, "plug-0 udev rdmad-udev pid1-bus unplug-0 pid1-bus plug-0"},
        // a port blinks before PID 1 hears of it
        Case{Require::all, "plug-0 start quiet unplug-0 plug-0 plug-1"},
        Case{Require::any, "plug-0 quiet unplug-0 plug-0"});
    INFO(text);
    auto word = spell(text);
    CHECK(play(require, word) == "");
}
