// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/unique_fd.hpp"
#include "core/nldev/uapi.hpp"
#include "daemon/inventory/kernel_events.hpp"
#include "tests/support/captures.hpp"
#include "tests/support/must.hpp"
#include "tests/support/replay_transport.hpp"
#include "tests/support/varlink_client.hpp"

#include <cerrno>
#include <future>
#include <net/if.h>
#include <rdma/rdma_netlink.h>
#include <sched.h>
#include <sys/ioctl.h>

using namespace rdmad;
using namespace rdmad::test;

namespace {

constexpr uint32_t loopback = 1; // the index that it has in each network namespace

/// A datagram that is both.
Octets joined(Octets first, const Octets& second)
{
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

/// A network namespace whose loopback device is down. Two sockets listen there.
struct Network {
    Result<EventSocket> links;
    Result<EventSocket> more_links;
    UniqueFd control;

    void set_loopback(short flags) const
    {
        ifreq request = {};
        std::string_view("lo").copy(request.ifr_name, IFNAMSIZ - 1);
        request.ifr_flags = flags;
        REQUIRE(ioctl(control.get(), SIOCSIFFLAGS, &request) == 0);
    }
};

/// Returns nullopt where this process may not make one. A thread alone enters it, and leaves the
/// sockets.
std::optional<Network> make_network()
{
    auto made = std::async(std::launch::async, []() -> std::optional<Network> {
        if (unshare(CLONE_NEWNET) < 0)
            return std::nullopt;
        return Network{EventSocket::of_links(), EventSocket::of_links(),
                       UniqueFd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0))};
    });
    auto network = made.get();
    if (!network)
        WARN("only who may make network namespaces can test this");
    return network;
}

} // namespace

TEST_CASE("a datagram tells of all devices that it has messages about", "[inventory]")
{
    // a notification begins as the answer to a question about a device, but for the type
    auto device = Capture("7.2").datagram("device 3");
    put_u16(device, 4, nldev::uapi::message_type(nldev::uapi::command_monitor));
    auto nameless = device;
    put_u16(nameless, find_attribute(nameless, RDMA_NLDEV_ATTR_DEV_INDEX) + 2, 300);
    const auto answer = Capture("7.2").datagram("device 0");
    const auto notifications = notifications_in(joined(joined(device, answer), nameless));
    REQUIRE(notifications.size() == 2);
    CHECK(notifications[0].device_index == 3U);
    CHECK_FALSE(notifications[1].device_index.has_value());
    // what is cut is lost, and nothing before it
    device.pop_back();
    CHECK(notifications_in(device).empty());
    CHECK(notifications_in(joined(nameless, device)).size() == 1);
    CHECK(notifications_in({}).empty());
}

TEST_CASE("the kernel tells of network devices that change", "[inventory]")
{
    auto network = make_network();
    if (!network)
        return;
    auto links = must(std::move(network->links));
    CHECK(is_none(links.receive()));
    network->set_loopback(IFF_UP);
    std::set<uint32_t> changed;
    for (auto datagram = must(links.receive()); datagram; datagram = must(links.receive()))
        changed.merge(links_in(*datagram));
    CHECK(changed == std::set{loopback});
    // none of them is one of RDMA or of devlink
    network->set_loopback(0);
    const auto datagram = must_find(links.receive());
    CHECK(notifications_in(datagram).empty());
    CHECK(devlink_notices_in(datagram).empty());
}

TEST_CASE("events of the kernel are called back for until that ends", "[inventory]")
{
    auto network = make_network();
    if (!network)
        return;
    const auto event = new_event();
    std::set<uint32_t> changed;
    std::vector<std::string> others; // that nothing tells of
    KernelEvents events(
        event.get(),
        {.on_device = [&](uint32_t index) { others.push_back("device " + std::to_string(index)); },
         .on_netdev = [&] { others.emplace_back("network device of RDMA"); },
         .on_links = [&](const auto& links) { changed.insert(links->begin(), links->end()); },
         .on_devlink = [](const auto&) {},
         .on_lost = [&] { others.emplace_back("lost"); },
         .on_trouble = [&](const Error& error) { others.push_back(error.message()); }},
        // the one for RDMA hears what is none of it
        {.rdma = [&] { return std::move(network->more_links); },
         .links = [&] { return std::move(network->links); }});
    CapturedKernel kernel("7.2");
    nldev::Client client(kernel);
    events.listen(client);
    events.listen(client);
    const auto hear = [&] {
        while (sd_event_run(event.get(), 0) > 0) {
        }
        return std::exchange(changed, {});
    };
    CHECK(hear().empty());
    network->set_loopback(IFF_UP);
    CHECK(hear() == std::set{loopback});
    events.end();
    network->set_loopback(0);
    CHECK(hear().empty());
    CHECK(others.empty());
}

TEST_CASE("a socket that cannot be opened is told, and tried again", "[inventory]")
{
    const auto event = new_event();
    std::vector<std::string> troubles;
    int opened = 0;
    bool has_some = false;
    KernelEvents events(
        event.get(),
        {.on_device = [](uint32_t) {},
         .on_netdev = [] {},
         .on_links = [](const auto&) {},
         .on_devlink = [](const auto&) {},
         .on_lost = [] {},
         .on_trouble = [&](const Error& error) { troubles.push_back(error.context); }},
        {.rdma = EventSocket::of_links, .links = [&]() -> Result<EventSocket> {
             opened++;
             if (has_some)
                 return EventSocket::of_links();
             return fail(EMFILE, "events of network devices");
         }});
    CapturedKernel kernel("7.2");
    nldev::Client client(kernel);
    events.listen(client);
    CHECK(troubles == std::vector<std::string>{"events of network devices"});
    has_some = true;
    for (int i = 0; i < 2; i++)
        events.listen(client);
    CHECK(troubles.size() == 1);
    CHECK(opened == 2);
}
