// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/state_link.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

namespace rdmad {

namespace {

using std::chrono::milliseconds;

timeval to_timeval(milliseconds time)
{
    return {.tv_sec = time.count() / 1000, .tv_usec = time.count() % 1000 * 1000};
}

/// Interrupts system calls with SIGALRM once a time is over, and again each tenth of a second: the
/// first signal may come just before the call.
class Interruption {
public:
    explicit Interruption(milliseconds after)
    {
        struct sigaction action = {};
        action.sa_handler = [](int) {};
        sigaction(SIGALRM, &action, &before_);
        // a timer of zero would never end
        const itimerval timer = {.it_interval = to_timeval(milliseconds(100)),
                                 .it_value = to_timeval(std::max(after, milliseconds(1)))};
        setitimer(ITIMER_REAL, &timer, nullptr);
    }
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;
    ~Interruption()
    {
        const itimerval none = {};
        setitimer(ITIMER_REAL, &none, nullptr);
        sigaction(SIGALRM, &before_, nullptr);
    }

private:
    struct sigaction before_ = {};
};

/// Waits for a lock on a file. Returns 0 or an errno value.
int lock_within(int file, milliseconds patience)
{
    using std::chrono::steady_clock;
    if (flock(file, LOCK_EX | LOCK_NB) == 0)
        return 0;
    if (errno != EWOULDBLOCK)
        return errno;
    const auto end = steady_clock::now() + patience;
    const Interruption interruption(patience);
    while (flock(file, LOCK_EX) < 0) {
        if (errno != EINTR)
            return errno;
        if (steady_clock::now() >= end)
            return EBUSY;
    }
    return 0;
}

} // namespace

std::optional<std::string> read_link(const std::string& path)
{
    char target[NAME_MAX];
    const ssize_t size = readlink(path.c_str(), target, sizeof target);
    if (size < 0 || static_cast<size_t>(size) == sizeof target)
        return std::nullopt;
    return std::string(target, static_cast<size_t>(size));
}

int make_link(const std::string& target, const std::string& path)
{
    if (symlink(target.c_str(), path.c_str()) == 0)
        return 0;
    if (errno != ENOENT)
        return errno;
    const auto directory = path.substr(0, path.rfind('/'));
    mkdir(directory.substr(0, directory.rfind('/')).c_str(), 0755);
    if (mkdir(directory.c_str(), 0755) < 0 && errno != EEXIST)
        return errno;
    return symlink(target.c_str(), path.c_str()) == 0 ? 0 : errno;
}

int replace_link(const std::string& target, const std::string& path)
{
    const auto fresh = path + ".new";
    // processes that do this without the lock meet: the last one decides
    for (;;) {
        if (unlink(fresh.c_str()) < 0 && errno != ENOENT)
            return errno;
        const int error = make_link(target, fresh);
        if (error == EEXIST)
            continue;
        if (error != 0)
            return error;
        if (rename(fresh.c_str(), path.c_str()) == 0)
            return 0;
        if (errno != ENOENT)
            return errno;
    }
}

Result<UniqueFd> lock_state(const std::string& directory, const std::string& name,
                            milliseconds patience)
{
    const auto path = directory + "/" + name;
    UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file)
        return fail(errno, path);
    const int error = lock_within(file.get(), patience);
    return error == 0 ? Result<UniqueFd>(std::move(file)) : fail(error, path);
}

} // namespace rdmad
