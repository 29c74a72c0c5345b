// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/support/failing_allocation.hpp"

#include "tests/catch.hpp"

#include <csignal>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <new>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace {

unsigned allocations_to_failure = 0; // 0: none fails

void* allocate(size_t size) noexcept
{
    const bool fails = allocations_to_failure > 0 && --allocations_to_failure == 0;
    return fails ? nullptr : malloc(size > 0 ? size : 1);
}

} // namespace

void* operator new(size_t size)
{
    if (void* memory = allocate(size))
        return memory;
    throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t& /*tag*/) noexcept
{
    return allocate(size);
}
void operator delete(void* memory) noexcept
{
    free(memory);
}
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept
{
    free(memory);
}
void operator delete(void* memory, size_t /*size*/) noexcept
{
    free(memory);
}

namespace rdmad::test {

namespace {

#ifdef __SANITIZE_ADDRESS__
// a process of its own takes long there
constexpr unsigned step = 8;
#else
constexpr unsigned step = 1;
#endif

// none that a process has otherwise, as by the exit(1) of a sanitizer
enum Exit : int { complete = 100, ended, unharmed, wrong, harmed };

Trial* running = nullptr;

[[noreturn]] void end_by_terminate()
{
    allocations_to_failure = 0;
    const bool is_harmless = running->is_harmless();
    running->clean();
    _exit(is_harmless ? ended : harmed);
}

/// Runs the work in a thread: Catch2 would handle an exception, and rdmad handles none. Lets none
/// out either, or the child would go on with the other tests.
[[noreturn]] void run_alone(const std::function<std::unique_ptr<Trial>()>& prepare,
                            unsigned n) noexcept
{
    for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGTERM, SIGINT})
        (void)std::signal(signal, SIG_DFL);
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    auto trial = prepare();
    running = trial.get();
    std::set_terminate(end_by_terminate);
    bool has_failed = false;
    std::thread([&] {
        allocations_to_failure = n;
        trial->run();
        has_failed = std::exchange(allocations_to_failure, 0) == 0;
    }).join();
    const bool is_right = trial->is_right();
    trial->clean();
    _exit(!is_right ? wrong : has_failed ? unharmed : complete);
}

} // namespace

void check_each_allocation(const std::function<std::unique_ptr<Trial>()>& prepare, unsigned least)
{
    unsigned ends = 0;
    unsigned n = 1;
    int code = ended;
    // one that is wrong without a failure, too, is never complete
    for (; code == ended || code == unharmed; n += step) {
        const pid_t child = fork();
        if (child == 0)
            run_alone(prepare, n);
        int status = 0;
        const bool has_exited =
            child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
        code = has_exited ? WEXITSTATUS(status) : static_cast<int>(wrong);
        if (code == ended)
            ends++;
    }
    INFO("the allocation that failed: " << n - step);
    CHECK(code == complete);
    CHECK(ends >= least);
}

} // namespace rdmad::test
