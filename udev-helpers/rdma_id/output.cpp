// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/output.hpp"

#include "core/base/text.hpp"
#include "core/naming/node_type.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace rdmad::rdma_id {

namespace {

using naming::LinkType;

// 48 bytes a link at most, with its blank; the rules take eight portions
constexpr size_t links_per_portion = 20;

std::string guid_of(const PortInfo& port)
{
    return port.guid ? text::format_guid(*port.guid) : "";
}

/// Returns a list with a word for each port, as far as lists go. Requires that none is empty.
template <typename WordOf>
std::string list_of(const std::vector<PortInfo>& ports, WordOf word_of)
{
    std::vector<std::string> words;
    for (size_t i = 0; i < ports.size() && i < most_ports; i++)
        words.emplace_back(word_of(ports[i]));
    return text::join(words, " ");
}

/// Adds a property unless it is empty: udev takes no empty value from a program.
void add(Properties& list, std::string key, std::string value)
{
    if (!value.empty())
        list.emplace_back(std::move(key), std::move(value));
}

void add_link_types(Properties& list, const DeviceInfo& info)
{
    constexpr std::array<std::pair<const char*, LinkType>, 6> flags = {
        {{"ID_RDMA_INFINIBAND", LinkType::infiniband},
         {"ID_RDMA_OPA", LinkType::opa},
         {"ID_RDMA_ROCE", LinkType::roce},
         {"ID_RDMA_IWARP", LinkType::iwarp},
         {"ID_RDMA_USNIC", LinkType::usnic},
         {"ID_RDMA_EFA", LinkType::efa}}};
    for (const auto& [key, type] : flags)
        add(list, key, info.has_link_type(type) ? "1" : "");
}

void add_ports(Properties& list, const DeviceInfo& info)
{
    if (info.ports.size() == 1) {
        const auto& port = info.ports[0];
        add(list, "ID_RDMA_PORT", std::to_string(port.port));
        add(list, "ID_RDMA_PORT_GUID", guid_of(port));
        add(list, "ID_RDMA_LINK_TYPE", std::string(naming::to_string(port.link_type)));
        add(list, "ID_RDMA_NETDEV", text::escape_property(port.netdev.value_or("")));
    }
    if (info.node != Node::device && info.node != Node::uverbs)
        return;
    // a port without a GUID keeps its place in the list
    add(list, "ID_RDMA_PORT_GUIDS", list_of(info.ports, [](const auto& port) {
            return text::format_guid(port.guid.value_or(0));
        }));
    add(list, "ID_RDMA_LINK_TYPES",
        list_of(info.ports, [](const auto& port) { return naming::to_string(port.link_type); }));
}

/// Adds links in portions, and aliases as the property itself, for which a program has 16 KiB: udev
/// gives an assignment in a rule little room, and drops all of a longer one: 1024 bytes for
/// SYMLINK, 512 for ENV (UDEV_PATH_SIZE, UDEV_NAME_SIZE, src/udev/udev-rules.c). Not so for umad,
/// which has two aliases at most, and whose property rdma-core's rules assign later.
void add_links(Properties& list, Node node, const NodeLinks& links)
{
    for (size_t i = 0; i < links.paths.size(); i += links_per_portion) {
        const auto begin = links.paths.begin() + static_cast<ptrdiff_t>(i);
        const auto left = std::min(links_per_portion, links.paths.size() - i);
        const size_t portion = i / links_per_portion + 1;
        add(list, "ID_RDMA_DEVLINKS" + (portion == 1 ? "" : "_" + std::to_string(portion)),
            text::join(std::span(begin, left), " "));
    }
    add(list, node == Node::umad ? "ID_RDMA_ALIASES" : "SYSTEMD_ALIAS",
        text::join(links.aliases, " "));
}

/// Adds the network devices last: if escaped names are too long for udev, it cuts off these alone.
void add_netdevs(Properties& list, const DeviceInfo& info)
{
    if (std::any_of(info.ports.begin(), info.ports.end(),
                    [](const PortInfo& port) { return port.netdev && !port.netdev->empty(); }))
        add(list, "ID_RDMA_NETDEVS",
            list_of(info.ports, [](const auto& port) { return netdev_word(port.netdev); }));
}

/// Writes one JSON object or array; commas come by themselves.
class JsonWriter {
public:
    void open(char bracket, std::string_view key = {})
    {
        start(key);
        text_ += bracket;
        first_ = true;
    }
    void close(char bracket)
    {
        text_ += bracket;
        first_ = false;
    }
    /// Writes null for an empty text, which the kernel did not report.
    void string(std::string_view key, std::string_view value)
    {
        start(key);
        text_ += value.empty() ? "null" : text::quote_json(value);
    }
    void number(std::string_view key, uint32_t value)
    {
        start(key);
        text_ += std::to_string(value);
    }
    void strings(std::string_view key, const std::vector<std::string>& values)
    {
        open('[', key);
        for (const auto& value : values)
            string({}, value);
        close(']');
    }
    [[nodiscard]] std::string take()
    {
        return std::move(text_) + "\n";
    }

private:
    void start(std::string_view key)
    {
        if (!first_)
            text_ += ',';
        first_ = false;
        if (!key.empty())
            text_ += text::quote_json(key) + ":";
    }

    std::string text_;
    bool first_ = true;
};

} // namespace

Properties properties(const DeviceInfo& info, const NodeLinks& links)
{
    const auto& device = info.device;
    Properties list;
    const auto escaped = [](const std::optional<std::string>& value) {
        return text::escape_property(value.value_or(""));
    };
    add(list, "ID_RDMA_INDEX", std::to_string(device.index));
    add(list, "ID_RDMA_NAME", text::escape_property(device.name));
    add(list, "ID_RDMA_DRIVER", escaped(info.driver));
    add(list, "ID_RDMA_NODE_GUID", text::format_guid(device.node_guid));
    add(list, "ID_RDMA_SYS_IMAGE_GUID", text::format_guid(device.sys_image_guid));
    add(list, "ID_RDMA_FW", escaped(device.fw_version));
    add(list, "ID_RDMA_NODE_TYPE", std::string(naming::node_type_name(device.node_type)));
    add(list, "ID_RDMA_PORTS", std::to_string(device.port_count));
    add(list, "ID_RDMA_PROTOCOL", text::escape_property(info.protocol()));
    add_link_types(list, info);
    add_ports(list, info);
    add(list, "ID_RDMA_SMI_PARENT", escaped(device.parent_name));
    if (info.node != Node::device)
        add_links(list, info.node, links);
    if (info.node == Node::device || info.node == Node::uverbs)
        add_netdevs(list, info);
    return list;
}

std::string format_properties(const DeviceInfo& info, const NodeLinks& links)
{
    std::string out;
    for (const auto& [key, value] : properties(info, links))
        out += key + "=" + value + "\n";
    return out;
}

std::string format_json(const DeviceInfo& info, const NodeLinks& links)
{
    const auto& device = info.device;
    JsonWriter json;
    json.open('{');
    json.number("index", device.index);
    json.string("name", device.name);
    json.string("node", info.node == Node::device ? "" : info.sysname);
    json.string("driver", info.driver.value_or(""));
    json.string("protocol", info.protocol());
    json.string("nodeType", naming::node_type_name(device.node_type));
    json.string("nodeGuid", text::format_guid(device.node_guid));
    json.string("sysImageGuid", text::format_guid(device.sys_image_guid));
    json.string("firmware", device.fw_version.value_or(""));
    json.open('[', "ports");
    for (const auto& port : info.ports) {
        json.open('{');
        json.number("port", port.port);
        json.string("linkType", naming::to_string(port.link_type));
        json.string("portGuid", guid_of(port));
        json.string("netdev", port.netdev.value_or(""));
        json.string("state", state_name(port.state));
        json.close('}');
    }
    json.close(']');
    json.strings("links", links.paths);
    json.strings("aliases", links.aliases);
    json.close('}');
    return json.take();
}

std::string format_summary(const DeviceInfo& info, const NodeLinks& links)
{
    const auto& device = info.device;
    std::string out = text::escape_terminal(device.name) + ": index " +
                      std::to_string(device.index) + ", " + text::escape_terminal(info.protocol()) +
                      ", node GUID " + text::format_guid(device.node_guid);
    if (info.driver)
        out += ", driver " + text::escape_terminal(*info.driver);
    if (device.fw_version && !device.fw_version->empty())
        out += ", firmware " + text::escape_terminal(*device.fw_version);
    out += "\n";
    for (const auto& port : info.ports) {
        out += "  port " + std::to_string(port.port) + ": " +
               std::string(naming::to_string(port.link_type));
        if (port.guid)
            out += ", port GUID " + guid_of(port);
        if (port.netdev)
            out += ", network device " + text::escape_terminal(*port.netdev);
        if (const auto state = state_name(port.state); !state.empty())
            out.append(", ").append(state);
        out += "\n";
    }
    for (const auto& link : links.paths)
        out += "  /dev/" + link + "\n";
    return out;
}

} // namespace rdmad::rdma_id
