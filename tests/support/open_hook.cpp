// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/support/open_hook.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/types.h>
#include <utility>

namespace rdmad::test {

namespace {

OpenHook* current = nullptr;

} // namespace

OpenHook::OpenHook(std::string path, When when, std::function<void()> action, unsigned skipped)
    : path_(std::move(path)), when_(when), action_(std::move(action)), skipped_(skipped)
{
    current = this;
}

OpenHook::~OpenHook()
{
    current = nullptr;
}

void OpenHook::run_if(const char* path, When when)
{
    if (has_run_ || when != when_ || path_ != path)
        return;
    if (skipped_ > 0) {
        skipped_--;
        return;
    }
    has_run_ = true;
    const int error = errno;
    action_();
    errno = error;
}

namespace {

template <typename Open>
int hooked(const char* path, Open open)
{
    if (current)
        current->run_if(path, OpenHook::When::before);
    const int fd = open();
    if (current)
        current->run_if(path, OpenHook::When::after);
    return fd;
}

} // namespace

} // namespace rdmad::test

// The names are the linker's. The mode is passed on whether there is one or not, as the C library
// does.
extern "C" {
int __real_openat(int parent, const char* path, int flags, ...);
int __real_openat64(int parent, const char* path, int flags, ...);
int __wrap_openat(int parent, const char* path, int flags, mode_t mode);
int __wrap_openat64(int parent, const char* path, int flags, mode_t mode);

int __wrap_openat(int parent, const char* path, int flags, mode_t mode)
{
    return rdmad::test::hooked(path, [&] { return __real_openat(parent, path, flags, mode); });
}

int __wrap_openat64(int parent, const char* path, int flags, mode_t mode)
{
    return rdmad::test::hooked(path, [&] { return __real_openat64(parent, path, flags, mode); });
}
}
