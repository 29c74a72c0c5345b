// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/naming/program.hpp"

#include "core/base/text.hpp"
#include "core/base/unique_fd.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rdmad::rdma_id {

std::optional<std::string> output_of(const std::vector<const char*>& command)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return std::nullopt;
    const UniqueFd out(ends[0]);
    UniqueFd in(ends[1]);
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const auto* word : command)
        arguments.push_back(const_cast<char*>(word));
    arguments.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in.get(), STDOUT_FILENO);
    pid_t child = 0;
    const int error =
        posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return std::nullopt;
    in.reset();
    char text[4096];
    const ssize_t size = read(out.get(), text, sizeof text);
    waitpid(child, nullptr, 0);
    return std::string(
        text::trim(std::string_view(text, size > 0 ? static_cast<size_t>(size) : 0)));
}

} // namespace rdmad::rdma_id
