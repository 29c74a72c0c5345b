// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/sysfs/rdma_device.hpp"

#include "core/base/text.hpp"

#include <cerrno>

namespace rdmad::sysfs {

namespace {

// the largest GID tables known have 256 entries (mlx5)
constexpr uint32_t max_gids = 256;

/// Returns false for what cannot be a file name: the kernel lets a device be renamed to anything.
bool is_component(std::string_view name)
{
    return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos;
}

std::string device_path(std::string_view name)
{
    return "class/infiniband/" + std::string(name);
}

std::string port_path(uint32_t port, std::string_view attribute)
{
    return "ports/" + std::to_string(port) + "/" + std::string(attribute);
}

} // namespace

std::set<std::string> node_names(const Directory& root, std::string_view device)
{
    std::set<std::string> nodes;
    for (const std::string folder : {"class/infiniband_verbs", "class/infiniband_mad"})
        for (const auto& node : root.names(folder))
            if (const auto name = root.read(folder + "/" + node + "/ibdev");
                name && name.text == device)
                nodes.insert(node);
    return nodes;
}

std::optional<uint64_t> parse_gid_low_half(std::string_view gid)
{
    constexpr size_t group = 4;
    constexpr size_t groups = 8;
    if (gid.size() != groups * group + groups - 1)
        return std::nullopt;
    uint64_t low = 0;
    for (size_t i = 0; i < groups; i++) {
        const size_t at = i * (group + 1);
        const auto value = text::parse_hex_u64(gid.substr(at, group));
        if (!value || (i > 0 && gid[at - 1] != ':'))
            return std::nullopt;
        low = low << 16 | *value; // the high half is shifted out
    }
    return low;
}

Result<std::optional<RdmaDevice>> RdmaDevice::open(const Directory& root, std::string_view name)
{
    if (!is_component(name))
        return std::optional<RdmaDevice>();
    auto directory = root.open_below(device_path(name));
    if (!directory || !*directory)
        return missing(directory);
    return RdmaDevice(std::move(**directory));
}

std::optional<uint64_t> RdmaDevice::inode(const Directory& root, std::string_view name)
{
    return is_component(name) ? root.inode(device_path(name)) : std::nullopt;
}

Result<std::optional<uint64_t>> RdmaDevice::port_guid(uint32_t port) const
{
    const auto path = port_path(port, "gids/0");
    const auto attribute = directory_.open_attribute(path);
    if (!attribute)
        return std::optional<uint64_t>();
    // the kernel removes an entry of its GID cache before it replaces it: read again after a zero
    for (int i = 0; i < 2; i++) {
        const auto gid = Directory::read(attribute);
        if (gid.state == Attribute::State::unreadable)
            return fail(EIO, path);
        if (const auto guid = parse_gid_low_half(gid.text); guid && *guid != 0)
            return guid;
    }
    return std::optional<uint64_t>();
}

Attribute RdmaDevice::link_layer(uint32_t port) const
{
    return directory_.read(port_path(port, "link_layer"));
}

bool RdmaDevice::has_roce_gid(uint32_t port) const
{
    for (uint32_t i = 0; i < max_gids; i++) {
        const auto type = directory_.read(port_path(port, "gid_attrs/types/" + std::to_string(i)));
        if (type.state == Attribute::State::missing)
            return false;
        // an InfiniBand GID reads as "IB/RoCE v1", too: it counts on Ethernet only, and callers ask
        // only there
        if (type.text.find("RoCE") != std::string::npos)
            return true;
    }
    return false;
}

bool RdmaDevice::has_address(uint32_t port) const
{
    constexpr std::string_view link_local = "fe80:0000:0000:0000:";
    constexpr std::string_view none = "0000:0000:0000:0000:0000:0000:0000:0000";
    for (uint32_t i = 0; i < max_gids; i++) {
        const auto gid = directory_.read(port_path(port, "gids/" + std::to_string(i)));
        if (gid.state == Attribute::State::missing)
            return false;
        if (gid && !gid.text.empty() && gid.text != none && !gid.text.starts_with(link_local))
            return true;
    }
    return false;
}

std::optional<std::string> RdmaDevice::driver() const
{
    return directory_.link_name("device/driver");
}

std::optional<std::string> RdmaDevice::parent() const
{
    return directory_.link_name("device");
}

} // namespace rdmad::sysfs
