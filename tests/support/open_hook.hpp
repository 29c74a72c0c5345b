// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <string>

namespace rdmad::test {

/// Does something at a certain openat() of the code under test: how a race is lost on purpose. The
/// linker leads the calls here (--wrap); without a hook they go on to the C library.
class OpenHook {
public:
    enum class When { before, after };

    /// At the first openat() of just that path, or after some more, once.
    OpenHook(std::string path, When when, std::function<void()> action, unsigned skipped = 0);
    OpenHook(const OpenHook&) = delete;
    OpenHook& operator=(const OpenHook&) = delete;
    ~OpenHook();

    [[nodiscard]] bool has_run() const
    {
        return has_run_;
    }
    void run_if(const char* path, When when);

private:
    std::string path_;
    When when_;
    std::function<void()> action_;
    unsigned skipped_;
    bool has_run_ = false;
};

} // namespace rdmad::test
