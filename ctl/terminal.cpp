// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/terminal.hpp"

#include "core/base/text.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace rdmad::ctl {

namespace {

std::string_view environment(const char* name)
{
    const char* value = getenv(name);
    return value ? value : "";
}

size_t terminal_width()
{
    if (const auto columns = text::parse_u32(environment("COLUMNS")); columns && *columns > 0)
        return *columns;
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

} // namespace

Style style_of_output()
{
    if (isatty(STDOUT_FILENO) == 0)
        return {};
    return {.width = terminal_width(),
            .has_colour = environment("NO_COLOR").empty() && environment("TERM") != "dumb"};
}

Answer<bool> print(std::string_view text)
{
    pollfd full = {STDOUT_FILENO, POLLOUT, 0};
    while (!text.empty()) {
        const ssize_t count = write(STDOUT_FILENO, text.data(), text.size());
        if (count >= 0)
            text.remove_prefix(static_cast<size_t>(count));
        else if (errno == EPIPE)
            return false;
        else if (errno == EAGAIN) // another program that has the terminal or pipe does not block
            (void)poll(&full, 1, -1);
        else if (errno != EINTR)
            return failed(std::string("cannot write to standard output: ") + strerror(errno));
    }
    return true;
}

Answer<int> finish(std::string_view text, int exit_code)
{
    auto printed = print(text);
    if (!printed)
        return as_told(printed);
    return exit_code;
}

void warn(std::string_view text)
{
    const auto line = "rdmactl: " + text::escape_terminal(text) + "\n";
    fputs(line.c_str(), stderr);
}

} // namespace rdmad::ctl
