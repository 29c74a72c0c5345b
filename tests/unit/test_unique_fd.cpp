// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/unique_fd.hpp"
#include "tests/catch.hpp"

#include <fcntl.h>

using rdmad::UniqueFd;

namespace {

int open_something()
{
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    REQUIRE(fd >= 0);
    return fd;
}

bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

} // namespace

TEST_CASE("a descriptor is closed with its owner", "[unique_fd]")
{
    const int fd = open_something();
    {
        const UniqueFd owner(fd);
        CHECK(owner);
        CHECK(owner.get() == fd);
        CHECK(is_open(fd));
    }
    CHECK_FALSE(is_open(fd));
}

TEST_CASE("an owner of nothing is false and closes nothing", "[unique_fd]")
{
    const UniqueFd none;
    CHECK_FALSE(none);
    CHECK(none.get() == -1);
    CHECK_FALSE(UniqueFd(-1));
}

TEST_CASE("descriptor 0 is one", "[unique_fd]")
{
    UniqueFd zero(0);
    CHECK(zero);
    CHECK(zero.release() == 0);
}

TEST_CASE("a moved-from owner has nothing", "[unique_fd]")
{
    const int fd = open_something();
    UniqueFd from(fd);
    const UniqueFd to(std::move(from));
    CHECK(from.get() == -1); // NOLINT(bugprone-use-after-move)
    CHECK(to.get() == fd);
    CHECK(is_open(fd));
}

TEST_CASE("an assignment closes what was there and empties the other", "[unique_fd]")
{
    const int first = open_something();
    const int second = open_something();
    UniqueFd to(first);
    UniqueFd from(second);
    to = std::move(from);
    CHECK_FALSE(is_open(first));
    CHECK(is_open(second));
    CHECK(to.get() == second);
    CHECK_FALSE(from); // NOLINT(bugprone-use-after-move)
}

TEST_CASE("a move to itself changes nothing", "[unique_fd]")
{
    const int fd = open_something();
    UniqueFd owner(fd);
    UniqueFd& same = owner;
    owner = std::move(same);
    CHECK(owner.get() == fd);
    CHECK(is_open(fd));
}

TEST_CASE("a released descriptor stays open", "[unique_fd]")
{
    UniqueFd owner(open_something());
    const int fd = owner.release();
    CHECK_FALSE(owner);
    owner.reset();
    CHECK(is_open(fd));
    close(fd);
}

TEST_CASE("a reset closes what was there", "[unique_fd]")
{
    const int first = open_something();
    const int second = open_something();
    UniqueFd owner(first);
    owner.reset(second);
    CHECK_FALSE(is_open(first));
    CHECK(owner.get() == second);
    owner.reset();
    CHECK_FALSE(is_open(second));
}
