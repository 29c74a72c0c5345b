// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/sysfs/directory.hpp"
#include "daemon/bindings/member.hpp"
#include "daemon/inventory/inventory.hpp"
#include "daemon/lifecycle/evidence.hpp"
#include "daemon/lifecycle/history_file.hpp"

#include <functional>

namespace rdmad::lifecycle {

/// The lives of all devices: turns what the inventory, udev and time report into steps of a life,
/// and records them in /run/rdmad/devices, over restarts of rdmad, too.
class Lifecycle {
public:
    struct Events {
        std::function<void(const History&, const Change&)> on_change;
        /// Called when next_deadline() may have changed.
        std::function<void()> on_plan;
        std::function<void(const Error&)> on_trouble;
    };
    using Clock = std::function<Time()>;

    /// Reads the records of an earlier rdmad. root (/sys) must outlive it.
    Lifecycle(const sysfs::Directory& root, Histories records, Settings settings, Clock clock,
              Events events);

    /// Ends what an earlier rdmad saw and on_device() did not report; call it after on_device() has
    /// reported all. Skips unknown, which may be there: call it again for these.
    void reconcile(const std::set<uint32_t>& unknown = {});
    void on_device(const DeviceChange& change);
    /// Handles an event of a device, its node, or anything that it may hang on.
    void on_udev(const UdevEvent& event);
    void on_devlink(const nldev::DevlinkNotice& notice);
    void pass_time();
    /// Records who keeps devices from being removed. Reports them once a device is blocked. Where a
    /// look that was cut short found nobody, what was known stays.
    void on_holders(const HolderReport& report);
    /// Writes down what has changed, and what could not be written before: not before what follows
    /// from it has been done.
    void remember();
    /// Returns true if some record could not be written.
    [[nodiscard]] bool has_unwritten() const
    {
        return !unwritten_.empty();
    }
    [[nodiscard]] std::optional<Time> next_deadline() const;

    /// Returns the devices that settle and whose ports cannot be used yet: the kernel does not
    /// report when one can, so look at them each second. That ends by itself.
    [[nodiscard]] std::set<uint32_t> awaited() const;

    /// Returns the devices that the kernel is removing.
    [[nodiscard]] std::vector<const History*> removing() const;
    [[nodiscard]] bool is_removing(uint32_t index) const;

    /// Returns null if it was never seen.
    [[nodiscard]] const History* find(uint32_t index) const;
    /// The demands of a unit on a device, beyond that it is there.
    struct Wishes {
        bool ready = false;    ///< it has settled
        bool accepted = false; ///< an administrator has said yes to it, if it replaced another
    };
    /// Returns why what lives with the device may not start.
    [[nodiscard]] Obstacle obstacle(uint32_t index, const Wishes& wishes) const;
    /// Returns true if what wants the device to be ready may start.
    [[nodiscard]] bool is_ready(uint32_t index) const;
    /// Ends a hold, and forgets the returns that led to it. Returns false if no such device exists.
    bool release(uint32_t index);
    /// Accepts the device in the place of another. Returns false if there is no such device.
    bool accept(uint32_t index);
    /// Prepares its removal: nothing is started with it, until resume() or its return. Returns
    /// false if there is no such device.
    bool drain(uint32_t index);
    bool resume(uint32_t index);

private:
    [[nodiscard]] History* find_mutable(uint32_t index);
    void begin(const Device& device);
    void end_namesakes(const Device& device);
    [[nodiscard]] bool may_move() const;
    [[nodiscard]] bool is_another(const Device& device, const History& history) const;
    History* add_history(uint32_t index, const History* predecessor);
    [[nodiscard]] std::pair<History*, Kinship> ancestor_of(const Device& device);
    void update(History& history, const Device& device);
    void end(History& history);
    void end_unseen(History& history);
    void go(History& history);
    void judge(History& history);
    void look_at_hardware(History& history) const;
    [[nodiscard]] std::string hardware_of(const std::string& syspath) const;
    [[nodiscard]] static bool has_blinked(History& history, const UdevEvent& event);
    void learn(History& history, const UdevEvent& event);
    void learn(History& history, Functions::News news);
    bool order(uint32_t index, Event::Kind kind);
    void happen(History& history, const Event& event);
    void tell_holders(const History& history) const;
    void follow_index(const History& history, uint32_t before);
    [[nodiscard]] bool is_in_sysfs(const History& history) const;
    void drop_oldest();

    const sysfs::Directory& root_;
    Histories records_;
    Settings settings_;
    Clock clock_;
    Events events_;
    Functions functions_;
    std::set<uint32_t> unwritten_;
    bool is_trouble_told_ = false; ///< the journal knows that records cannot be written
    /// By a number: the index of the first appearance, or the next that is free.
    std::map<uint32_t, History> histories_;
    std::map<uint32_t, uint32_t> ids_; ///< that number, by the index of the last appearance
};

} // namespace rdmad::lifecycle
