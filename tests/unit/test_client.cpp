// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/nldev/client.hpp"
#include "core/nldev/uapi.hpp"
#include "tests/support/must.hpp"
#include "tests/support/replay_transport.hpp"

#include <cerrno>
#include <linux/netlink.h>

using namespace rdmad;
using namespace rdmad::nldev;
using namespace rdmad::test;

namespace {

Octets answer_of(const std::string& label)
{
    return Capture("7.2").datagram(label);
}

/// An error as the kernel would send it, made of the one it did send.
Octets error_with(int code)
{
    auto datagram = answer_of("device 99");
    put_u32(datagram, header_size, static_cast<uint32_t>(code));
    return datagram;
}

bool has(const std::string& text, const char* part)
{
    return text.find(part) != std::string::npos;
}

struct Bench {
    ReplayTransport transport;
    Client client{transport};
};

} // namespace

TEST_CASE("a device costs one request without an ACK", "[client]")
{
    Bench bench;
    bench.transport.answer(answer_of("device 1"));
    CHECK(must_find(bench.client.device(1)).name == "opa");
    REQUIRE(bench.transport.sent().size() == 1);
    const auto& request = bench.transport.sent()[0];
    CHECK(request.command == RDMA_NLDEV_CMD_GET);
    CHECK(request.flags == NLM_F_REQUEST);
    CHECK(request.index == 1U);
    CHECK_FALSE(request.port.has_value());
    CHECK(bench.transport.unread() == 0);
}

TEST_CASE("requests have different sequence numbers, and none has that of events", "[client]")
{
    Bench bench;
    for (int i = 0; i < 3; i++) {
        bench.transport.answer(answer_of("device 1"));
        must_find(bench.client.device(1));
    }
    const auto& sent = bench.transport.sent();
    CHECK(sent[0].sequence != sent[1].sequence);
    CHECK(sent[1].sequence != sent[2].sequence);
    for (const auto& request : sent)
        CHECK(request.sequence != 0);
}

TEST_CASE("what another process sends is ignored", "[client]")
{
    Bench bench;
    SECTION("a false answer")
    {
        bench.transport.answer(
            {{.bytes = answer_of("device 1"), .sender = 4242}, {.bytes = answer_of("device 0")}});
    }
    SECTION("a false error")
    {
        bench.transport.answer(
            {{.bytes = error_with(-EPERM), .sender = 1}, {.bytes = answer_of("device 0")}});
    }
    SECTION("rubbish")
    {
        bench.transport.answer(
            {{.bytes = octets("rubbish"), .sender = 1}, {.bytes = answer_of("device 0")}});
    }
    SECTION("a flood that does not fit")
    {
        bench.transport.answer({{.bytes = octets("rubbish"), .sender = 1, .truncated = true},
                                {.bytes = answer_of("device 0")}});
    }
    CHECK(must_find(bench.client.device(0)).name == "mixed");
}

TEST_CASE("if nobody but a stranger answers there is no answer", "[client]")
{
    Bench bench;
    bench.transport.answer({{.bytes = answer_of("device 0"), .sender = 4242}});
    CHECK(error_of(bench.client.device(0)) == ENODATA);
}

TEST_CASE("an answer to another question is ignored", "[client]")
{
    Bench bench;
    const uint32_t wrong = GENERATE(0U, 77U, 0xffffffffU);
    SECTION("a device")
    {
        bench.transport.answer({{.bytes = answer_of("device 1"), .sequence = wrong},
                                {.bytes = answer_of("device 0")}});
    }
    SECTION("an error")
    {
        bench.transport.answer(
            {{.bytes = error_with(-EPERM), .sequence = wrong}, {.bytes = answer_of("device 0")}});
    }
    SECTION("the end of a dump")
    {
        const auto done = Capture("7.2").datagrams("dump").back();
        bench.transport.answer(
            {{.bytes = done, .sequence = wrong}, {.bytes = answer_of("device 0")}});
    }
    CHECK(must_find(bench.client.device(0)).name == "mixed");
}

TEST_CASE("a truncated datagram is refused", "[client]")
{
    Bench bench;
    bench.transport.answer(
        {{.bytes = answer_of("device 0"), .truncated = true}, {.bytes = answer_of("device 0")}});
    CHECK(error_of(bench.client.device(0)) == EMSGSIZE);
}

TEST_CASE("a datagram that is no netlink message is refused", "[client]")
{
    Bench bench;
    auto datagram = answer_of("device 0");
    put_u32(datagram, 0, GENERATE(0U, 15U, 60000U));
    bench.transport.answer(datagram);
    CHECK(error_of(bench.client.device(0)) == EBADMSG);
}

TEST_CASE("an answer that is malformed is refused", "[client]")
{
    Bench bench;
    auto datagram = answer_of("device 0");
    put_u16(datagram, find_attribute(datagram, RDMA_NLDEV_ATTR_DEV_INDEX) + 2, 300);
    bench.transport.answer(datagram);
    CHECK(error_of(bench.client.device(0)) == EBADMSG);
}

TEST_CASE("an empty datagram does no harm", "[client]")
{
    Bench bench;
    bench.transport.answer(std::vector<Octets>{{}, answer_of("device 0")});
    CHECK(must_find(bench.client.device(0)).name == "mixed");
}

TEST_CASE("a missing device is none, on every kernel", "[client]")
{
    const auto kernel = GENERATE(from_range(kernels()));
    CapturedKernel transport(kernel);
    Client client(transport);
    CHECK(is_none(client.device(99)));
    CHECK(is_none(client.port(0, 9)));
    CHECK(is_none(client.char_device("issm", 0, 1)));
}

TEST_CASE("a device on its way out is none", "[client]")
{
    Bench bench;
    bench.transport.answer(error_with(-ENODEV));
    CHECK(is_none(bench.client.device(0)));
}

TEST_CASE("the kernel's errno value is kept", "[client]")
{
    Bench bench;
    const int code = GENERATE(EPERM, ENFILE, ENOBUFS, ENOMEM, EADDRINUSE, EEXIST);
    bench.transport.answer(error_with(-code));
    CHECK(error_of(bench.client.device(0)) == code);
}

TEST_CASE("the kernel's words are kept", "[client]")
{
    const auto kernel = GENERATE(from_range(kernels()));
    Bench bench;
    // a question to which EINVAL is no answer
    bench.transport.answer(Capture(kernel).datagram("device with a short index"));
    const auto monitor = bench.client.has_monitor();
    REQUIRE_FALSE(monitor.has_value());
    CHECK(monitor.error().code == EINVAL);
    CHECK(has(monitor.error().message(), "Attribute failed policy validation"));
}

TEST_CASE("a positive error code is no success", "[client]")
{
    Bench bench;
    bench.transport.answer(error_with(GENERATE(EINVAL, ENODEV, 1)));
    CHECK(error_of(bench.client.device(0)) == EBADMSG);
}

TEST_CASE("success without an answer is an error", "[client]")
{
    Bench bench;
    bench.transport.answer(error_with(0));
    SECTION("a device")
    {
        CHECK(error_of(bench.client.device(0)) == ENODATA);
    }
    SECTION("the system")
    {
        CHECK(error_of(bench.client.has_monitor()) == ENODATA);
    }
}

TEST_CASE("no answer at all is an error", "[client]")
{
    Bench bench;
    CHECK(error_of(bench.client.device(0)) == ENODATA);
    CHECK(error_of(bench.client.devices()) == ENODATA);
}

TEST_CASE("lost answers are an error that says so", "[client]")
{
    Bench bench;
    bench.transport.answer({Reply{.error = ENOBUFS}});
    CHECK(error_of(bench.client.devices()) == ENOBUFS);
}

TEST_CASE("a request that cannot be sent is an error", "[client]")
{
    Bench bench;
    bench.transport.fail_next_send(EPERM);
    CHECK(error_of(bench.client.device(0)) == EPERM);
}

TEST_CASE("a port is answered with the type of a device, and taken", "[client]")
{
    const auto kernel = GENERATE(from_range(kernels()));
    const Capture capture(kernel);
    // fill_nldev_handle() of nldev_port_get_doit(): 5121, as the capture shows
    REQUIRE(get_u16(capture.datagram("port 0/2"), 4) == uapi::message_type(RDMA_NLDEV_CMD_GET));
    CapturedKernel transport(kernel);
    Client client(transport);
    const auto port = must_find(client.port(0, 2));
    CHECK(port.port == 2);
    CHECK(port.netdev == std::optional<std::string>("dummy0"));
    CHECK(transport.sent()[0].command == RDMA_NLDEV_CMD_PORT_GET);
    CHECK(transport.sent()[0].port == 2U);
}

TEST_CASE("the node of a port is asked for by its kind", "[client]")
{
    CapturedKernel transport(GENERATE(from_range(kernels())));
    Client client(transport);
    CHECK(must_find(client.char_device("umad", 0, 2)).name == "umad1");
    CHECK(must_find(client.char_device("uverbs", 0)).name == "uverbs0");
    CHECK(transport.sent()[0].char_device == "umad");
    CHECK(transport.sent()[0].port == 2U);
    CHECK(transport.sent()[1].char_device == "uverbs");
    CHECK_FALSE(transport.sent()[1].port.has_value());
}

TEST_CASE("the system tells of its monitor", "[client]")
{
    const auto kernel = GENERATE(from_range(kernels()));
    CapturedKernel transport(kernel);
    Client client(transport);
    CHECK(must(client.has_monitor()) == (kernel != "6.1"));
}

TEST_CASE("a dump lists all devices", "[client]")
{
    CapturedKernel transport(GENERATE(from_range(kernels())));
    Client client(transport);
    const auto devices = must(client.devices());
    std::vector<std::string> names;
    for (const auto& [index, device] : devices)
        names.push_back(std::to_string(index) + " " + device.name);
    CHECK(names == std::vector<std::string>{"0 mixed", "1 opa", "2 rxe", "3 siw"});
    CHECK(transport.unread() == 0);
    CHECK(transport.dumps() == 1);
}

TEST_CASE("a malformed device in a dump is an error, and the rest is read", "[client]")
{
    Bench bench;
    auto dump = Capture("7.2").datagrams("dump");
    put_u16(dump[1], find_attribute(dump[1], RDMA_NLDEV_ATTR_DEV_NAME) + 2, 300);
    bench.transport.answer(dump);
    CHECK(error_of(bench.client.devices()) == EBADMSG);
    CHECK(bench.transport.unread() == 0);
}

TEST_CASE("the error inside of DONE is seen", "[client]")
{
    const auto kernel = GENERATE(from_range(kernels()));
    Bench bench;
    bench.transport.answer(Capture(kernel).datagram("port dump without index"));
    CHECK(error_of(bench.client.devices()) == EINVAL);
}

TEST_CASE("a dump in fewer datagrams is read as well", "[client]")
{
    // other netlink families do it; RDMA's sends one device in each
    Octets joined;
    const auto dump = Capture("7.2").datagrams("dump");
    for (const auto& datagram : dump) {
        joined.insert(joined.end(), datagram.begin(), datagram.end());
        joined.resize((joined.size() + 3) / 4 * 4);
    }
    Bench bench;
    bench.transport.answer(joined);
    CHECK(must(bench.client.devices()).size() == 4);
}

TEST_CASE("contexts of one device are counted", "[client]")
{
    const auto kernel = GENERATE(from_range(kernels()));
    Bench bench;
    bench.transport.answer(Capture(kernel).datagrams("resources 2"));
    bench.transport.answer(Capture(kernel).datagrams("resources 99"));
    CHECK(must(bench.client.contexts(2)) == 2);
    CHECK(must(bench.client.contexts(99)) == 0);
    const auto& request = bench.transport.sent()[0];
    CHECK(request.command == RDMA_NLDEV_CMD_RES_GET);
    CHECK((request.flags & NLM_F_DUMP) == 0);
    CHECK(request.index == 2U);
    bench.transport.answer(error_with(-EPERM));
    CHECK(error_of(bench.client.contexts(2)) == EPERM);
}

TEST_CASE("ends of connections are dumped for one device", "[client]")
{
    const auto kernel = GENERATE(from_range(kernels()));
    Bench bench;
    bench.transport.answer(Capture(kernel).datagrams("cm ids 2"));
    bench.transport.answer(Capture(kernel).datagrams("cm ids 0"));
    bench.transport.answer(Capture(kernel).datagrams("cm ids 99"));
    CHECK(must(bench.client.cm_ids(2)).size() == 5);
    CHECK(must(bench.client.cm_ids(0)).empty());
    // a device that is not there, or not any more
    CHECK(must(bench.client.cm_ids(99)).empty());
    CHECK(bench.transport.unread() == 0);
    const auto& request = bench.transport.sent()[0];
    CHECK(request.command == RDMA_NLDEV_CMD_RES_CM_ID_GET);
    CHECK((request.flags & NLM_F_DUMP) == NLM_F_DUMP);
    CHECK(request.index == 2U);
    bench.transport.answer(error_with(-EPERM));
    CHECK(error_of(bench.client.cm_ids(2)) == EPERM);
}
