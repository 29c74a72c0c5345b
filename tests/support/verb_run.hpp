// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/complaint.hpp"
#include "tests/catch.hpp"
#include "tests/support/served_rdmad.hpp"
#include "tests/support/taken.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <string>
#include <unistd.h>

namespace rdmad::test {

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
