// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/inventory/overrun.hpp"
#include "tests/support/must.hpp"

#include <array>
#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>

using namespace rdmad;

TEST_CASE("nothing that was queued is received after an overrun", "[inventory]")
{
    std::array<int, 2> ends;
    REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends.data()) == 0);
    for (int i = 0; i < 8; i++)
        REQUIRE(send(ends[0], "event", 5, 0) == 5);
    discard_queue(ends[1]);
    char octet = 0;
    CHECK(recv(ends[1], &octet, 1, MSG_DONTWAIT) == -1);
    CHECK(errno == EAGAIN);
    // and what comes then is
    REQUIRE(send(ends[0], "n", 1, 0) == 1);
    CHECK(recv(ends[1], &octet, 1, MSG_DONTWAIT) == 1);
    CHECK(octet == 'n');
    close(ends[0]);
    close(ends[1]);
}
