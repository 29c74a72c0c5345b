// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/inventory/udev_monitor.hpp"

#include "core/base/text.hpp"
#include "daemon/inventory/overrun.hpp"

#include <array>
#include <cerrno>
#include <filesystem>
#include <span>
#include <system_error>

namespace rdmad {

namespace {

namespace fs = std::filesystem;
using UdevDevice = CPtr<udev_device, udev_device_unref>;

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

/// Returns true if the call may work later. Libudev says of a record that it could not open for
/// this reason what it says of none: that there is none.
bool is_exhausted(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/// Adds the devices of a class that udev has processed. udev_enumerate would hold them all at once,
/// with what udev recorded of them: 6 kB each.
Result<void> add_class(udev* udev, const std::string& subsystem, std::vector<UdevEvent>& events)
{
    const auto folder = "/sys/class/" + subsystem;
    std::error_code error;
    for (auto entry = fs::directory_iterator(folder, error);
         !error && entry != fs::directory_iterator(); entry.increment(error)) {
        // one that has gone since is none
        errno = 0;
        const UdevDevice device(udev_device_new_from_syspath(udev, entry->path().c_str()));
        if (device && udev_device_get_is_initialized(device.get()) > 0)
            events.push_back(event_of(device.get()));
        else if (is_exhausted(errno))
            return fail(errno, entry->path());
    }
    // where ib_core is not loaded there is no such class
    if (error && error != std::errc::no_such_file_or_directory)
        return fail(error.value(), folder);
    return {};
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
    std::vector<UdevEvent> events;
    for (const auto* subsystem : subsystems)
        if (auto outcome = add_class(udev_.get(), subsystem, events); !outcome)
            return tl::unexpected<Error>(std::move(outcome).error());
    return events;
}

} // namespace rdmad
