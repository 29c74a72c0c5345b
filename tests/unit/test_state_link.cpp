// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/state_link.hpp"
#include "tests/catch.hpp"
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>
#include <vector>

using namespace rdmad;
using namespace rdmad::test;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

TEST_CASE("a lock is had once nobody else has it", "[state_link]")
{
    const FixtureTree tree;
    auto held = must(lock_state(tree.path(), "lock"));
    std::thread other([&] {
        std::this_thread::sleep_for(50ms);
        held = UniqueFd();
    });
    const auto had = lock_state(tree.path(), "lock");
    other.join();
    CHECK(had.has_value());
}

TEST_CASE("a lock that another process keeps is not waited for without end", "[state_link]")
{
    const FixtureTree tree;
    const auto held = must(lock_state(tree.path(), "lock"));
    const auto begin = steady_clock::now();
    const auto refused = lock_state(tree.path(), "lock", 50ms);
    CHECK(steady_clock::now() - begin >= 50ms);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == EBUSY);
    CHECK(refused.error().context == tree.path("lock"));
    CHECK(lock_state(tree.path(), "other", 0ms).has_value());
    CHECK(lock_state(tree.path(), "lock", 0ms).error().code == EBUSY);
}

TEST_CASE("the wait for a lock leaves no signal handler", "[state_link]")
{
    const FixtureTree tree;
    const auto held = must(lock_state(tree.path(), "lock"));
    CHECK_FALSE(lock_state(tree.path(), "lock", 1ms).has_value());
    struct sigaction now = {};
    REQUIRE(sigaction(SIGALRM, nullptr, &now) == 0);
    CHECK(now.sa_handler == SIG_DFL);
    // a timer that still ran would end this process
    std::this_thread::sleep_for(150ms);
}

TEST_CASE("processes that replace one link at a time do not hinder each other", "[state_link]")
{
    const FixtureTree tree{FixtureTree::Place::memory};
    constexpr size_t processes = 2;
    std::array<std::atomic<int>, processes> failures = {};
    std::vector<std::thread> running;
    for (size_t me = 0; me < processes; me++)
        running.emplace_back([&, me] {
            for (int i = 0; i < 1000; i++)
                if (replace_link(std::to_string(me), tree.path("link")) != 0)
                    failures.at(me)++;
        });
    for (auto& process : running)
        process.join();
    CHECK(failures[0] + failures[1] == 0);
    CHECK(read_link(tree.path("link")).has_value());
}

TEST_CASE("where no lock can be made that is an error at once", "[state_link]")
{
    const FixtureTree tree;
    CHECK(lock_state(tree.path("none"), "lock").error().code == ENOENT);
}
