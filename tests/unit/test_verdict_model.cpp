// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/supervisor/memory_file.hpp"
#include "tests/catch.hpp"

#include <array>
#include <string>
#include <utility>

// All that can happen to a unit with one port, in any order, against a PID 1 of a few lines. What
// is to become of the unit follows from what the sequence did, not from what judge() sees.

using namespace rdmad;

namespace {

constexpr uint64_t second = 1'000'000;
constexpr size_t length = 6;

enum class Wanted {
    yes,
    no,
    unknown ///< rdmad was away, or the unit outlived its port: nobody could know
};

class World {
public:
    explicit World(bool has_port) : present_(has_port)
    {
        unit_ = {.load_state = "loaded", .active_state = "inactive", .file_state = "enabled"};
        look();
    }

    [[nodiscard]] const std::string& wrong() const
    {
        return wrong_;
    }

    // Each gives false where it cannot happen now.

    bool unplug()
    {
        if (!present_)
            return false;
        remove();
        look();
        return true;
    }
    bool plug()
    {
        if (present_)
            return false;
        appear();
        look();
        return true;
    }
    /// The port returns and goes before PID 1 has done what rdmad asks for.
    bool flap()
    {
        if (present_)
            return false;
        appear();
        is_slow_ = true;
        look();
        is_slow_ = false;
        anchor_ = 0;
        remove();
        if (is_start_late_) {
            is_start_late_ = false;
            begin(true);
            outlives_ = false;
        }
        look();
        return true;
    }
    /// The port returns, and goes and returns again before rdmad looks; PID 1 hears of that late.
    bool blink()
    {
        if (present_)
            return false;
        appear();
        is_slow_ = true;
        look();
        if (std::exchange(is_start_late_, false)) {
            anchor_ = index();
            begin(true);
        }
        const auto first = index();
        go();
        is_behind_ = true;
        appear();
        for (int looks = 0; looks < 3; looks++)
            look();
        is_slow_ = false;
        hear_of_removal(first);
        is_behind_ = false;
        look();
        return true;
    }
    bool start()
    {
        if (is_active() || is_start_queued_)
            return false;
        if (unit_.active_state == "deactivating")
            is_start_queued_ = true;
        else
            begin(false);
        look();
        return true;
    }
    /// It runs for so short a time before the unplug that rdmad sees neither until both are over.
    bool glimpse()
    {
        if (!present_ || is_active() || unit_.has_job || is_start_queued_)
            return false;
        begin(false);
        clock_ += second;
        remove();
        look();
        return true;
    }
    bool stop()
    {
        if (!is_active() && !is_start_queued_)
            return false;
        if (is_active())
            wanted_ = outlives_ ? Wanted::unknown : Wanted::no;
        end_or_cancel(is_alive_ ? Wanted::no : Wanted::unknown);
        look();
        return true;
    }
    bool fail()
    {
        if (!is_active())
            return false;
        wanted_ = outlives_ ? Wanted::unknown : Wanted::no;
        go_down("failed");
        look();
        return true;
    }
    /// The device breaks: the unit fails of it, and after a second udev knows that it went.
    bool break_down()
    {
        if (!is_active() || !present_)
            return false;
        const auto outcome = is_known_ && !outlives_ ? Wanted::yes : Wanted::unknown;
        wanted_ = outlives_ ? Wanted::unknown : Wanted::no;
        go_down("failed");
        look();
        clock_ += second;
        remove();
        wanted_ = outcome;
        look();
        return true;
    }
    /// As break_down(), but PID 1 restarts the unit once before it fails for good; and the port had
    /// gone before that.
    bool wear_down()
    {
        if (!is_active() || !present_)
            return false;
        const auto outcome = is_known_ && !outlives_ && is_seen() ? Wanted::yes : Wanted::unknown;
        const auto removed = clock_;
        clock_ += 1;
        go_down("failed");
        clock_ += second;
        begin(false);
        clock_ += second;
        wanted_ = Wanted::unknown;
        go_down("failed");
        look();
        remove();
        removed_.at(index() - 1) = removed;
        wanted_ = outcome;
        look();
        return true;
    }
    /// The unit fails of the port that goes, and PID 1 restarts it before it hears of the removal.
    bool crash()
    {
        if (!is_active() || !present_)
            return false;
        const auto outlives = outlives_;
        const bool was_seen = is_seen();
        go();
        go_down("failed");
        clock_ += second;
        begin(false);
        outlives_ = outlives;
        hear_of_removal(index());
        // of two runs that nobody saw PID 1 tells of one
        if (!was_seen)
            wanted_ = Wanted::unknown;
        look();
        return true;
    }
    /// A stop that took its time is done.
    bool finish()
    {
        if (unit_.active_state != "deactivating")
            return false;
        unit_.active_state = "inactive";
        unit_.state_change = clock_;
        unit_.has_job = false;
        if (is_start_queued_)
            begin(is_ours_);
        look();
        return true;
    }
    bool die()
    {
        if (!is_alive_)
            return false;
        is_alive_ = false;
        return true;
    }
    /// rdmad starts anew, with what it wrote down.
    bool restart()
    {
        record_ = parse_record(format_record("a.service", record_)).value();
        job_result_.clear();
        asked_for_ = 0;
        is_alive_ = true;
        if (!unit_.is_up())
            record_.memory.is_asked = false;
        look();
        return true;
    }

    void pass_time()
    {
        clock_ += 10 * second;
    }

private:
    [[nodiscard]] bool is_active() const
    {
        return unit_.active_state == "active";
    }
    void complain(const std::string& what)
    {
        if (wrong_.empty())
            wrong_ = what;
    }

    /// rdmad knows the run that the unit is in.
    [[nodiscard]] bool is_seen() const
    {
        return record_.memory.was_up && record_.memory.began == unit_.inactive_exit;
    }

    // -- the port

    void appear()
    {
        present_ = true;
        removed_.push_back(0);
    }
    [[nodiscard]] uint32_t index() const
    {
        return static_cast<uint32_t>(removed_.size());
    }
    [[nodiscard]] Member port() const
    {
        return {.binding = "50-a.binding", .index = index(), .port = 1, .guid = "a"};
    }
    /// udev notes it.
    void go()
    {
        present_ = false;
        removed_.back() = clock_;
        clock_ += 1;
    }
    void remove()
    {
        go();
        hear_of_removal(index());
    }

    // -- PID 1

    /// It stops what is tied to the port.
    void hear_of_removal(uint32_t appearance)
    {
        const bool is_tied = anchor_ == appearance;
        if (is_tied && is_active())
            wanted_ = is_known_ ? Wanted::yes : Wanted::unknown;
        else if (is_active())
            outlives_ = true;
        if (is_tied)
            end_or_cancel(is_alive_ ? Wanted::yes : Wanted::unknown);
        is_known_ = false;
    }
    void begin(bool is_ours)
    {
        unit_.active_state = "active";
        unit_.inactive_exit = unit_.state_change = clock_;
        unit_.has_job = is_start_queued_ = is_ours_ = false;
        if (is_ours && is_alive_)
            job_result_ = "done";
        wanted_ = Wanted::yes;
        outlives_ = false;
        asked_for_ = 0;
    }
    void go_down(const char* state)
    {
        unit_.active_state = state;
        unit_.active_exit = unit_.state_change = clock_;
    }
    void end_or_cancel(Wanted after_cancel)
    {
        if (is_active())
            go_down("deactivating");
        if (is_start_queued_) {
            wanted_ = is_ours_ ? after_cancel : wanted_;
            job_result_ = is_ours_ && is_alive_ ? "canceled" : job_result_;
            asked_for_ = is_ours_ ? 0 : asked_for_;
        }
        is_start_queued_ = is_ours_ = false;
        unit_.has_job = unit_.active_state == "deactivating";
    }

    // -- rdmad

    void look()
    {
        if (!is_alive_)
            return;
        judge_once();
        // and again when its anchor is up, and for what PID 1 has done
        if (present_ && !is_slow_)
            anchor_ = index();
        while (!is_slow_ && judge_once()) {
        }
        // a port that is back as the unit runs is the one that it runs with
        outlives_ = outlives_ && !(anchor_ == index() && is_active());
        is_known_ = present_;
        check();
    }
    /// Whether there was something to do.
    bool judge_once()
    {
        Group group = {.is_anchored = true};
        if (present_)
            group.present = {port()};
        if (present_)
            group.present[0].anchor = anchor_ == index() ? "up" : "";
        for (auto& member : record_.members) {
            if (present_ && member.index == index())
                group.has_kept = true;
            else
                member.removed = removed_.at(member.index - 1);
            if (member.removed)
                group.lost.push_back({member, present_});
        }
        const auto before = record_.memory;
        const Situation situation = {.unit = unit_,
                                     .groups = {group},
                                     .now = clock_,
                                     .now_monotonic = clock_,
                                     .job_result = job_result_,
                                     .is_behind = is_behind_};
        const auto verdict = judge(before, situation);
        if (!verdict.memory.is_asked)
            job_result_.clear();
        record_ = {verdict.memory,
                   members_after(record_.members, before.was_up, verdict, situation)};
        if (verdict.action == Action::start)
            ask_start();
        else if (verdict.action == Action::stop && !is_slow_)
            end_or_cancel(wanted_);
        return verdict.action != Action::none;
    }
    void ask_start()
    {
        if (!present_)
            complain("started while its port is missing");
        if (wanted_ == Wanted::no)
            complain("started though nobody wants it");
        if (asked_for_ == index())
            complain("started twice for one appearance of its port");
        if (is_active())
            complain("started while it runs");
        asked_for_ = index();
        job_result_.clear();
        if (is_slow_)
            is_start_late_ = true;
        else if (unit_.active_state == "deactivating")
            is_start_queued_ = is_ours_ = true;
        else
            begin(true);
    }
    /// After rdmad has looked.
    void check()
    {
        const bool is_coming = is_active() || is_start_queued_ || is_start_late_;
        if (wanted_ == Wanted::yes && present_ && !is_coming)
            complain("not started though an unplug stopped it, and its port is there");
        if (is_active() && !present_ && record_.memory.is_asked)
            complain("runs on though its start came as its port went");
    }

    uint64_t clock_ = 100 * second;
    bool present_;
    std::vector<uint64_t> removed_ = {0}; ///< when each appearance went

    systemd::UnitState unit_;
    bool is_start_queued_ = false; ///< behind the stop
    bool is_ours_ = false;         ///< the start that is queued
    uint32_t anchor_ = 0;          ///< the appearance that it is tied to

    bool is_alive_ = true;
    UnitRecord record_;
    std::string job_result_;

    bool is_behind_ = false;     ///< PID 1, in hearing of removals
    bool is_slow_ = false;       ///< PID 1, in doing what it is asked for
    bool is_start_late_ = false; ///< a start that it has still to do
    Wanted wanted_ = Wanted::yes;
    bool outlives_ = false; ///< the unit runs on though its port went
    bool is_known_ = false; ///< rdmad has seen this appearance
    uint32_t asked_for_ = 0;
    std::string wrong_;
};

struct Letter {
    const char* name;
    bool (World::*happen)();
};

constexpr std::array alphabet = {
    Letter{"unplug", &World::unplug},    Letter{"plug", &World::plug},
    Letter{"flap", &World::flap},        Letter{"blink", &World::blink},
    Letter{"start", &World::start},      Letter{"glimpse", &World::glimpse},
    Letter{"stop", &World::stop},        Letter{"fail", &World::fail},
    Letter{"break", &World::break_down}, Letter{"finish", &World::finish},
    Letter{"die", &World::die},          Letter{"restart", &World::restart},
    Letter{"crash", &World::crash},      Letter{"wear", &World::wear_down},
};

size_t worlds = 0;

/// Walks all sequences; gives the first that goes wrong, empty if none does.
std::string walk(const World& world, size_t left)
{
    if (!world.wrong().empty())
        return ": " + world.wrong();
    worlds++;
    if (left == 0)
        return {};
    for (const auto& letter : alphabet) {
        auto next = world;
        next.pass_time();
        if (!(next.*letter.happen)())
            continue;
        if (auto wrong = walk(next, left - 1); !wrong.empty())
            return std::string(" ") + letter.name + wrong;
    }
    return {};
}

} // namespace

TEST_CASE("in any order of events a unit follows its port, and the administrator",
          "[verdict][model]")
{
    const bool has_port = GENERATE(true, false);
    worlds = 0;
    // the shortest sequence comes first
    for (size_t i = 1; i <= length; i++) {
        INFO((has_port ? "with its port at first" : "without its port at first"));
        REQUIRE(walk(World(has_port), i) == "");
    }
    CHECK(worlds > 10000);
}
