// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/unique_fd.hpp"
#include "ctl/complaint.hpp"
#include "tests/catch.hpp"
#include "tests/support/served_rdmad.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <functional>
#include <future>
#include <map>
#include <string>
#include <unistd.h>

namespace rdmad::test {

/// Takes what is written to a descriptor of this process, as long as it lives.
class Taken {
public:
    explicit Taken(int fd) : fd_(fd), before_(fcntl(fd, F_DUPFD_CLOEXEC, 3))
    {
        fflush(nullptr);
        std::array<int, 2> ends{};
        REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0);
        reader_.reset(ends[0]);
        const UniqueFd writer(ends[1]);
        REQUIRE(fcntl(reader_.get(), F_SETFL, O_NONBLOCK) == 0);
        REQUIRE(dup2(writer.get(), fd) == fd);
    }
    ~Taken()
    {
        fflush(nullptr);
        dup2(before_.get(), fd_);
    }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;

    /// Takes what is there.
    void take()
    {
        std::array<char, 4096> chunk{};
        for (ssize_t size; reader_ && (size = read(reader_.get(), chunk.data(), chunk.size())) > 0;)
            text_.append(chunk.data(), static_cast<size_t>(size));
    }
    /// Returns all that was written so far.
    const std::string& text()
    {
        take();
        return text_;
    }
    /// Goes, as the program behind a pipe does.
    void hang_up()
    {
        reader_.reset();
    }

private:
    int fd_;
    UniqueFd before_;
    UniqueFd reader_;
    std::string text_;
};

/// Gives signals back the handlers that they had: verbs set their own.
class SignalsBefore {
public:
    SignalsBefore()
    {
        for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE})
            sigaction(number, nullptr, &before_[number]);
        (void)signal(SIGPIPE, SIG_IGN); // as main() does
    }
    ~SignalsBefore()
    {
        for (const auto& [number, action] : before_)
            sigaction(number, &action, nullptr);
    }
    SignalsBefore(const SignalsBefore&) = delete;
    SignalsBefore& operator=(const SignalsBefore&) = delete;

private:
    std::map<int, struct sigaction> before_;
};

/// What a verb of rdmactl returned and printed.
struct Outcome {
    int code = 0; ///< as the program would end with it
    std::string out = {};
    std::string err = {}; ///< and why it failed
};

using Verb = std::function<ctl::Answer<int>()>;
/// What happens while a verb runs, done after each turn of rdmad.
using Step = std::function<void(Taken& out)>;

/// Runs a verb in a thread of its own, beside rdmad, which serves it in this one. A verb that does
/// not end is hung up on.
inline Outcome run(ServedRdmad& served, const Verb& verb, const Step& step = nullptr)
{
    using namespace std::chrono_literals;
    constexpr auto longest = 20s;
    const SignalsBefore signals;
    Taken out(STDOUT_FILENO);
    Taken err(STDERR_FILENO);
    auto answer = std::async(std::launch::async, verb);
    const auto start = std::chrono::steady_clock::now();
    try {
        while (answer.wait_for(1ms) != std::future_status::ready) {
            served.settle();
            // a verb waits while a pipe is full
            out.take();
            err.take();
            if (step)
                step(out);
            if (std::chrono::steady_clock::now() - start > longest) {
                out.hang_up();
                served.server.end();
            }
        }
    } catch (...) {
        served.server.end();
        throw;
    }
    const auto code = answer.get();
    Outcome outcome{.code = code.value_or(ctl::exit_failed), .out = out.text(), .err = {}};
    fflush(stderr);
    outcome.err = err.text();
    if (!code) {
        outcome.err += code.error().text;
        if (code.error().kind == ctl::Complaint::Kind::usage)
            outcome.code = ctl::exit_usage;
    }
    return outcome;
}

} // namespace rdmad::test
