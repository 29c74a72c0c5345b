// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/event.hpp"
#include "tests/support/must.hpp"
#include "tests/support/varlink_client.hpp"

#include <cerrno>
#include <csignal>

using namespace rdmad;
using namespace rdmad::test;

namespace {

struct Loop {
    Event event = new_event();
    std::vector<std::string> done;

    EventSource::Callback note(const char* what)
    {
        return [this, what] { done.emplace_back(what); };
    }
    /// Returns what was called since.
    std::vector<std::string> run()
    {
        done.clear();
        while (sd_event_run(event.get(), 0) > 0)
            ;
        return done;
    }
};

using Done = std::vector<std::string>;

} // namespace

TEST_CASE("a signal that is blocked is called back for, and no other", "[event]")
{
    Loop loop;
    CHECK(error_of(EventSource::signal(loop.event.get(), SIGUSR1, [] {})) == EBUSY);
    sigset_t blocked;
    sigset_t before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    REQUIRE(pthread_sigmask(SIG_BLOCK, &blocked, &before) == 0);
    {
        const auto source =
            must(EventSource::signal(loop.event.get(), SIGUSR1, loop.note("signal")));
        CHECK(loop.run().empty());
        raise(SIGUSR1);
        CHECK(loop.run() == Done{"signal"});
        CHECK(loop.run().empty());
    }
    REQUIRE(pthread_sigmask(SIG_SETMASK, &before, nullptr) == 0);
}

TEST_CASE("work is done once for each time that it is asked for, in its order", "[event]")
{
    Loop loop;
    auto late = must(EventSource::deferred(loop.event.get(), priority::work, loop.note("late")));
    auto early = must(EventSource::deferred(loop.event.get(), priority::udev, loop.note("early")));
    auto timer = must(EventSource::timer(loop.event.get(), loop.note("timer")));
    CHECK(loop.run().empty());
    late.arm_now();
    late.arm_now();
    early.arm_now();
    CHECK(late.is_armed());
    CHECK(loop.run() == Done{"early", "late"});
    CHECK_FALSE(late.is_armed());
    timer.arm(std::chrono::microseconds(0));
    CHECK(timer.is_armed());
    CHECK(loop.run() == Done{"timer"});
    timer.arm(std::chrono::microseconds(0));
    timer.disarm();
    CHECK(loop.run().empty());
    CHECK_FALSE(EventSource().is_armed());
}
