// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/inventory/udev_monitor.hpp"

#include "core/base/text.hpp"
#include "daemon/inventory/overrun.hpp"

#include <array>
#include <cerrno>
#include <span>

namespace rdmad {

namespace {

using UdevDevice = CPtr<udev_device, udev_device_unref>;
using Enumeration = CPtr<udev_enumerate, udev_enumerate_unref>;

constexpr std::array subsystems = {"infiniband", "infiniband_verbs", "infiniband_mad"};
// what RDMA devices hang on: why one went shows there
constexpr std::array ancestors = {"pci", "drivers"};
// an event has some 2 KiB; a machine with hundreds of devices sends thousands at once
constexpr int receive_buffer = 16 * 1024 * 1024;

std::string text_of(const char* value)
{
    return value ? value : "";
}

UdevEvent event_of(udev_device* device)
{
    const auto property = [&](const char* key) {
        return text_of(udev_device_get_property_value(device, key));
    };
    const auto of_all_or_one = [&](const char* list, const char* one) {
        auto value = property(list);
        return value.empty() ? property(one) : value;
    };
    return {.action = text_of(udev_device_get_action(device)),
            .subsystem = text_of(udev_device_get_subsystem(device)),
            .node = {text_of(udev_device_get_sysname(device)),
                     text_of(udev_device_get_syspath(device)),
                     text::parse_u64(property("USEC_INITIALIZED")).value_or(0)},
            .index = text::parse_u32(property("ID_RDMA_INDEX")),
            .port = text::parse_u32(property("ID_RDMA_PORT")),
            .path = property("ID_PATH"),
            .port_guids = of_all_or_one("ID_RDMA_PORT_GUIDS", "ID_RDMA_PORT_GUID"),
            .netdevs = of_all_or_one("ID_RDMA_NETDEVS", "ID_RDMA_NETDEV"),
            .is_renaming = !property("ID_RENAMING").empty(),
            .error_event = property("ERROR_EVENT"),
            .is_synthetic = !property("SYNTH_UUID").empty()};
}

int filter(udev_monitor* monitor, std::span<const char* const> names)
{
    int code = 0;
    for (const auto* name : names)
        if (code >= 0)
            code = udev_monitor_filter_add_match_subsystem_devtype(monitor, name, nullptr);
    return code;
}

} // namespace

Result<UdevMonitor> UdevMonitor::create()
{
    Udev udev(udev_new());
    if (!udev)
        return fail(ENOMEM, "udev");
    Monitor monitor(udev_monitor_new_from_netlink(udev.get(), "udev"));
    if (!monitor)
        return fail(errno != 0 ? errno : EIO, "udev monitor");
    int code = filter(monitor.get(), subsystems);
    if (code >= 0)
        code = filter(monitor.get(), ancestors);
    if (code < 0)
        return fail(-code, "udev monitor, filter");
    // without CAP_NET_ADMIN the kernel grants less; what is lost then is noticed
    (void)udev_monitor_set_receive_buffer_size(monitor.get(), receive_buffer);
    code = udev_monitor_enable_receiving(monitor.get());
    if (code < 0)
        return fail(-code, "udev monitor");
    return UdevMonitor(std::move(udev), std::move(monitor));
}

int UdevMonitor::fd() const
{
    return udev_monitor_get_fd(monitor_.get());
}

Result<std::optional<UdevEvent>> UdevMonitor::receive()
{
    errno = 0;
    const UdevDevice device(udev_monitor_receive_device(monitor_.get()));
    if (device)
        return event_of(device.get());
    // other senders than udevd and filtered events are dropped without a word
    if (errno == 0 || errno == EAGAIN || errno == EINTR)
        return std::optional<UdevEvent>();
    const int code = errno;
    discard_queue(fd());
    return fail(code, "udev monitor");
}

Result<std::vector<UdevEvent>> UdevMonitor::enumerate() const
{
    const Enumeration enumeration(udev_enumerate_new(udev_.get()));
    if (!enumeration)
        return fail(ENOMEM, "udev enumeration");
    int code = udev_enumerate_add_match_is_initialized(enumeration.get());
    for (const auto* subsystem : subsystems)
        if (code >= 0)
            code = udev_enumerate_add_match_subsystem(enumeration.get(), subsystem);
    if (code >= 0)
        code = udev_enumerate_scan_devices(enumeration.get());
    if (code < 0)
        return fail(-code, "udev enumeration");
    std::vector<UdevEvent> events;
    udev_list_entry* entry = nullptr;
    udev_list_entry_foreach(entry, udev_enumerate_get_list_entry(enumeration.get()))
    {
        // one that has gone since is none
        const UdevDevice device(
            udev_device_new_from_syspath(udev_.get(), udev_list_entry_get_name(entry)));
        if (device)
            events.push_back(event_of(device.get()));
    }
    return events;
}

} // namespace rdmad
