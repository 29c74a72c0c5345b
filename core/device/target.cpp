// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/target.hpp"

#include "core/base/c_ptr.hpp"
#include "core/base/text.hpp"
#include "core/device/retries.hpp"

#include <array>
#include <cstdlib>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace rdmad {

namespace {

using sysfs::Directory;
using sysfs::RdmaDevice;

struct Parent {
    std::string name;
    RdmaDevice device;
};

/// Opens the RDMA device of a node by the name in its ibdev attribute. udev runs in parallel with
/// processes that rename the device: reads the name again once the directory is open, which stays
/// the device's over any further rename.
Result<std::optional<Parent>> parent_of_node(const Directory& root, const Directory& node)
{
    const auto ibdev = node.open_attribute("ibdev");
    auto name = Directory::read(ibdev);
    for (RenameRetries retries; name && retries.next();) {
        auto device = RdmaDevice::open(root, name.text);
        if (!device)
            return tl::unexpected<Error>(std::move(device).error());
        auto again = Directory::read(ibdev);
        if (*device && again.text == name.text) {
            if (!(*device)->is_beside(node, "."))
                break; // that of the node is in another network namespace
            return Parent{std::move(name.text), std::move(**device)};
        }
        name = std::move(again);
    }
    return std::optional<Parent>();
}

Result<std::optional<Target>> find_target_in(const Directory& root, const Directory& directory,
                                             std::string_view subsystem, std::string_view sysname)
{
    const auto node = node_of(subsystem, sysname);
    if (!node)
        return std::optional<Target>();

    if (*node == Node::device)
        return find_device_target(root, sysname);

    std::optional<uint32_t> port;
    if (*node != Node::uverbs) {
        port = text::parse_u32(directory.read("port").text);
        if (!port)
            return std::optional<Target>();
    }
    auto parent = parent_of_node(root, directory);
    if (!parent || !*parent)
        return missing(parent);
    return Target{*node, std::string(sysname), port, std::move((*parent)->name),
                  std::move((*parent)->device)};
}

Result<std::optional<Target>> find_target_at(const Directory& root, const std::string& path,
                                             std::string_view sysname)
{
    const auto directory = root.open_below(path);
    if (!directory || !*directory)
        return missing(directory);
    return find_target_in(root, **directory, (*directory)->link_name("subsystem").value_or(""),
                          sysname);
}

/// Finds "mlx5_0", or "umad0" for convenience. name has no slash.
Result<std::optional<Target>> find_named_target(const Directory& root, const std::string& name)
{
    if (name.empty() || name == "." || name == "..")
        return std::optional<Target>();
    for (const auto node : {Node::device, Node::uverbs, Node::umad}) {
        auto target = find_target_at(root, class_path(node, name), name);
        if (!target || *target)
            return target;
    }
    return std::optional<Target>();
}

} // namespace

std::optional<Node> node_of(std::string_view subsystem, std::string_view sysname)
{
    if (subsystem == "infiniband")
        return Node::device;
    if (subsystem == "infiniband_verbs" && sysname.starts_with("uverbs"))
        return Node::uverbs;
    if (subsystem == "infiniband_mad" && sysname.starts_with("umad"))
        return Node::umad;
    if (subsystem == "infiniband_mad" && sysname.starts_with("issm"))
        return Node::issm;
    return std::nullopt;
}

std::string_view to_string(Node node)
{
    constexpr std::array<std::string_view, 4> names = {"device", "uverbs", "umad", "issm"};
    return names[static_cast<size_t>(node)];
}

std::string class_path(Node node, std::string_view sysname)
{
    constexpr std::array<const char*, 4> classes = {"class/infiniband/", "class/infiniband_verbs/",
                                                    "class/infiniband_mad/",
                                                    "class/infiniband_mad/"};
    return std::string(classes[static_cast<size_t>(node)]).append(sysname);
}

Result<std::optional<Target>> find_device_target(const Directory& root, std::string_view name)
{
    auto device = RdmaDevice::open(root, name);
    if (!device || !*device)
        return missing(device);
    return Target{Node::device, std::string(name), std::nullopt, std::string(name),
                  std::move(**device)};
}

Result<std::optional<Target>> find_target(const Directory& root, const std::string& argument)
{
    if (argument.find('/') == std::string::npos)
        return find_named_target(root, argument);

    struct stat status;
    if (stat(argument.c_str(), &status) < 0)
        return std::optional<Target>();
    if (S_ISCHR(status.st_mode)) {
        const std::string path = "dev/char/" + std::to_string(major(status.st_rdev)) + ":" +
                                 std::to_string(minor(status.st_rdev));
        return find_target_at(root, path, root.link_name(path).value_or(""));
    }
    // the name is that of the directory itself, whatever link or ".." led there
    const CPtr<char, free> path(realpath(argument.c_str(), nullptr));
    if (!path)
        return std::optional<Target>();
    return find_target_at(root, path.get(), sysfs::last_component(path.get()));
}

Result<std::optional<Target>> find_event_target(const Directory& root, std::string_view devpath,
                                                std::string_view subsystem)
{
    const auto directory = root.open_below("." + std::string(devpath));
    if (!directory || !*directory)
        return missing(directory);
    return find_target_in(root, **directory, subsystem, sysfs::last_component(devpath));
}

} // namespace rdmad
