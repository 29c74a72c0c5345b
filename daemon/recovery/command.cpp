// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/recovery/command.hpp"

#include "core/base/text.hpp"
#include "core/base/unique_fd.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rdmad::recovery {

namespace {

// more than the list of a server's listeners
constexpr size_t max_output = 65536;

/// Starts a program with both standard outputs into the pipe.
Result<pid_t> spawn(const std::string& program, const std::vector<std::string>& arguments, int pipe)
{
    std::vector<char*> words = {const_cast<char*>(program.c_str())};
    for (const auto& argument : arguments)
        words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    std::array<char*, 2> environment = {const_cast<char*>("LC_ALL=C"), nullptr};
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return fail(ENOMEM, program);
    (void)posix_spawn_file_actions_adddup2(&actions, pipe, STDOUT_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, pipe, STDERR_FILENO);
    pid_t pid = -1;
    const int error =
        posix_spawn(&pid, program.c_str(), &actions, nullptr, words.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return fail(error, program);
    return pid;
}

std::string read_all(const UniqueFd& pipe)
{
    std::string text;
    std::array<char, 4096> buffer;
    for (;;) {
        const auto size = ::read(pipe.get(), buffer.data(), buffer.size());
        if (size <= 0)
            return text;
        // the rest is read and dropped, so that the program ends
        if (text.size() < max_output)
            text.append(buffer.data(), static_cast<size_t>(size));
    }
}

} // namespace

Result<std::string> run(const std::string& program, const std::vector<std::string>& arguments)
{
    std::array<int, 2> ends = {};
    if (pipe2(ends.data(), O_CLOEXEC) < 0)
        return fail(errno, "pipe");
    const UniqueFd reader(ends[0]);
    UniqueFd writer(ends[1]);
    const auto pid = spawn(program, arguments, writer.get());
    if (!pid)
        return tl::unexpected<Error>(pid.error());
    writer = UniqueFd();
    auto text = read_all(reader);
    int status = 0;
    while (waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (status == 0)
        return text;
    std::string command = program;
    for (const auto& argument : arguments)
        command += " " + argument;
    return fail(EIO, command + ": " + text::escape_terminal(text::trim(text)));
}

} // namespace rdmad::recovery
