// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/nldev/client.hpp"
#include "core/nldev/kernel_transport.hpp"
#include "tests/support/must.hpp"

#include <cerrno>

using namespace rdmad;
using namespace rdmad::nldev;
using namespace rdmad::test;

TEST_CASE("where nothing was asked for there is nothing to read", "[kernel_transport]")
{
    KernelTransport transport;
    CHECK(error_of(transport.receive()) == ENODATA);
    transport.close();
    CHECK(error_of(transport.receive()) == ENODATA);
}

TEST_CASE("a kernel answers or has no RDMA, and a socket that was closed is opened anew",
          "[kernel_transport]")
{
    KernelTransport transport;
    Client client(transport);
    const auto first = client.devices();
    // it has none, or a sandbox forbids the family
    if (!first)
        CHECK(first.error().context == "RDMA netlink");
    transport.close();
    const auto second = client.devices();
    CHECK(error_of(second) == error_of(first));
}
