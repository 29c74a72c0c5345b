// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/holders/holder.hpp"
#include "daemon/prepare/inhibitors.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

// Getting devices ready for their removal: nobody objects, what is bound to them has stopped, and
// nobody has them open. Linux has no veto against a removal: this is what can be done before one
// begins.

namespace rdmad {

/// The progress of a preparation.
struct Progress {
    enum class Stage {
        inhibited, ///< waits for inhibitors; last: refused for them
        stopping,  ///< waits for units
        in_use,    ///< waits for whoever has it open; last: refused, and units stay stopped
        safe,      ///< done
        resumed,   ///< undone by somebody else
        gone       ///< so is the device
    };
    Stage stage = Stage::safe;
    bool is_last = false;
    std::vector<Inhibitor> inhibitors = {};
    std::vector<std::string> units = {};
    std::vector<Holder> holders = {};
    std::string problem = {}; ///< its holders are not known, or a unit cannot be stopped

    friend bool operator==(const Progress&, const Progress&) = default;
};

[[nodiscard]] std::string_view to_string(Progress::Stage stage);

/// The units that run with a device that is to be removed.
struct Drained {
    std::vector<std::string> left = {}; ///< units that are not down yet
    std::string problem = {};           ///< why one will not be; empty: they will
};

/// Who uses a device that is to be removed.
struct Users {
    HolderReport processes = {};       ///< that have any RDMA device open
    std::set<std::string> kernel = {}; ///< parts of the kernel that use this one: "nvme_rdma"
};

class Preparations {
public:
    using Time = uint64_t; ///< CLOCK_BOOTTIME in microseconds

    using OnUsers = std::function<void(const Result<Users>&)>;

    /// The functions that it needs of others.
    struct Parts {
        std::function<const Device*(uint32_t index)> device; ///< null: it is gone
        /// Returns the nodes that the kernel has of a device now.
        std::function<std::set<std::string>(const Device& device)> nodes;
        /// Returns how many contexts processes have of it, those that are not found as well.
        std::function<Result<uint64_t>(const Device& device)> contexts;
        std::function<void(uint32_t index)> drain; ///< from now on nothing is started
        std::function<void(uint32_t index)> resume;
        /// Stops what runs with it, one stage after the other; returns what is not down yet.
        std::function<Drained(uint32_t index, std::map<std::string, int>& asked)> stop;
        /// Takes the kernel's targets away from the device, and looks for its users. The result
        /// comes later.
        std::function<void(uint32_t index, OnUsers)> look;
        std::function<Time()> clock;
    };
    using OnProgress = std::function<void(const Progress&)>;

    /// Waits for inhibitors as long as delay says. inhibitors must outlive it.
    Preparations(const Inhibitors& inhibitors, Time delay, Parts parts);

    /// Returns false if the device is being prepared already. Calls on_progress with each change,
    /// at last with one that is_last; not out of begin().
    [[nodiscard]] bool begin(uint32_t index, bool ignores_inhibitors, OnProgress on_progress);
    /// Undoes it, as its client is gone, if nothing has been stopped; else it goes on by itself.
    void abandon(uint32_t index);
    /// Undoes it.
    void resume(uint32_t index);
    /// Goes on; to be called whenever something may have changed.
    void advance();
    [[nodiscard]] std::optional<Time> next_deadline() const;

private:
    struct Preparation {
        OnProgress on_progress = {};
        Progress::Stage stage = Progress::Stage::inhibited;
        bool ignores_inhibitors = false;
        Time due = 0; ///< the end of patience with inhibitors, or the next look
        std::optional<Progress> told = {};
        std::map<std::string, int> asked = {}; ///< units, and how often
        int looks = 0;
        bool is_looking = false;
        uint64_t number = 0; ///< tells one from the next of the same device
    };
    using Entry = std::map<uint32_t, Preparation>::iterator;

    void advance(Entry entry);
    /// Returns true if nobody objects any more; false, too, if it has ended for that.
    [[nodiscard]] bool may_stop_units(Entry entry, const Device& device);
    [[nodiscard]] bool have_units_stopped(Entry entry);
    void look_if_due(Entry entry);
    void take_users(Entry entry, const Result<Users>& found);
    void look_again(Entry entry, Progress progress);
    static void tell(Preparation& preparation, Progress progress);
    void end(Entry entry, Progress progress);

    const Inhibitors& inhibitors_;
    Time delay_;
    Parts parts_;
    uint64_t count_ = 0;
    std::map<uint32_t, Preparation> running_;
};

} // namespace rdmad
