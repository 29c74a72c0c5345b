// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/nldev/uapi.hpp"
#include "core/nldev/wire.hpp"
#include "tests/support/captures.hpp"
#include "tests/support/guarded_bytes.hpp"
#include "tests/support/must.hpp"

#include <cerrno>
#include <linux/netlink.h>
#include <set>

using namespace rdmad;
using namespace rdmad::nldev;
using namespace rdmad::test;

namespace {

/// The one message of a datagram, read from memory that ends where the datagram ends.
wire::Message message_in(wire::Bytes datagram)
{
    auto message = must(wire::take_message(datagram));
    CHECK(datagram.empty());
    return message;
}

template <typename Parse>
auto parse_guarded(const Octets& datagram, Parse parse)
{
    const GuardedBytes guarded(datagram);
    return parse(message_in(guarded.bytes()).payload);
}

/// What the comments of the capture, tests/vm/capture and tests/kmod/rdma_mock.c say of a device.
struct KnownDevice {
    uint32_t index;
    const char* name;
    uint32_t ports;
    std::optional<uint64_t> guid; ///< none: from the random MAC address of a dummy netdev
    uint8_t node_type;            ///< enum rdma_node_type: 1 CA, 4 RNIC
    const char* protocol;
    std::optional<std::string> firmware;
    uint8_t name_assign_type; ///< 1: "rdma link add" chose the name
};

const KnownDevice known_devices[] = {
    {0, "mixed", 2, UINT64_C(0x0002c90300000a00), 1, "ib", "1.2.3", 0},
    {1, "opa", 1, UINT64_C(0x0011750101000000), 1, "opa", "1.2.3", 0},
    {2, "rxe", 1, {}, 1, "roce", {}, 1},
    {3, "siw", 1, {}, 4, "iw", {}, 1},
};

void check_device(const Device& device, const KnownDevice& known, bool has_assign_type)
{
    CHECK(device.index == known.index);
    CHECK(device.name == known.name);
    CHECK(device.port_count == known.ports);
    CHECK(device.node_type == known.node_type);
    CHECK(device.protocol == std::optional<std::string>(known.protocol));
    CHECK(device.fw_version == known.firmware);
    CHECK_FALSE(device.device_type.has_value());
    CHECK_FALSE(device.parent_name.has_value());
    CHECK(device.name_assign_type.has_value() == has_assign_type);
    CHECK(device.name_assign_type.value_or(known.name_assign_type) == known.name_assign_type);
    if (known.guid) {
        CHECK(device.node_guid == *known.guid);
        CHECK(device.sys_image_guid == *known.guid);
    } else {
        // an EUI-64 made of a MAC address has ff:fe in its middle
        CHECK((device.node_guid >> 24 & 0xffff) == 0xfffe);
    }
}

/// 6.11 brought the attribute.
bool has_assign_type(const std::string& kernel)
{
    return kernel != "6.1";
}

/// The end of each attribute, with and without its padding: where a cut leaves a list of whole
/// attributes.
bool is_attribute_end(const Octets& datagram, size_t cut)
{
    size_t at = header_size;
    while (at < datagram.size()) {
        if (cut == at)
            return true;
        const size_t end = at + get_u16(datagram, at);
        at += (get_u16(datagram, at) + 3U) / 4 * 4;
        if (cut >= end && cut <= at)
            return true;
    }
    return cut == at;
}

void parse_with_everything(const wire::Message& message)
{
    // any outcome but reading elsewhere; a value must be a sound one
    if (const auto device = wire::parse_device(message.payload); device)
        CHECK_FALSE(device->name.empty());
    if (const auto node = wire::parse_char_device(message.payload); node)
        CHECK_FALSE(node->name.empty());
    [[maybe_unused]] const auto port = wire::parse_port(message.payload);
    [[maybe_unused]] const auto monitor = wire::parse_monitor_mode(message.payload);
    [[maybe_unused]] const auto ids = wire::parse_cm_ids(message.payload);
    [[maybe_unused]] const auto contexts = wire::parse_contexts(message.payload);
    [[maybe_unused]] const auto notification = wire::parse_notification(message.payload);
    for (const auto type : {uint16_t{NLMSG_ERROR}, uint16_t{NLMSG_DONE}}) {
        wire::Message status = message;
        status.type = type;
        if (const auto parsed = wire::parse_status(status); parsed)
            CHECK(parsed->error >= 0);
    }
}

template <typename Visit>
void each_datagram(Visit visit)
{
    for (const auto& kernel : kernels()) {
        const Capture capture(kernel);
        for (const auto& [label, datagrams] : capture.all())
            for (const auto& datagram : datagrams) {
                INFO(kernel << ", " << label);
                visit(datagram);
            }
    }
}

} // namespace

TEST_CASE("the devices of three kernels are what they were made to be", "[wire]")
{
    const auto kernel = GENERATE(from_range(kernels()));
    const Capture capture(kernel);
    for (const auto& known : known_devices) {
        const auto label = "device " + std::to_string(known.index);
        INFO(kernel << ", " << label);
        check_device(must(parse_guarded(capture.datagram(label), wire::parse_device)), known,
                     has_assign_type(kernel));
    }
}

TEST_CASE("a dump has one device in each datagram and ends in DONE", "[wire]")
{
    const auto kernel = GENERATE(from_range(kernels()));
    const auto dump = Capture(kernel).datagrams("dump");
    REQUIRE(dump.size() == 5);
    for (const auto& known : known_devices) {
        INFO(kernel << ", device " << known.index);
        check_device(must(parse_guarded(dump[known.index], wire::parse_device)), known,
                     has_assign_type(kernel));
    }
    const auto done = message_in(dump[4]);
    CHECK(done.type == NLMSG_DONE);
    CHECK((done.flags & NLM_F_MULTI) != 0);
    CHECK(must(wire::parse_status(done)).error == 0);
}

TEST_CASE("how many contexts processes have of a device is told", "[wire]")
{
    const Capture capture(GENERATE(from_range(kernels())));
    // tests/vm/capture: one process opened device 2 twice
    CHECK(must(parse_guarded(capture.datagram("resources 2"), wire::parse_contexts)) == 2);
    CHECK(must(parse_guarded(capture.datagram("resources 0"), wire::parse_contexts)) == 0);
    // the kernel counts other things as well
    auto datagram = capture.datagram("resources 2");
    put_u16(datagram, find_attribute(datagram, RDMA_NLDEV_ATTR_RES_SUMMARY) + 2, 300);
    CHECK(must(parse_guarded(datagram, wire::parse_contexts)) == 0);
}

TEST_CASE("who waits for connections, and who has some, is told", "[wire]")
{
    const Capture capture(GENERATE(from_range(kernels())));
    const auto dump = capture.datagrams("cm ids 2");
    REQUIRE(dump.size() == 2);
    const auto ids = must(parse_guarded(dump[0], wire::parse_cm_ids));
    // tests/vm/capture: a target at that address, and one host that is connected to it by a queue
    // for administration and one for data
    const auto target = parse_socket_address("192.0.2.9:4420");
    size_t listening = 0;
    std::multiset<std::string> connected;
    for (const auto& id : ids) {
        if (id.state == CmId::listening) {
            listening++;
            CHECK(id.kernel_user == "nvmet_rdma");
            CHECK(id.source == target);
        } else {
            connected.insert(id.kernel_user);
            REQUIRE(id.source);
            CHECK((id.source->port == 4420) == (id.kernel_user == "nvmet_rdma"));
        }
    }
    CHECK(listening == 1);
    CHECK(connected ==
          std::multiset<std::string>{"nvme_rdma", "nvme_rdma", "nvmet_rdma", "nvmet_rdma"});
    CHECK(message_in(dump[1]).type == NLMSG_DONE);
    // one of a process has no such attribute
    auto with_process = dump[0];
    constexpr uint16_t size = sizeof(nlattr) + sizeof("nvmet_rdma");
    size_t name = 0;
    while (get_u16(with_process, name) != size ||
           get_u16(with_process, name + 2) != RDMA_NLDEV_ATTR_RES_KERN_NAME)
        name += 4;
    put_u16(with_process, name + 2, 300);
    CHECK(must(parse_guarded(with_process, wire::parse_cm_ids)).size() == ids.size() - 1);
    REQUIRE(capture.datagrams("cm ids 0").size() == 1);
    CHECK(message_in(capture.datagram("cm ids 0")).type == NLMSG_DONE);
}

TEST_CASE("InfiniBand and OPA ports have a LID and a prefix, and no network device", "[wire]")
{
    const Capture capture(GENERATE(from_range(kernels())));
    // rdma_mock numbers LIDs from 1 in order of ports
    const auto [label, lid] =
        GENERATE(table<std::string, uint32_t>({{"port 0/1", 1}, {"port 1/1", 2}}));
    const auto port = must(parse_guarded(capture.datagram(label), wire::parse_port));
    CHECK(port.port == 1);
    CHECK(port.state == uint8_t{4}); // IB_PORT_ACTIVE
    CHECK(port.lid == lid);
    CHECK_FALSE(port.netdev.has_value());
    CHECK_FALSE(port.netdev_index.has_value());
}

TEST_CASE("RoCE and iWARP ports have a network device, and no LID", "[wire]")
{
    const Capture capture(GENERATE(from_range(kernels())));
    using Row = std::tuple<std::string, uint32_t, std::string>;
    const auto [label, number, netdev] = GENERATE(
        Row{"port 0/2", 2, "dummy0"}, Row{"port 2/1", 1, "dummy1"}, Row{"port 3/1", 1, "dummy2"});
    const auto port = must(parse_guarded(capture.datagram(label), wire::parse_port));
    CHECK(port.port == number);
    CHECK(port.netdev == netdev);
    // dummy0 and the others were made one after the other, and the kernel numbers them so
    const auto first = must(parse_guarded(capture.datagram("port 0/2"), wire::parse_port));
    CHECK(port.netdev_index.value() - first.netdev_index.value() ==
          static_cast<uint32_t>(netdev.back() - '0'));
    CHECK_FALSE(port.lid.has_value());
}

TEST_CASE("a character device has a name", "[wire]")
{
    const Capture capture(GENERATE(from_range(kernels())));
    using Row = std::tuple<std::string, std::string>;
    const auto [label, name] =
        GENERATE(Row{"uverbs 0", "uverbs0"}, Row{"umad 0/2", "umad1"}, Row{"umad 2/1", "umad3"});
    const auto node = must(parse_guarded(capture.datagram(label), wire::parse_char_device));
    CHECK(node.name == name);
    // rdma_mock pretends to be rxe
    CHECK(node.driver_id == (label == "uverbs 0" ? std::optional<uint32_t>(14) : std::nullopt));
}

TEST_CASE("the monitor is told of since Linux 6.12", "[wire]")
{
    const auto kernel = GENERATE(from_range(kernels()));
    CHECK(must(parse_guarded(Capture(kernel).datagram("system"), wire::parse_monitor_mode)) ==
          (kernel != "6.1"));
}

TEST_CASE("a refusal has the kernel's errno value", "[wire]")
{
    const Capture capture(GENERATE(from_range(kernels())));
    const auto [label, code] =
        GENERATE(table<std::string, int>({{"device 99", EINVAL},
                                          {"device without index", EINVAL},
                                          {"device with a short index", EINVAL},
                                          {"port 0/9", EINVAL},
                                          {"issm 0/1", EOPNOTSUPP}}));
    const auto message = message_in(capture.datagram(label));
    CHECK(message.type == NLMSG_ERROR);
    CHECK(must(wire::parse_status(message)).error == code);
}

TEST_CASE("the error of a refused dump is inside of its DONE", "[wire]")
{
    const auto datagram =
        Capture(GENERATE(from_range(kernels()))).datagram("port dump without index");
    const auto message = message_in(datagram);
    CHECK(message.type == NLMSG_DONE);
    CHECK(must(wire::parse_status(message)).error == EINVAL);
}

TEST_CASE("the words of an extended ACK are kept", "[wire]")
{
    // nla_validate_type() in lib/nlattr.c says this
    const auto datagram =
        Capture(GENERATE(from_range(kernels()))).datagram("device with a short index");
    const GuardedBytes guarded(datagram);
    CHECK(must(wire::parse_status(message_in(guarded.bytes()))).text ==
          "Attribute failed policy validation");
}

TEST_CASE("an extended ACK that is broken keeps the code", "[wire]")
{
    auto datagram = Capture("7.2").datagram("device with a short index");
    SECTION("the request inside claims more bytes than there are")
    {
        put_u32(datagram, header_size + 4, GENERATE(200U, 0x7fffffffU, 0xfffffff0U, 0xffffffffU));
    }
    SECTION("the message ends within the copy of the request")
    {
        datagram.resize(header_size + GENERATE(4U, 8U, 19U, 20U, 22U));
        put_u32(datagram, 0, static_cast<uint32_t>(datagram.size()));
    }
    SECTION("the words have no NUL at the end")
    {
        // 4 of the code, 24 of the request, 4 of the attribute's header, 34 letters
        datagram.at(header_size + 4 + 24 + 4 + 34) = std::byte{'x'};
    }
    const GuardedBytes guarded(datagram);
    const auto status = must(wire::parse_status(message_in(guarded.bytes())));
    CHECK(status.error == EINVAL);
    CHECK(status.text.empty());
}

TEST_CASE("a capped extended ACK has its words right behind the request's header", "[wire]")
{
    // what NETLINK_CAP_ACK makes of it: the payload of the request, 8 bytes here, is left out
    auto datagram = Capture("6.12").datagram("device with a short index");
    const auto payload = datagram.begin() + header_size + 4 + 16;
    datagram.erase(payload, payload + 8);
    put_u32(datagram, 0, static_cast<uint32_t>(datagram.size()));
    put_u16(datagram, 6, get_u16(datagram, 6) | 0x100); // NLM_F_CAPPED
    const auto status = must(wire::parse_status(message_in(datagram)));
    CHECK(status.error == EINVAL);
    CHECK(status.text == "Attribute failed policy validation");
}

TEST_CASE("an error code that is no negative errno is refused", "[wire]")
{
    auto datagram = Capture("7.2").datagram("device 99");
    const auto code = GENERATE(1, 22, 0x7fffffff, -4096, -0x7fffffff - 1);
    CAPTURE(code);
    put_u32(datagram, header_size, static_cast<uint32_t>(code));
    CHECK(error_of(wire::parse_status(message_in(datagram))) == EBADMSG);
}

TEST_CASE("a positive number in DONE is no error", "[wire]")
{
    auto datagram = Capture("7.2").datagrams("dump").back();
    put_u32(datagram, header_size, 4);
    CHECK(must(wire::parse_status(message_in(datagram))).error == 0);
}

TEST_CASE("a status without a code is refused, but for an empty DONE", "[wire]")
{
    auto datagram = Capture("7.2").datagrams("dump").back();
    const size_t size = GENERATE(0U, 1U, 2U, 3U);
    const auto type = GENERATE(NLMSG_ERROR, NLMSG_DONE);
    datagram.resize(header_size + size);
    put_u32(datagram, 0, static_cast<uint32_t>(datagram.size()));
    put_u16(datagram, 4, static_cast<uint16_t>(type));
    const GuardedBytes guarded(datagram);
    const auto status = wire::parse_status(message_in(guarded.bytes()));
    CHECK(error_of(status) == (size == 0 && type == NLMSG_DONE ? 0 : EBADMSG));
}

TEST_CASE("a datagram that is cut off anywhere is refused", "[wire]")
{
    each_datagram([](const Octets& datagram) {
        // some have another message behind the first
        for (size_t size = 0; size < get_u32(datagram, 0); size++) {
            const GuardedBytes guarded(wire::Bytes(datagram).first(size));
            auto rest = guarded.bytes();
            CAPTURE(size);
            CHECK(error_of(wire::take_message(rest)) == EBADMSG);
        }
    });
}

TEST_CASE("a message that is cut off anywhere gives an error or a sound value", "[wire]")
{
    each_datagram([](const Octets& datagram) {
        for (size_t size = header_size; size <= datagram.size(); size++) {
            Octets cut(datagram.begin(), datagram.begin() + static_cast<std::ptrdiff_t>(size));
            put_u32(cut, 0, static_cast<uint32_t>(size));
            const GuardedBytes guarded(cut);
            CAPTURE(size);
            parse_with_everything(message_in(guarded.bytes()));
        }
    });
}

TEST_CASE("a device is refused if it is cut within an attribute", "[wire]")
{
    const auto datagram = Capture(GENERATE(from_range(kernels()))).datagram("device 0");
    for (size_t size = header_size; size <= datagram.size(); size++) {
        Octets cut(datagram.begin(), datagram.begin() + static_cast<std::ptrdiff_t>(size));
        put_u32(cut, 0, static_cast<uint32_t>(size));
        const auto device = wire::parse_device(message_in(cut).payload);
        CAPTURE(size);
        if (!is_attribute_end(datagram, size))
            CHECK(error_of(device) == EBADMSG);
        else if (size >= find_attribute(datagram, RDMA_NLDEV_ATTR_PORT_INDEX))
            CHECK(must(device).name == "mixed"); // index and name come first
    }
}

TEST_CASE("any byte of a message may be wrong", "[wire]")
{
    each_datagram([](const Octets& datagram) {
        for (size_t at = 0; at < datagram.size(); at++)
            for (const auto value : {0x00, 0x01, 0x03, 0x7f, 0x80, 0xff}) {
                auto wrong = datagram;
                wrong[at] = static_cast<std::byte>(value);
                const GuardedBytes guarded(wrong);
                auto rest = guarded.bytes();
                if (const auto message = wire::take_message(rest); message)
                    parse_with_everything(*message);
            }
    });
}

TEST_CASE("a message's length is neither below its header nor beyond the datagram", "[wire]")
{
    auto datagram = Capture("7.2").datagram("device 0");
    const auto size = static_cast<uint32_t>(datagram.size());
    const uint32_t length =
        GENERATE_COPY(0U, 1U, 15U, size + 1, size + 4, 0x80000000U, 0xffffffffU);
    CAPTURE(length);
    put_u32(datagram, 0, length);
    wire::Bytes rest(datagram);
    CHECK(error_of(wire::take_message(rest)) == EBADMSG);
}

TEST_CASE("messages of one datagram come one after the other", "[wire]")
{
    const Capture capture("7.2");
    auto datagram = capture.datagram("device 3");
    datagram.resize((datagram.size() + 3) / 4 * 4);
    const auto done = capture.datagrams("dump").back();
    datagram.insert(datagram.end(), done.begin(), done.end());
    wire::Bytes rest(datagram);
    CHECK(must(wire::parse_device(must(wire::take_message(rest)).payload)).name == "siw");
    CHECK(must(wire::take_message(rest)).type == NLMSG_DONE);
    CHECK(rest.empty());
}

TEST_CASE("the last message of a datagram may lack its padding", "[wire]")
{
    auto datagram = Capture("7.2").datagram("port 0/2");
    // the last attribute is the network device's name
    const size_t netdev = find_attribute(datagram, RDMA_NLDEV_ATTR_NDEV_NAME);
    datagram.resize(netdev + get_u16(datagram, netdev));
    REQUIRE(datagram.size() % 4 != 0);
    put_u32(datagram, 0, static_cast<uint32_t>(datagram.size()));
    CHECK(must(parse_guarded(datagram, wire::parse_port)).netdev ==
          std::optional<std::string>("dummy0"));
}

TEST_CASE("an unknown attribute is skipped", "[wire]")
{
    auto datagram = Capture(GENERATE(from_range(kernels()))).datagram("device 0");
    append_attribute(datagram, GENERATE(uint16_t{300}, uint16_t{0x3fff}),
                     octets(GENERATE("", "x", "twelve bytes")));
    check_device(
        must(parse_guarded(datagram, wire::parse_device)), known_devices[0],
        must(wire::parse_device(message_in(datagram).payload)).name_assign_type.has_value());
}

TEST_CASE("a known attribute of the wrong length is refused", "[wire]")
{
    auto datagram = Capture("7.2").datagram("device 0");
    const uint16_t type =
        GENERATE(uint16_t{RDMA_NLDEV_ATTR_DEV_INDEX}, uint16_t{RDMA_NLDEV_ATTR_PORT_INDEX},
                 uint16_t{RDMA_NLDEV_ATTR_NODE_GUID}, uint16_t{RDMA_NLDEV_ATTR_SYS_IMAGE_GUID},
                 uint16_t{RDMA_NLDEV_ATTR_DEV_NODE_TYPE}, nldev::uapi::attr_dev_type,
                 nldev::uapi::attr_name_assign_type);
    const auto* value = GENERATE("", "xx", "xxx", "xxxxx", "xxxxxxx", "xxxxxxxxx");
    CAPTURE(type, value);
    append_attribute(datagram, type, octets(value));
    CHECK(error_of(parse_guarded(datagram, wire::parse_device)) == EBADMSG);
}

TEST_CASE("a text without a NUL at its end, or with one inside, is refused", "[wire]")
{
    using namespace std::string_literals;
    auto datagram = Capture("7.2").datagram("device 0");
    const uint16_t type =
        GENERATE(uint16_t{RDMA_NLDEV_ATTR_DEV_NAME}, uint16_t{RDMA_NLDEV_ATTR_FW_VERSION},
                 uint16_t{RDMA_NLDEV_ATTR_DEV_PROTOCOL}, nldev::uapi::attr_parent_name);
    const auto value = GENERATE(""s, "mlx5"s, "mlx5_0x"s, "ml\0x5_0\0"s, "mlx5\0\0"s, "\0\0"s);
    CAPTURE(type, value);
    append_attribute(datagram, type, octets(value));
    CHECK(error_of(parse_guarded(datagram, wire::parse_device)) == EBADMSG);
}

TEST_CASE("of an attribute that comes twice the last one counts", "[wire]")
{
    using namespace std::string_literals;
    auto datagram = Capture("7.2").datagram("device 0");
    append_attribute(datagram, RDMA_NLDEV_ATTR_DEV_NAME, octets("other\0"s));
    append_attribute(datagram, RDMA_NLDEV_ATTR_DEV_INDEX, octets("\x07\0\0\0"s));
    const auto device = must(wire::parse_device(message_in(datagram).payload));
    CHECK(device.name == "other");
    CHECK(device.index == 7);
}

TEST_CASE("bytes behind the last attribute are refused", "[wire]")
{
    auto datagram = Capture("7.2").datagram("device 0");
    datagram.resize(datagram.size() + GENERATE(1U, 2U, 3U), std::byte{1});
    put_u32(datagram, 0, static_cast<uint32_t>(datagram.size()));
    CHECK(error_of(parse_guarded(datagram, wire::parse_device)) == EBADMSG);
}

TEST_CASE("an attribute whose length is below that of its header is refused", "[wire]")
{
    auto datagram = Capture("7.2").datagram("device 0");
    put_u16(datagram, find_attribute(datagram, RDMA_NLDEV_ATTR_NODE_GUID),
            GENERATE(uint16_t{0}, uint16_t{3}));
    CHECK(error_of(parse_guarded(datagram, wire::parse_device)) == EBADMSG);
}

TEST_CASE("what has no index or name is no device", "[wire]")
{
    auto datagram = Capture("7.2").datagram("device 0");
    const uint16_t type =
        GENERATE(uint16_t{RDMA_NLDEV_ATTR_DEV_INDEX}, uint16_t{RDMA_NLDEV_ATTR_DEV_NAME});
    put_u16(datagram, find_attribute(datagram, type) + 2, 300);
    CHECK(error_of(wire::parse_device(message_in(datagram).payload)) == EBADMSG);
    CHECK(error_of(wire::parse_device({})) == EBADMSG);
}

TEST_CASE("what has no number is no port, and what has no name no character device", "[wire]")
{
    CHECK(error_of(wire::parse_port({})) == EBADMSG);
    CHECK(error_of(wire::parse_char_device({})) == EBADMSG);
    // a device has a port count in the attribute that holds a port's number: that is the kernel's
    // doing
    CHECK(error_of(wire::parse_char_device(
              message_in(Capture("7.2").datagram("device 0")).payload)) == EBADMSG);
    CHECK(error_of(wire::parse_port(message_in(Capture("7.2").datagram("uverbs 0")).payload)) ==
          EBADMSG);
}

TEST_CASE("a kernel that says nothing has no monitor", "[wire]")
{
    CHECK_FALSE(must(wire::parse_monitor_mode({})));
}

TEST_CASE("a notification tells of a device, or of none", "[wire]")
{
    // fill_nldev_handle() and fill_mon_netdev_rename() of drivers/infiniband/core/nldev.c: as the
    // answer to a question about a device begins, and without an index
    const Capture capture(GENERATE(from_range(kernels())));
    const auto* label = GENERATE("device 3", "port 3/1");
    CHECK(must(parse_guarded(capture.datagram(label), wire::parse_notification)).device_index ==
          3U);
    auto nameless = capture.datagram(label);
    put_u16(nameless, find_attribute(nameless, RDMA_NLDEV_ATTR_DEV_INDEX) + 2, 300);
    CHECK_FALSE(must(parse_guarded(nameless, wire::parse_notification)).device_index.has_value());
    CHECK_FALSE(must(wire::parse_notification({})).device_index.has_value());
}

TEST_CASE("what rtnetlink tells of a network device or its address names the device", "[wire]")
{
    const Capture capture(GENERATE(from_range(kernels())));
    size_t count = 0;
    for (const auto& [label, datagrams] : capture.all()) {
        if (!label.starts_with("index 5, "))
            continue;
        for (const auto& datagram : datagrams) {
            wire::Bytes bytes = datagram;
            auto message = must(wire::take_message(bytes));
            CHECK(wire::parse_link_index(message) == 5U);
            message.payload = message.payload.first(7);
            CHECK_FALSE(wire::parse_link_index(message).has_value());
            count++;
        }
    }
    // down and up with an IPv6 address each, and an IPv4 address that comes and goes
    CHECK(count == 6);
    for (const auto& datagram : capture.datagrams("device 0")) {
        wire::Bytes bytes = datagram;
        CHECK_FALSE(wire::parse_link_index(must(wire::take_message(bytes))).has_value());
    }
}

TEST_CASE("a notification is refused if it is cut within an attribute", "[wire]")
{
    const auto datagram = Capture("7.2").datagram("device 0");
    for (size_t size = header_size; size <= datagram.size(); size++) {
        Octets cut(datagram.begin(), datagram.begin() + static_cast<std::ptrdiff_t>(size));
        put_u32(cut, 0, static_cast<uint32_t>(size));
        CAPTURE(size);
        const auto notification = parse_guarded(cut, wire::parse_notification);
        if (!is_attribute_end(datagram, size))
            CHECK(error_of(notification) == EBADMSG);
        else
            CHECK(must(notification).device_index.has_value() == (size > header_size));
    }
}

TEST_CASE("a notification whose index has the wrong length is refused", "[wire]")
{
    auto datagram = Capture("7.2").datagram("device 0");
    append_attribute(datagram, RDMA_NLDEV_ATTR_DEV_INDEX,
                     octets(GENERATE("", "xx", "xxx", "xxxxx", "xxxxxxxx")));
    CHECK(error_of(parse_guarded(datagram, wire::parse_notification)) == EBADMSG);
}

TEST_CASE("a request has the very bytes that the capture's asked with", "[wire]")
{
    // an error repeats the request behind its code
    const Capture capture(GENERATE(from_range(kernels())));
    using Row = std::pair<std::string, wire::Request>;
    const auto& [label, request] = GENERATE(
        Row{"device 99", {.command = RDMA_NLDEV_CMD_GET, .device_index = 99}},
        Row{"device without index", {.command = RDMA_NLDEV_CMD_GET}},
        Row{"port 0/9", {.command = RDMA_NLDEV_CMD_PORT_GET, .device_index = 0, .port = 9}},
        Row{"issm 0/1",
            {.command = RDMA_NLDEV_CMD_GET_CHARDEV,
             .device_index = 0,
             .port = 1,
             .char_device = "issm"}});
    const auto message = message_in(capture.datagram(label));
    CAPTURE(label);
    const auto repeated = message.payload.subspan(4);
    auto built = octets(must(wire::build(request, 1)));
    CHECK(built == Octets(repeated.begin(), repeated.end()));
}

TEST_CASE("a request has its sequence number and flags", "[wire]")
{
    const auto bytes =
        octets(must(wire::build({.command = RDMA_NLDEV_CMD_GET, .flags = NLM_F_DUMP}, 0xfedcba98)));
    CHECK(get_u16(bytes, 6) == (NLM_F_REQUEST | NLM_F_DUMP));
    CHECK(get_u32(bytes, 8) == 0xfedcba98);
}

TEST_CASE("a request that does not fit is an error", "[wire]")
{
    const std::string endless(1000, 'x');
    CHECK(error_of(wire::build({.command = RDMA_NLDEV_CMD_GET_CHARDEV, .char_device = endless},
                               1)) == EMSGSIZE);
}
