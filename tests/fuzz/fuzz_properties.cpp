// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/text.hpp"
#include "core/naming/links.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/oracle.hpp"
#include "udev-helpers/rdma_id/output.hpp"

#include <algorithm>
#include <cstring>
#include <map>

// The input is a DeviceInfo: numbers in the machine's order, texts up to a NUL, for neither netlink
// nor sysfs gives one with a NUL inside. make_corpus writes the same format.

namespace rdmad::fuzz {

namespace {

using namespace rdma_id;

/// Takes values off the input; zeroes and empty texts when it is used up.
class Source {
public:
    explicit Source(std::string_view bytes) : bytes_(bytes) {}

    template <typename T>
    T number()
    {
        T value = 0;
        const size_t size = std::min(sizeof value, bytes_.size());
        memcpy(&value, bytes_.data(), size);
        bytes_.remove_prefix(size);
        return value;
    }
    std::string text()
    {
        std::string value(bytes_.substr(0, bytes_.find('\0')));
        bytes_.remove_prefix(std::min(value.size() + 1, bytes_.size()));
        return value;
    }
    [[nodiscard]] bool is_used_up() const
    {
        return bytes_.empty();
    }

private:
    std::string_view bytes_;
};

template <typename T>
std::optional<T> if_set(unsigned flags, unsigned bit, T value)
{
    return flags & 1U << bit ? std::optional<T>(std::move(value)) : std::nullopt;
}

PortInfo take_port(Source& source)
{
    const unsigned flags = source.number<uint8_t>();
    PortInfo port;
    port.port = source.number<uint8_t>();
    port.link_type = static_cast<naming::LinkType>(source.number<uint8_t>() % 7);
    port.guid = if_set(flags, 0, source.number<uint64_t>());
    port.netdev = if_set(flags, 1, source.text());
    port.state = if_set(flags, 2, source.number<uint8_t>());
    return port;
}

DeviceInfo take_info(Source& source)
{
    const unsigned flags = source.number<uint8_t>();
    DeviceInfo info;
    info.node = static_cast<Node>(source.number<uint8_t>() % 4);
    auto& device = info.device;
    device.index = source.number<uint32_t>();
    device.port_count = source.number<uint8_t>();
    device.node_guid = source.number<uint64_t>();
    device.sys_image_guid = source.number<uint64_t>();
    device.node_type = if_set(flags, 0, source.number<uint8_t>());
    device.name = source.text();
    device.protocol = if_set(flags, 1, source.text());
    device.fw_version = if_set(flags, 2, source.text());
    device.parent_name = if_set(flags, 3, source.text());
    info.driver = if_set(flags, 4, source.text());
    info.sysname = source.text();
    while (!source.is_used_up() && info.ports.size() < 16)
        info.ports.push_back(take_port(source));
    return info;
}

/// As claim_links() makes them, with every claim won.
NodeLinks all_links(const DeviceInfo& info)
{
    NodeLinks links;
    const auto node = to_string(info.node);
    for (const auto& port : info.ports) {
        if (port.guid) {
            links.paths.push_back(naming::port_link(*port.guid, node));
            links.aliases.push_back(naming::port_alias(*port.guid, node));
        }
    }
    if (info.node == Node::uverbs && links.paths.empty()) {
        links.paths.push_back(naming::node_link(info.device.node_guid));
        links.aliases.push_back(naming::node_alias(info.device.node_guid));
    }
    return links;
}

/// The keys, and whether the value is a list, with blanks between its words.
const std::map<std::string, bool, std::less<>> known_keys = {
    {"ID_RDMA_INDEX", false},      {"ID_RDMA_NAME", false},       {"ID_RDMA_DRIVER", false},
    {"ID_RDMA_NODE_GUID", false},  {"ID_RDMA_FW", false},         {"ID_RDMA_SYS_IMAGE_GUID", false},
    {"ID_RDMA_NODE_TYPE", false},  {"ID_RDMA_PORTS", false},      {"ID_RDMA_PROTOCOL", false},
    {"ID_RDMA_INFINIBAND", false}, {"ID_RDMA_OPA", false},        {"ID_RDMA_ROCE", false},
    {"ID_RDMA_IWARP", false},      {"ID_RDMA_USNIC", false},      {"ID_RDMA_EFA", false},
    {"ID_RDMA_PORT", false},       {"ID_RDMA_PORT_GUID", false},  {"ID_RDMA_LINK_TYPE", false},
    {"ID_RDMA_NETDEV", false},     {"ID_RDMA_SMI_PARENT", false}, {"ID_RDMA_PORT_GUIDS", true},
    {"ID_RDMA_LINK_TYPES", true},  {"ID_RDMA_DEVLINKS", true},    {"ID_RDMA_ALIASES", true},
    {"SYSTEMD_ALIAS", true},       {"ID_RDMA_NETDEVS", true},
};

/// Links come in as many portions as it takes.
std::string_view without_portion(std::string_view key)
{
    constexpr std::string_view links = "ID_RDMA_DEVLINKS";
    return key.starts_with(links) ? links : key;
}

/// Reads the lines as udev does: up to the line break, and the value behind the first "=".
std::map<std::string, std::string> read_properties(std::string_view output)
{
    std::map<std::string, std::string> found;
    while (!output.empty()) {
        const size_t end = output.find('\n');
        require(end != std::string_view::npos, "the last line ends in a line break");
        const auto line = output.substr(0, end);
        output.remove_prefix(end + 1);
        const size_t equals = line.find('=');
        require(equals != std::string_view::npos, "each line is KEY=VALUE");
        const std::string key(line.substr(0, equals));
        const std::string value(line.substr(equals + 1));
        const auto known = known_keys.find(without_portion(key));
        require(known != known_keys.end(), "only keys that rdma_id(8) knows");
        require(found.emplace(key, value).second, "each key comes once");
        const auto characters = decode_utf8(value);
        require(characters && !has_control_character(*characters), "values are printable UTF-8");
        require(!value.empty() && value.find_first_of("\"'`$;&|<>*?[]{}%") == std::string::npos,
                "values are not empty and have no sign that a shell or udev obeys");
        require(known->second || value.find(' ') == std::string::npos, "one word where one is due");
    }
    return found;
}

/// A value is the text in other words; no property if there is no text.
void require_value(const std::map<std::string, std::string>& found, const char* key,
                   const std::string& text)
{
    const auto property = found.find(key);
    require((property != found.end()) == !text.empty(), "a property where there is a value");
    if (property != found.end())
        require(unescape(property->second) == text, "a property is the value");
}

void check_properties(const DeviceInfo& info, const NodeLinks& links)
{
    const auto& device = info.device;
    const auto found = read_properties(format_properties(info, links));
    require_value(found, "ID_RDMA_INDEX", std::to_string(device.index));
    require_value(found, "ID_RDMA_NAME", device.name);
    require_value(found, "ID_RDMA_DRIVER", info.driver.value_or(""));
    require_value(found, "ID_RDMA_FW", device.fw_version.value_or(""));
    require_value(found, "ID_RDMA_SMI_PARENT", device.parent_name.value_or(""));
    if (info.ports.size() == 1)
        require_value(found, "ID_RDMA_NETDEV", info.ports[0].netdev.value_or(""));
    if (info.node == Node::device)
        require(!found.contains("ID_RDMA_DEVLINKS") && !found.contains("ID_RDMA_ALIASES") &&
                    !found.contains("SYSTEMD_ALIAS"),
                "an RDMA device has no links");
    for (const auto* list : {"ID_RDMA_PORT_GUIDS", "ID_RDMA_LINK_TYPES", "ID_RDMA_NETDEVS"})
        if (const auto property = found.find(list); property != found.end())
            require(text::split(property->second, ' ').size() == info.ports.size(),
                    "a list has a word for each port");
}

void check_json(const DeviceInfo& info, const NodeLinks& links)
{
    const auto output = format_json(info, links);
    const auto json = read_json(output);
    require(json && output.ends_with("}\n"), "one JSON object in one line");
    require(json->top_level_keys == std::vector<std::string>{"index", "name", "node", "driver",
                                                             "protocol", "nodeType", "nodeGuid",
                                                             "sysImageGuid", "firmware", "ports",
                                                             "links", "aliases"},
            "only keys that rdma_id(8) knows, in order");
    if (!info.device.name.empty() && decode_utf8(info.device.name))
        require(json->strings[0] == info.device.name, "the name is in the object as it is");
}

void check_summary(const DeviceInfo& info, const NodeLinks& links)
{
    const auto output = format_summary(info, links);
    require(output.ends_with("\n"), "the last line ends in a line break");
    auto characters = decode_utf8(output);
    require(characters.has_value(), "the summary is UTF-8");
    const auto lines = std::count(output.begin(), output.end(), '\n');
    require(static_cast<size_t>(lines) == 1 + info.ports.size() + links.paths.size(),
            "a line for the device, for each port and for each link");
    std::erase(*characters, U'\n');
    require(!has_control_character(*characters), "the summary is safe for a terminal");
}

} // namespace

void run_one(std::string_view input)
{
    Source source(input);
    const auto info = take_info(source);
    const auto links = all_links(info);
    check_properties(info, links);
    check_json(info, links);
    check_summary(info, links);
}

} // namespace rdmad::fuzz
