// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/path_id.hpp"

#include <algorithm>
#include <array>

namespace rdmad {

namespace {

using sysfs::Directory;

/// The buses of path_id that RDMA devices hang on (src/udev/udev-builtin-path_id.c of systemd 252
/// to 262). It leaves out what hangs on another one, such as vmbus.
constexpr std::array<std::string_view, 4> buses = {"acpi", "pci", "platform", "xen"};

/// Returns the nearest device above one, both as paths below root; empty if there is none. A
/// directory is a device if it has a uevent attribute, as in sd_device_get_parent().
std::string device_above(const Directory& root, std::string path)
{
    do {
        const size_t slash = path.rfind('/');
        path.resize(slash == std::string::npos ? 0 : slash);
    } while (!path.empty() && !root.contains(path + "/uevent"));
    return path;
}

} // namespace

std::string path_id(const Directory& root, const Directory& parent)
{
    const auto top = root.path();
    const auto whole = parent.path();
    if (!top || !whole || !whole->starts_with(*top + "/"))
        return {};
    std::string id;
    const auto prepend = [&id](std::string_view kind, std::string_view name) {
        id = std::string(kind) + "-" + std::string(name) + (id.empty() ? "" : "-" + id);
    };
    bool is_on_bus = false;
    std::string below; // the subsystem of the device below
    for (auto path = whole->substr(top->size() + 1); !path.empty();
         path = device_above(root, std::move(path))) {
        auto subsystem = root.link_name(path + "/subsystem").value_or("");
        if (subsystem == "auxiliary") {
            // since systemd 261
            if (const auto number = root.read(path + "/sfnum"); number)
                prepend("sf", number.text);
        } else if (std::find(buses.begin(), buses.end(), subsystem) != buses.end()) {
            // bridges, and whatever else is above a device on its own bus, do not count
            if (subsystem != below)
                prepend(subsystem, sysfs::last_component(path));
            is_on_bus = true;
        }
        below = std::move(subsystem);
    }
    return is_on_bus ? id : "";
}

} // namespace rdmad
