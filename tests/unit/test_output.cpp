// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/text.hpp"
#include "core/naming/links.hpp"
#include "tests/catch.hpp"
#include "udev-helpers/rdma_id/output.hpp"

#include <algorithm>
#include <map>

using namespace rdmad;
using namespace rdmad::rdma_id;
using namespace std::string_literals;
using naming::LinkType;

// That JSON is JSON is tested by another JSON reader: tests/integration/json_output.py.

namespace {

/// Device 0 of the captures.
DeviceInfo mixed(Node node = Node::device)
{
    DeviceInfo info;
    info.node = node;
    info.sysname = node == Node::device ? "mixed" : std::string(to_string(node)) + "0";
    info.device.index = 0;
    info.device.name = "mixed";
    info.device.port_count = 2;
    info.device.node_guid = UINT64_C(0x0002c90300000a00);
    info.device.sys_image_guid = UINT64_C(0x0002c90300000a00);
    info.device.node_type = uint8_t{1};
    info.device.protocol = "ib";
    info.device.fw_version = "1.2.3";
    info.driver = "mlx4_core";
    info.ports = {
        {.port = 1,
         .link_type = LinkType::infiniband,
         .guid = UINT64_C(0x0002c90300000a01),
         .state = uint8_t{4}},
        {.port = 2, .link_type = LinkType::roce, .netdev = "dummy0", .state = uint8_t{1}}};
    if (node == Node::umad || node == Node::issm)
        info.ports.pop_back();
    return info;
}

std::map<std::string, std::string> as_map(const DeviceInfo& info, const NodeLinks& links = {})
{
    std::map<std::string, std::string> map;
    for (const auto& [key, value] : properties(info, links)) {
        INFO(key);
        CHECK_FALSE(map.contains(key));
        map[key] = value;
    }
    return map;
}

std::string value_of(const std::map<std::string, std::string>& map, const std::string& key)
{
    const auto found = map.find(key);
    return found == map.end() ? "(none)" : found->second;
}

std::vector<std::string> lines_of(const std::string& text)
{
    std::vector<std::string> lines(1);
    for (const char c : text)
        if (c == '\n')
            lines.emplace_back();
        else
            lines.back() += c;
    CHECK(lines.back().empty());
    lines.pop_back();
    return lines;
}

const std::vector<std::string>& hostile_texts()
{
    static const std::vector<std::string> texts = {
        "a\nID_RDMA_INDEX=7",
        "\nX=1\n",
        "a b",
        "a\tb",
        "a\rb",
        "a\vb",
        "\"quoted\"",
        "'quoted'",
        "a=b",
        "=",
        "back\\slash",
        "\\n",
        "$HOME",
        "`id`",
        "%k",
        "$(id)",
        "a;b",
        "a,b",
        "a*b",
        "\x01\x02\x1b[2J\x7f",
        "\xff\xfe",
        "\xc0\x8a",
        "\xc2\x85",
        "\xe2\x80",
        "caf\xc3\xa9",
        "a\0b"s,
        " ",
        "  lead and trail  ",
    };
    return texts;
}

void make_hostile(DeviceInfo& info, const std::string& text)
{
    info.device.name = text;
    info.device.protocol = text;
    info.device.fw_version = text;
    info.device.parent_name = text;
    info.driver = text;
    for (auto& port : info.ports)
        port.netdev = text;
}

} // namespace

TEST_CASE("a device has the properties of device and ports", "[output]")
{
    const auto map = as_map(mixed());
    CHECK(value_of(map, "ID_RDMA_INDEX") == "0");
    CHECK(value_of(map, "ID_RDMA_NODE_GUID") == "0002c90300000a00");
    CHECK(value_of(map, "ID_RDMA_NODE_TYPE") == "ca");
    CHECK(value_of(map, "ID_RDMA_PORTS") == "2");
    CHECK(value_of(map, "ID_RDMA_PROTOCOL") == "ib");
    CHECK(value_of(map, "ID_RDMA_FW") == "1.2.3");
    CHECK(value_of(map, "ID_RDMA_INFINIBAND") == "1");
    CHECK(value_of(map, "ID_RDMA_ROCE") == "1");
    CHECK(value_of(map, "ID_RDMA_OPA") == "(none)");
    CHECK(value_of(map, "ID_RDMA_LINK_TYPES") == "infiniband roce");
    // a port without a GUID keeps its place
    CHECK(value_of(map, "ID_RDMA_PORT_GUIDS") == "0002c90300000a01 0000000000000000");
    CHECK(value_of(map, "ID_RDMA_NETDEVS") == "- dummy0");
    CHECK(value_of(map, "ID_RDMA_PORT") == "(none)");
    CHECK(value_of(map, "ID_RDMA_LINK_TYPE") == "(none)");
}

TEST_CASE("a port's node has the properties of its port", "[output]")
{
    const auto map = as_map(mixed(GENERATE(Node::umad, Node::issm)));
    CHECK(value_of(map, "ID_RDMA_PORT") == "1");
    CHECK(value_of(map, "ID_RDMA_PORT_GUID") == "0002c90300000a01");
    CHECK(value_of(map, "ID_RDMA_LINK_TYPE") == "infiniband");
    CHECK(value_of(map, "ID_RDMA_ROCE") == "(none)");
    CHECK(value_of(map, "ID_RDMA_NETDEVS") == "(none)");
    CHECK(value_of(map, "ID_RDMA_PORTS") == "2");
}

TEST_CASE("a device of one port has the properties of that port", "[output]")
{
    auto info = mixed();
    info.ports.erase(info.ports.begin());
    const auto map = as_map(info);
    CHECK(value_of(map, "ID_RDMA_PORT") == "2");
    CHECK(value_of(map, "ID_RDMA_LINK_TYPE") == "roce");
    CHECK(value_of(map, "ID_RDMA_NETDEV") == "dummy0");
    CHECK(value_of(map, "ID_RDMA_PORT_GUID") == "(none)");
}

TEST_CASE("where no port has a network device there is no list of them", "[output]")
{
    auto info = mixed();
    info.ports[1].netdev.reset();
    CHECK(value_of(as_map(info), "ID_RDMA_NETDEVS") == "(none)");
}

TEST_CASE("links come in portions that udev can assign", "[output]")
{
    // UDEV_PATH_SIZE, src/udev/udev-rules.c
    constexpr size_t most = 1024;
    const std::string longest = "infiniband/by-port-guid/0002c90300000a01/uverbs";
    const auto map = as_map(mixed(Node::uverbs), {std::vector<std::string>(41, longest), {}});
    for (const auto* key : {"ID_RDMA_DEVLINKS", "ID_RDMA_DEVLINKS_2", "ID_RDMA_DEVLINKS_3"})
        CHECK(value_of(map, key).size() < most);
    CHECK(value_of(map, "ID_RDMA_DEVLINKS_3") == longest);
    CHECK(value_of(map, "ID_RDMA_DEVLINKS_4") == "(none)");
}

TEST_CASE("what udev gets of a device with many ports is no more than it takes", "[output]")
{
    auto info = mixed(Node::uverbs);
    auto port = info.ports[0];
    info.device.port_count = 600;
    info.device.name = std::string(63, 'n');
    info.device.fw_version = std::string(31, 'f');
    info.ports.clear();
    NodeLinks links;
    for (uint32_t number = 1; number <= 600; number++) {
        port.port = number;
        port.guid = UINT64_C(0x0002c90300000000) + number;
        info.ports.push_back(port);
        if (number > most_ports)
            continue;
        links.paths.push_back(naming::port_link(*port.guid, "uverbs"));
        links.aliases.push_back(naming::port_alias(*port.guid, "uverbs"));
    }
    CHECK(format_properties(info, links).size() < 16 * size_t{1024});
    const auto map = as_map(info, links);
    CHECK(text::split(value_of(map, "ID_RDMA_PORT_GUIDS"), ' ').size() == most_ports);
    CHECK(text::split(value_of(map, "ID_RDMA_LINK_TYPES"), ' ').size() == most_ports);
    CHECK(value_of(map, "ID_RDMA_PORTS") == "600");
    CHECK(format_json(info, links).find("\"port\":600,") != std::string::npos);
}

TEST_CASE("nodes have links and aliases, the device has none", "[output]")
{
    const NodeLinks links = {{"infiniband/one", "infiniband/two"}, {"/sys/one", "/sys/two"}};
    CHECK(value_of(as_map(mixed(Node::umad), links), "ID_RDMA_DEVLINKS") ==
          "infiniband/one infiniband/two");
    // rdma-core's rules assign SYSTEMD_ALIAS of umad
    CHECK(value_of(as_map(mixed(Node::umad), links), "ID_RDMA_ALIASES") == "/sys/one /sys/two");
    CHECK(value_of(as_map(mixed(Node::umad), links), "SYSTEMD_ALIAS") == "(none)");
    for (const auto node : {Node::uverbs, Node::issm})
        CHECK(value_of(as_map(mixed(node), links), "SYSTEMD_ALIAS") == "/sys/one /sys/two");
    CHECK(value_of(as_map(mixed(Node::device), links), "SYSTEMD_ALIAS") == "(none)");
    CHECK(value_of(as_map(mixed(Node::device), links), "ID_RDMA_DEVLINKS") == "(none)");
    CHECK(value_of(as_map(mixed(Node::umad)), "ID_RDMA_DEVLINKS") == "(none)");
}

TEST_CASE("what is not known is left out, and no value is empty", "[output]")
{
    for (const auto node : {Node::device, Node::uverbs, Node::umad, Node::issm}) {
        DeviceInfo info;
        info.node = node;
        info.device.node_type = uint8_t{250};
        info.ports = {{.port = 1, .state = uint8_t{250}}};
        for (const auto& [key, value] : properties(info, {}))
            if (value.empty())
                FAIL_CHECK(key << " is empty");
        const auto map = as_map(info);
        CHECK(value_of(map, "ID_RDMA_FW") == "(none)");
        CHECK(value_of(map, "ID_RDMA_NODE_TYPE") == "(none)");
        CHECK(value_of(map, "ID_RDMA_NETDEV") == "(none)");
        CHECK(value_of(map, "ID_RDMA_PROTOCOL") == "unknown");
    }
}

TEST_CASE("each node type has its name", "[output]")
{
    // enum rdma_node_type, include/rdma/ib_verbs.h
    const auto [number, name] = GENERATE(table<int, std::string>({{0, "(none)"},
                                                                  {1, "ca"},
                                                                  {2, "switch"},
                                                                  {3, "router"},
                                                                  {4, "rnic"},
                                                                  {5, "usnic"},
                                                                  {6, "usnic-udp"},
                                                                  {7, "unspecified"},
                                                                  {8, "(none)"},
                                                                  {255, "(none)"}}));
    auto info = mixed();
    info.device.node_type = static_cast<uint8_t>(number);
    CHECK(value_of(as_map(info), "ID_RDMA_NODE_TYPE") == name);
}

TEST_CASE("no text from outside adds a line, a property or a list item", "[output]")
{
    const auto text = GENERATE(from_range(hostile_texts()));
    const auto node = GENERATE(Node::device, Node::umad);
    CAPTURE(text, to_string(node));
    auto tame = mixed(node);
    make_hostile(tame, "tame");
    auto hostile = mixed(node);
    make_hostile(hostile, text);

    const auto lines = lines_of(format_properties(hostile, {}));
    const auto expected = properties(tame, {});
    REQUIRE(lines.size() == expected.size());
    for (size_t i = 0; i < lines.size(); i++) {
        const auto& [key, tame_value] = expected[i];
        CHECK(lines[i].starts_with(key + "="));
        const auto value = lines[i].substr(key.size() + 1);
        CHECK(std::count(value.begin(), value.end(), ' ') ==
              std::count(tame_value.begin(), tame_value.end(), ' '));
        CHECK(value.find_first_of("\t\r\v\f\"'`$;*?%,") == std::string::npos);
        CHECK(std::all_of(value.begin(), value.end(),
                          [](char c) { return (c & 0x80) || (c >= 0x20 && c < 0x7f); }));
        CHECK(text::is_utf8(value));
    }
}

TEST_CASE("no text from outside adds a line to the summary or steers the terminal", "[output]")
{
    const auto text = GENERATE(from_range(hostile_texts()));
    CAPTURE(text);
    auto tame = mixed();
    make_hostile(tame, "tame");
    auto hostile = mixed();
    make_hostile(hostile, text);
    const auto lines = lines_of(format_summary(hostile, {}));
    CHECK(lines.size() == lines_of(format_summary(tame, {})).size());
    for (const auto& line : lines) {
        CHECK(std::all_of(line.begin(), line.end(),
                          [](char c) { return (c & 0x80) || (c >= 0x20 && c < 0x7f); }));
        CHECK(text::is_utf8(line));
    }
}

TEST_CASE("different names stay different after escaping", "[output]")
{
    auto first = mixed();
    auto second = mixed();
    first.device.name = "a\\x20b";
    second.device.name = "a b";
    CHECK(format_properties(first, {}) != format_properties(second, {}));
}

TEST_CASE("JSON ends in one line break and has no other", "[output]")
{
    auto info = mixed();
    make_hostile(info, GENERATE(from_range(hostile_texts())));
    CHECK(lines_of(format_json(info, {{"a"}, {"b"}})).size() == 1);
}

TEST_CASE("the summary tells of device, ports and links", "[output]")
{
    const auto summary = format_summary(mixed(Node::uverbs),
                                        {{"infiniband/by-port-guid/0002c90300000a01/uverbs"}, {}});
    const auto has = [&](const char* part) { return summary.find(part) != std::string::npos; };
    CHECK(has("mixed"));
    CHECK(has("index 0"));
    CHECK(has("0002c90300000a00"));
    CHECK(has("port 1: infiniband"));
    CHECK(has("port 2: roce"));
    CHECK(has("0002c90300000a01"));
    CHECK(has("dummy0"));
    CHECK(has("active"));
    CHECK(has("down"));
    CHECK(has("/dev/infiniband/by-port-guid/0002c90300000a01/uverbs"));
}
