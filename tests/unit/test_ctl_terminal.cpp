// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/terminal.hpp"
#include "tests/support/taken.hpp"

#include <csignal>
#include <cstdlib>
#include <optional>
#include <sys/ioctl.h>
#include <sys/wait.h>

using namespace rdmad;
using namespace rdmad::ctl;
using namespace rdmad::test;

namespace {

/// Gives a variable of the environment a value, and its own back in the end.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name)
    {
        if (const char* before = getenv(name))
            before_ = before;
        set(value);
    }
    ~Variable()
    {
        set(before_ ? before_->c_str() : nullptr);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    void set(const char* value)
    {
        if (value)
            setenv(name_, value, 1);
        else
            unsetenv(name_);
    }

    const char* name_;
    std::optional<std::string> before_;
};

class Terminal {
public:
    Terminal()
    {
        if (controller_ && unlockpt(controller_.get()) == 0)
            terminal_.reset(open(ptsname(controller_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    }
    /// Returns false, with a warning, where there are none.
    [[nodiscard]] bool is_there() const
    {
        if (!terminal_)
            WARN("skipped: there are no pseudoterminals");
        return static_cast<bool>(terminal_);
    }
    void resize(unsigned short columns) const
    {
        const winsize size = {.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
        REQUIRE(ioctl(controller_.get(), TIOCSWINSZ, &size) == 0);
    }
    /// Returns the style of output to it.
    [[nodiscard]] Style style() const
    {
        const Redirected output(STDOUT_FILENO, terminal_);
        return style_of_output();
    }

private:
    UniqueFd controller_{posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
    UniqueFd terminal_;
};

} // namespace

TEST_CASE("a file or pipe is not cut to a width, and has no colour", "[terminal]")
{
    const Variable columns("COLUMNS", "40");
    const UniqueFd null(open("/dev/null", O_WRONLY | O_CLOEXEC));
    const auto style = [&] {
        const Redirected output(STDOUT_FILENO, null);
        return style_of_output();
    }();
    CHECK_FALSE(style.width.has_value());
    CHECK_FALSE(style.has_colour);
}

TEST_CASE("a table is as wide as the terminal, unless the environment says otherwise", "[terminal]")
{
    const Terminal terminal;
    if (!terminal.is_there())
        return;
    const auto width_with = [&](const char* columns) {
        const Variable variable("COLUMNS", columns);
        return terminal.style().width;
    };
    terminal.resize(132);
    CHECK(width_with(nullptr) == 132);
    CHECK(width_with("40") == 40);
    for (const auto* no_width : {"", "0", "-1", "40x", "4294967296"})
        CHECK(width_with(no_width) == 132);
    // a serial line does not tell
    terminal.resize(0);
    CHECK(width_with(nullptr) == 80);
}

TEST_CASE("a terminal gets colours, unless it is dumb or NO_COLOR is set", "[terminal]")
{
    const Terminal terminal;
    if (!terminal.is_there())
        return;
    const auto has_colour = [&](const char* term, const char* no_color) {
        const Variable kind("TERM", term);
        const Variable wish("NO_COLOR", no_color);
        return terminal.style().has_colour;
    };
    CHECK(has_colour("xterm", nullptr));
    CHECK(has_colour(nullptr, nullptr));
    CHECK(has_colour("xterm", "")); // https://no-color.org
    CHECK_FALSE(has_colour("xterm", "1"));
    CHECK_FALSE(has_colour("dumb", nullptr));
}

TEST_CASE("output that nobody reads any more is no error", "[terminal]")
{
    const auto before = signal(SIGPIPE, SIG_IGN);
    Answer<int> read = 0;
    Answer<int> unread = 0;
    Answer<bool> printed = true;
    std::string text;
    {
        Taken out(STDOUT_FILENO);
        read = finish("a\n", 3);
        text = out.text();
        out.hang_up();
        printed = print("b\n");
        unread = finish("b\n", 4);
    }
    (void)signal(SIGPIPE, before);
    CHECK(read.value_or(-1) == 3);
    CHECK(text == "a\n");
    CHECK_FALSE(printed.value_or(true));
    CHECK(unread.value_or(-1) == 4);
}

TEST_CASE("output that cannot be written is an error", "[terminal]")
{
    const UniqueFd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
    REQUIRE(full);
    const auto printed = [&] {
        const Redirected output(STDOUT_FILENO, full);
        return finish("a\n");
    }();
    REQUIRE_FALSE(printed.has_value());
    CHECK(printed.error().text == "cannot write to standard output: No space left on device");
}

TEST_CASE("a pipe that does not block is written to when there is room", "[terminal]")
{
    std::array<int, 2> ends{};
    REQUIRE(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
    const UniqueFd reader(ends[0]);
    UniqueFd writer(ends[1]);
    const std::string text(1'000'000, 'x');
    const auto child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        (void)dup2(writer.get(), STDOUT_FILENO);
        _exit(print(text).value_or(false) ? 0 : 1);
    }
    writer.reset();
    REQUIRE(fcntl(reader.get(), F_SETFL, 0) == 0);
    size_t size = 0;
    std::array<char, 4096> chunk{};
    for (ssize_t count; (count = read(reader.get(), chunk.data(), chunk.size())) > 0;)
        size += static_cast<size_t>(count);
    CHECK(size == text.size());
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}

TEST_CASE("a warning does not steer the terminal", "[terminal]")
{
    const auto text = [] {
        Taken err(STDERR_FILENO);
        warn("'\x1b[2J' is no device");
        return err.text();
    }();
    CHECK(text == "rdmactl: '\\x1b[2J' is no device\n");
}
