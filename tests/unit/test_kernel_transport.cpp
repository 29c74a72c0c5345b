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

TEST_CASE("a kernel with RDMA answers, and one without is told to have none", "[kernel_transport]")
{
    KernelTransport transport;
    Client client(transport);
    const auto devices = client.devices();
    if (!devices) {
        CHECK(devices.error().code == EPROTONOSUPPORT);
        CHECK(devices.error().context == "RDMA netlink");
    }
    // what was not open can be closed, and what was closed is opened anew
    transport.close();
    CHECK(client.devices().has_value() == devices.has_value());
}
