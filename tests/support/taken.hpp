// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/unique_fd.hpp"
#include "tests/catch.hpp"

#include <array>
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <utility>

namespace rdmad::test {

/// Has a descriptor of this process lead elsewhere, as long as it lives. What is checked meanwhile
/// is not seen: Catch2 writes to standard output.
class Redirected {
public:
    Redirected(int fd, const UniqueFd& where) : fd_(fd), before_(fcntl(fd, F_DUPFD_CLOEXEC, 3))
    {
        fflush(nullptr);
        REQUIRE(dup2(where.get(), fd) == fd);
    }
    ~Redirected()
    {
        fflush(nullptr);
        dup2(before_.get(), fd_);
    }
    Redirected(const Redirected&) = delete;
    Redirected& operator=(const Redirected&) = delete;

private:
    int fd_;
    UniqueFd before_;
};

/// Takes what is written to a descriptor of this process, as long as it lives.
class Taken {
public:
    explicit Taken(int fd) : Taken(fd, Pipe()) {}

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
    struct Pipe {
        UniqueFd reader;
        UniqueFd writer;

        Pipe()
        {
            std::array<int, 2> ends{};
            REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0);
            reader.reset(ends[0]);
            writer.reset(ends[1]);
            REQUIRE(fcntl(reader.get(), F_SETFL, O_NONBLOCK) == 0);
        }
    };
    Taken(int fd, Pipe pipe) : reader_(std::move(pipe.reader)), redirected_(fd, pipe.writer) {}

    UniqueFd reader_;
    Redirected redirected_;
    std::string text_;
};

} // namespace rdmad::test
