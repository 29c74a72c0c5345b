// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/text.hpp"
#include "core/base/unique_fd.hpp"
#include "ctl/command.hpp"
#include "ctl/terminal.hpp"
#include "ctl/verbs.hpp"
#include "ctl/words.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rdmad::ctl {

namespace {

Answer<int> tell(Client& client, const Common& common)
{
    auto answer = client.call("io.rdmad.Lifecycle.ListInhibitors", Json::object());
    if (!answer)
        return as_told(answer);
    const auto inhibitors = read_inhibitors(*answer);
    if (!inhibitors)
        return tl::unexpected<Complaint>(inhibitors.error());
    if (common.json)
        return finish(to_line(*answer));
    std::string text;
    for (const auto& inhibitor : *inhibitors)
        text +=
            text::escape_terminal(inhibitor.device.value_or("any device") + ": " + inhibitor.mode +
                                  " by " + inhibitor.who + " (" + inhibitor.why + ")") +
            "\n";
    return finish(text.empty() ? "nobody inhibits anything\n" : text);
}

Json parameters_of(const InhibitOptions& options)
{
    Json parameters = {{"who", options.who.empty() ? options.command.front() : options.who},
                       {"why", options.why.empty() ? "no reason given" : options.why},
                       {"mode", options.mode}};
    if (options.device)
        parameters["device"] = plain_guid(*options.device);
    return parameters;
}

/// Takes an inhibitor, which holds as long as the client stays. If the command ends first, nobody
/// needs one, and the client may be without.
Answer<Client> take(const Common& common, const InhibitOptions& options, int command = -1)
{
    auto client = connect(common);
    if (!client)
        return client;
    if (auto called = client->call_more("io.rdmad.Lifecycle.Inhibit", parameters_of(options));
        !called)
        return as_told(called);
    if (auto held = client->next(answer_deadline(), command, POLLIN); !held)
        return as_told(held);
    return client;
}

volatile sig_atomic_t command_process = 0; ///< its PID
volatile sig_atomic_t signals = 0;         ///< a bit for each that was to end this program

void pass_on(int number, siginfo_t* info, void* /*context*/)
{
    const int before = errno;
    // what a terminal sends when it goes, it sends to the command, too
    if (info->si_code == SI_KERNEL)
        return;
    signals = signals | 1 << number;
    if (command_process != 0)
        (void)kill(static_cast<pid_t>(command_process), number);
    errno = before;
}

/// Has the command get what is to end this program, which objects until the command has ended.
void pass_signals_on()
{
    for (const int number : {SIGTERM, SIGHUP}) {
        struct sigaction action = {};
        // the command is to ignore what nohup(1) ignores
        if (sigaction(number, nullptr, &action) < 0 || action.sa_handler == SIG_IGN)
            continue;
        action.sa_sigaction = pass_on;
        sigaddset(&action.sa_mask, SIGTERM);
        sigaddset(&action.sa_mask, SIGHUP);
        action.sa_flags = SA_SIGINFO;
        (void)sigaction(number, &action, nullptr);
    }
}

/// Ends this program by a signal that was to end it, if that ended the command. To systemd, a
/// service has not failed if SIGTERM ended it; with an exit code of 143 it has.
void end_like(std::optional<int> status)
{
    if (!status || !WIFSIGNALED(*status) || (signals & 1 << WTERMSIG(*status)) == 0)
        return;
    (void)signal(WTERMSIG(*status), SIG_DFL);
    (void)raise(WTERMSIG(*status));
}

bool ends_within(const UniqueFd& process, int milliseconds)
{
    pollfd waited = {process.get(), POLLIN, 0};
    return poll(&waited, 1, milliseconds) > 0;
}

/// Keeps it until the command has ended. Requests it again if rdmad was started anew.
void keep(Client client, const UniqueFd& process, const Common& common,
          const InhibitOptions& options)
{
    constexpr int pause = 1000;
    for (;;) {
        const auto told = client.next({}, process.get(), POLLIN);
        if (told && !*told)
            return;
        // a device is to be prepared: the command does not hear of that
        if (told)
            continue;
        warn("rdmad has ended; until it is back nothing keeps devices from being prepared");
        auto again = take(common, options, process.get());
        for (; !again; again = take(common, options, process.get()))
            if (ends_within(process, pause))
                return;
        client = std::move(*again);
    }
}

} // namespace

Answer<int> inhibit(const Common& common, const InhibitOptions& options)
{
    if (options.command.empty()) {
        auto client = connect(common);
        if (!client)
            return as_told(client);
        return tell(*client, common);
    }
    auto client = take(common, options);
    if (!client) {
        warn(client.error().text);
        return exit_not_run;
    }
    // the command gets what the terminal sends, and decides
    ignore_signal(SIGINT);
    ignore_signal(SIGQUIT);
    pass_signals_on();
    const auto child = spawn(options.command);
    if (!child) {
        warn(options.command.front() + ": " + strerror(child.error()));
        return child.error() == ENOENT ? exit_no_command : exit_cannot_run;
    }
    const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, *child, 0)));
    command_process = *child;
    // those that came before it ran
    for (const int number : {SIGTERM, SIGHUP})
        if ((signals & 1 << number) != 0)
            (void)kill(*child, number);
    if (process)
        keep(std::move(*client), process, common, options);
    const auto status = wait_for(*child);
    command_process = 0;
    end_like(status);
    return exit_code_of(status);
}

} // namespace rdmad::ctl
