// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/known_devices.hpp"
#include "ctl/terminal.hpp"
#include "ctl/verbs.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <thread>
#include <utility>

namespace rdmad::ctl {

namespace {

constexpr std::array goal_words = {"active", "ready", "present", "absent"};
// a year: more would overflow sooner or later
constexpr double longest = 366.0 * 86400;
constexpr auto pause = std::chrono::milliseconds(200);
// so many times an rdmad may hang up before it says anything, as it may when it ends
constexpr int max_mute = 3;

Answer<Deadline> deadline_of(double timeout)
{
    if (!std::isfinite(timeout) || timeout < 0 || timeout > longest)
        return complaint(Complaint::Kind::usage,
                         "--timeout takes seconds, up to 366 days; 0 waits without limit");
    if (timeout == 0)
        return Deadline();
    return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                  std::chrono::duration<double>(timeout));
}

Answer<std::vector<Target>> targets_of(const std::vector<std::string>& words)
{
    std::vector<Target> targets;
    for (const auto& word : words) {
        auto target = parse_target(word);
        if (!target)
            return as_told(target);
        targets.push_back(std::move(*target));
    }
    return targets;
}

/// Returns the first that is not as it should be, or that all are.
Look look_at_all(const std::vector<Target>& targets, WaitGoal goal, const KnownDevices& known)
{
    for (const auto& target : targets)
        if (auto look = look_at(target, goal, known.all()); !look.holds)
            return look;
    return {.holds = true};
}

Answer<int> end(const Common& common, WaitGoal goal, const Look& look)
{
    const int exit_code = look.holds ? exit_fine : exit_failed;
    if (!common.json)
        return exit_code;
    Json json = {{"for", goal_words[static_cast<size_t>(goal)]}, {"holds", look.holds}};
    json["seen"] = look.holds ? Json() : Json(look.seen);
    return finish(to_line(json), exit_code);
}

Answer<Client> ask(const Common& common, WaitGoal goal, Deadline deadline)
{
    auto client = Client::connect(common.socket, deadline);
    if (!client)
        return client;
    // to look at ports costs rdmad something, and only these goals are about them
    const Json parameters = {{"pollPorts", goal == WaitGoal::active || goal == WaitGoal::ready}};
    if (auto called = client->call_more("io.rdmad.Devices.Monitor", parameters, deadline); !called)
        return as_told(called);
    return client;
}

/// What was seen so far; it outlives a connection to rdmad.
struct Seen {
    Look look = {};
    bool is_noted = false; ///< what is not there was reported: the name may be mistyped
};

void note_missing(const std::vector<Target>& targets, const KnownDevices& known)
{
    for (const auto& target : targets)
        if (const auto note = note_of_missing(target, known.all()); !note.empty())
            warn(note);
}

/// Follows events until all is as it should be, or fails.
Answer<void> follow(Client& client, const std::vector<Target>& targets, WaitGoal goal,
                    Deadline deadline, Seen& seen)
{
    KnownDevices known;
    while (!seen.look.holds) {
        auto answer = client.next(deadline);
        if (!answer)
            return as_told(answer);
        auto event = read_event(**answer);
        if (!event)
            return as_told(event);
        (void)known.apply(*event);
        if (!std::exchange(seen.is_noted, true))
            note_missing(targets, known);
        seen.look = look_at_all(targets, goal, known);
    }
    return {};
}

} // namespace

Answer<int> wait(const Common& common, const WaitOptions& options)
{
    const auto targets = targets_of(options.targets);
    if (!targets)
        return tl::unexpected<Complaint>(targets.error());
    auto deadline = deadline_of(options.timeout);
    if (!deadline)
        return as_told(deadline);
    Seen seen;
    const auto& look = seen.look;
    for (int mute = 0;;) {
        auto client = ask(common, options.goal, *deadline);
        if (!client)
            return as_told(client);
        auto outcome = follow(*client, *targets, options.goal, *deadline, seen);
        if (outcome)
            return end(common, options.goal, look);
        const auto kind = outcome.error().kind;
        const bool has_heard = !look.seen.empty();
        if (kind == Complaint::Kind::late && has_heard) {
            warn(fmt::format("waited {} s: {}", options.timeout, look.seen));
            return end(common, options.goal, look);
        }
        // an rdmad that was started anew, as for another version, gets the request again
        if (kind != Complaint::Kind::hung_up || (!has_heard && ++mute == max_mute))
            return as_told(outcome);
        std::this_thread::sleep_for(pause);
    }
}

} // namespace rdmad::ctl
