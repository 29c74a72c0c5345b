// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/inventory/overrun.hpp"

#include <cerrno>
#include <cstddef>
#include <sys/socket.h>

namespace rdmad {

void discard_queue(int fd)
{
    std::byte octet;
    for (;;)
        if (recv(fd, &octet, sizeof octet, MSG_DONTWAIT | MSG_TRUNC) < 0 && errno != ENOBUFS &&
            errno != EINTR)
            return;
}

} // namespace rdmad
