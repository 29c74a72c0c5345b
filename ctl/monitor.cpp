// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/text.hpp"
#include "ctl/known_devices.hpp"
#include "ctl/terminal.hpp"
#include "ctl/verbs.hpp"
#include "ctl/words.hpp"

#include <csignal>
#include <unistd.h>

namespace rdmad::ctl {

namespace {

void end_silently(int /*signal*/)
{
    // every line was written whole before the next one is begun, so nothing is left to do
    _exit(exit_fine);
}

void end_on_signals()
{
    struct sigaction action {};
    action.sa_handler = end_silently;
    (void)sigaction(SIGINT, &action, nullptr);
    (void)sigaction(SIGTERM, &action, nullptr);
}

/// Returns a line on the event, with what is known of its device before.
std::string line_of(const Event& event, const KnownDevices& known)
{
    const auto* before = event.device ? known.find(event.device->index) : nullptr;
    return local_time(event.timestamp) + " " + text::escape_terminal(event_text(event, before)) +
           "\n";
}

Answer<bool> show(const Common& common, const Json& raw, KnownDevices& known)
{
    auto event = read_event(raw);
    if (!event)
        return as_told(event);
    const auto line = common.json ? to_line(raw) : line_of(*event, known);
    if (const auto missed = known.apply(*event); missed > 0)
        warn(count_of(missed, "event") + " before this one did not arrive");
    return print(line);
}

} // namespace

Answer<int> monitor(const Common& common, bool poll_ports)
{
    end_on_signals();
    auto client = connect(common);
    if (!client)
        return as_told(client);
    if (auto called = client->call_more("io.rdmad.Devices.Monitor", {{"pollPorts", poll_ports}});
        !called)
        return as_told(called);
    KnownDevices known;
    for (;;) {
        auto answer = client->next({}, STDOUT_FILENO);
        if (!answer)
            return as_told(answer);
        if (!*answer)
            return exit_fine;
        auto shown = show(common, **answer, known);
        if (!shown)
            return as_told(shown);
        if (!*shown)
            return exit_fine;
    }
}

} // namespace rdmad::ctl
