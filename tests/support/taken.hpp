// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/unique_fd.hpp"
#include "tests/catch.hpp"

#include <array>
#include <cstdio>
#include <fcntl.h>
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

} // namespace rdmad::test
