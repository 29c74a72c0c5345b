// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <unistd.h>
#include <utility>

namespace rdmad {

/// Owns a file descriptor, or none.
class UniqueFd final {
public:
    UniqueFd() = default;
    explicit UniqueFd(int fd) : fd_(fd) {}
    UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
    UniqueFd& operator=(UniqueFd&& other) noexcept
    {
        if (this != &other)
            reset(other.release());
        return *this;
    }
    UniqueFd(const UniqueFd&) = delete;
    UniqueFd& operator=(const UniqueFd&) = delete;
    ~UniqueFd()
    {
        reset();
    }

    [[nodiscard]] int get() const
    {
        return fd_;
    }
    [[nodiscard]] explicit operator bool() const
    {
        return fd_ >= 0;
    }
    [[nodiscard]] int release()
    {
        return std::exchange(fd_, -1);
    }
    void reset(int fd = -1)
    {
        if (fd_ >= 0)
            close(fd_);
        fd_ = fd;
    }

private:
    int fd_ = -1;
};

} // namespace rdmad
