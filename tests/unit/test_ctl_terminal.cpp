// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/terminal.hpp"
#include "tests/support/taken.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <sys/ioctl.h>

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

/// Has standard output lead elsewhere.
class Redirected {
public:
    explicit Redirected(const UniqueFd& where) : before_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3))
    {
        fflush(stdout);
        REQUIRE(where);
        REQUIRE(dup2(where.get(), STDOUT_FILENO) == STDOUT_FILENO);
    }
    ~Redirected()
    {
        dup2(before_.get(), STDOUT_FILENO);
    }
    Redirected(const Redirected&) = delete;
    Redirected& operator=(const Redirected&) = delete;

private:
    UniqueFd before_;
};

/// Standard output as a terminal has it.
struct Terminal {
    UniqueFd controller{posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
    UniqueFd terminal{opened(controller)};
    Redirected output{terminal};

    static int opened(const UniqueFd& controller)
    {
        REQUIRE(unlockpt(controller.get()) == 0);
        return open(ptsname(controller.get()), O_RDWR | O_NOCTTY | O_CLOEXEC);
    }
    void resize(unsigned short columns) const
    {
        const winsize size = {.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
        REQUIRE(ioctl(controller.get(), TIOCSWINSZ, &size) == 0);
    }
};

} // namespace

TEST_CASE("a file or pipe is not cut to a width, and has no colour", "[terminal]")
{
    const Variable columns("COLUMNS", "40");
    const Taken out(STDOUT_FILENO);
    const auto style = style_of_output();
    CHECK_FALSE(style.width.has_value());
    CHECK_FALSE(style.has_colour);
}

TEST_CASE("a table is as wide as the terminal, unless the environment says otherwise", "[terminal]")
{
    const Terminal terminal;
    const auto width_with = [](const char* columns) {
        const Variable variable("COLUMNS", columns);
        return style_of_output().width;
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

TEST_CASE("a terminal has colours, unless it has none or nobody wants them", "[terminal]")
{
    const Terminal terminal;
    const auto has_colour = [](const char* term, const char* no_color) {
        const Variable kind("TERM", term);
        const Variable wish("NO_COLOR", no_color);
        return style_of_output().has_colour;
    };
    CHECK(has_colour("xterm", nullptr));
    CHECK(has_colour(nullptr, nullptr));
    CHECK(has_colour("xterm", "")); // https://no-color.org
    CHECK_FALSE(has_colour("xterm", "1"));
    CHECK_FALSE(has_colour("dumb", nullptr));
}

TEST_CASE("output that cannot be written is an error, unless nobody reads it", "[terminal]")
{
    {
        Taken out(STDOUT_FILENO);
        const auto printed = finish("a\n", 3);
        CHECK(printed.value_or(-1) == 3);
        CHECK(out.text() == "a\n");
        const auto before = signal(SIGPIPE, SIG_IGN);
        out.hang_up();
        CHECK(print("b\n").value_or(true) == false);
        CHECK(finish("b\n", 3).value_or(-1) == 3);
        (void)signal(SIGPIPE, before);
    }
    const UniqueFd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
    const Redirected output(full);
    const auto printed = finish("a\n");
    REQUIRE_FALSE(printed.has_value());
    CHECK(printed.error().text == "cannot write to standard output: No space left on device");
}

TEST_CASE("a pipe that does not block is written to when there is room", "[terminal]")
{
    std::array<int, 2> ends{};
    REQUIRE(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
    const UniqueFd reader(ends[0]);
    const UniqueFd writer(ends[1]);
    const std::string text(1'000'000, 'x');
    const auto child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        (void)dup2(writer.get(), STDOUT_FILENO);
        _exit(print(text).value_or(false) ? 0 : 1);
    }
    REQUIRE(fcntl(reader.get(), F_SETFL, 0) == 0);
    size_t size = 0;
    for (std::array<char, 4096> chunk{}; size < text.size();) {
        const auto count = read(reader.get(), chunk.data(), chunk.size());
        REQUIRE(count > 0);
        size += static_cast<size_t>(count);
    }
    CHECK(size == text.size());
}

TEST_CASE("a warning does not steer the terminal", "[terminal]")
{
    Taken err(STDERR_FILENO);
    warn("'\x1b[2J' is no device");
    CHECK(err.text() == "rdmactl: '\\x1b[2J' is no device\n");
}
