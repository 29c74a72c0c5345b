// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/command.hpp"

#include <cerrno>
#include <csignal>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rdmad::ctl {

namespace {

/// Returns the signals that this program ignores and its caller did not.
sigset_t& ignored()
{
    static sigset_t signals = [] {
        sigset_t none;
        sigemptyset(&none);
        return none;
    }();
    return signals;
}

} // namespace

void ignore_signal(int number)
{
    if (signal(number, SIG_IGN) != SIG_IGN)
        sigaddset(&ignored(), number);
}

tl::expected<pid_t, int> spawn(const std::vector<std::string>& command)
{
    std::vector<char*> arguments;
    for (const auto& word : command)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawnattr_t attributes;
    (void)posix_spawnattr_init(&attributes);
    (void)posix_spawnattr_setsigdefault(&attributes, &ignored());
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    pid_t child = 0;
    const int code =
        posix_spawnp(&child, arguments.front(), nullptr, &attributes, arguments.data(), environ);
    (void)posix_spawnattr_destroy(&attributes);
    return code == 0 ? tl::expected<pid_t, int>(child) : tl::unexpected<int>(code);
}

std::optional<int> wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return std::nullopt;
    return status;
}

int exit_code_of(std::optional<int> status)
{
    constexpr int killed = 128;
    if (!status)
        return exit_not_run;
    return WIFEXITED(*status) ? WEXITSTATUS(*status) : killed + WTERMSIG(*status);
}

} // namespace rdmad::ctl
