// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/unique_fd.hpp"
#include "daemon/inventory/kernel_events.hpp"
#include "daemon/inventory/udev_monitor.hpp"
#include "tests/support/must.hpp"
#include "tests/support/replay_transport.hpp"
#include "tests/support/varlink_client.hpp"

#include <array>
#include <cerrno>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace rdmad;
using namespace rdmad::test;

namespace {

/// Each gets its own, as far as there are groups: others may run this test at the same time.
uint32_t next_group()
{
    static auto number = static_cast<uint32_t>(getpid());
    return 1U << (number++ % 32);
}

UniqueFd user_socket()
{
    UniqueFd socket(
        ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_USERSOCK));
    REQUIRE(socket.get() >= 0);
    return socket;
}

sockaddr_nl address_of(uint32_t group)
{
    return {.nl_family = AF_NETLINK, .nl_pad = 0, .nl_pid = 0, .nl_groups = group};
}

/// Returns false, and the reason in errno, if the socket may not.
bool join(const UniqueFd& socket, uint32_t group)
{
    const auto address = address_of(group);
    return bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

/// A netlink socket in place of the one that is under test, which the test sends to as the kernel
/// does: to a group, so that what does not fit is lost.
class SmallSocket {
public:
    explicit SmallSocket(int fd)
    {
        const auto receiver = user_socket();
        const int smallest = 1;
        REQUIRE(setsockopt(receiver.get(), SOL_SOCKET, SO_RCVBUF, &smallest, sizeof smallest) == 0);
        REQUIRE(join(receiver, group_));
        REQUIRE(dup2(receiver.get(), fd) == fd);
    }
    void send_one() const
    {
        const std::array<char, 64> message = {};
        const auto address = address_of(group_);
        // nobody but the group listens, which counts as an error
        (void)sendto(sender_.get(), message.data(), message.size(), 0,
                     reinterpret_cast<const sockaddr*>(&address), sizeof address);
    }
    void overrun() const
    {
        for (int i = 0; i < 100; i++)
            send_one();
    }

private:
    uint32_t group_ = next_group();
    UniqueFd sender_ = user_socket();
};

/// Returns true for who may listen to a group: CAP_NET_ADMIN allows that. Warns others that they
/// test less.
bool can_join_groups()
{
    if (join(user_socket(), next_group()))
        return true;
    REQUIRE(errno == EPERM);
    WARN("only who has CAP_NET_ADMIN can test this");
    return false;
}

bool has_queued(int fd)
{
    char octet = 0;
    return recv(fd, &octet, 1, MSG_DONTWAIT | MSG_PEEK) >= 0;
}

} // namespace

TEST_CASE("a socket that lost events says so once, and hears what comes after that", "[inventory]")
{
    if (!can_join_groups())
        return;
    auto socket = must(EventSocket::of_links());
    const SmallSocket kernel(socket.fd());
    kernel.send_one();
    // what is not the kernel's is received, and is nothing
    CHECK(must_find(socket.receive()).empty());
    CHECK(is_none(socket.receive()));
    kernel.overrun();
    CHECK(error_of(socket.receive()) == ENOBUFS);
    CHECK(is_none(socket.receive()));
    // as long as anything is queued, the kernel drops all that is new
    kernel.send_one();
    CHECK(must_find(socket.receive()).empty());
}

TEST_CASE("a monitor of udev that lost events says so once, and hears what comes after that",
          "[inventory]")
{
    if (!can_join_groups())
        return;
    auto monitor = must(UdevMonitor::create());
    const SmallSocket udev(monitor.fd());
    udev.overrun();
    CHECK(error_of(monitor.receive()) == ENOBUFS);
    CHECK_FALSE(has_queued(monitor.fd()));
    CHECK(is_none(monitor.receive()));
    udev.send_one();
    CHECK(has_queued(monitor.fd()));
    CHECK(is_none(monitor.receive()));
}

TEST_CASE("that events of the kernel are lost is told once", "[inventory]")
{
    if (!can_join_groups())
        return;
    const auto event = new_event();
    std::optional<SmallSocket> rdma;
    std::optional<SmallSocket> links;
    const auto open = [](std::optional<SmallSocket>& kernel) {
        // any real one will do, as it is replaced
        auto socket = must(EventSocket::of_links());
        kernel.emplace(socket.fd());
        return Result<EventSocket>(std::move(socket));
    };
    int lost = 0;
    int any_link = 0;
    KernelEvents events(event.get(),
                        {.on_device = [](uint32_t) {},
                         .on_netdev = [] {},
                         .on_links = [&](const auto& changed) { any_link += !changed; },
                         .on_devlink = [](const auto&) {},
                         .on_lost = [&] { lost++; },
                         .on_trouble = [](const Error& error) { FAIL(error.message()); }},
                        {.rdma = [&] { return open(rdma); }, .links = [&] { return open(links); }});
    CapturedKernel kernel("7.2");
    nldev::Client client(kernel);
    events.listen(client);
    REQUIRE((rdma && links));
    const auto hear = [&] {
        while (sd_event_run(event.get(), 0) > 0) {
        }
    };
    hear();
    CHECK(lost + any_link == 0);
    rdma->overrun();
    hear();
    CHECK(lost == 1);
    CHECK(any_link == 0);
    links->overrun();
    hear();
    CHECK(lost == 1);
    CHECK(any_link == 1);
}
