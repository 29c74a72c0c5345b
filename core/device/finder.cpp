// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/finder.hpp"

#include "core/base/text.hpp"
#include "core/device/retries.hpp"

#include <algorithm>
#include <cerrno>

namespace rdmad {

namespace {

// Devices that appear at once are handled in order, but some at a time; that many indexes ahead
// cover them.
constexpr uint32_t look_ahead = 20;
constexpr int max_dumps = 3;

/// Returns 3 for "mlx5_3". Until a device was removed or renamed, the kernel's number in the name
/// tends to be the index.
std::optional<uint32_t> number_at_end(std::string_view name)
{
    return text::parse_u32(name.substr(name.find_last_not_of("0123456789") + 1));
}

} // namespace

bool Finder::is_called(uint64_t inode, const std::string& name) const
{
    return sysfs::RdmaDevice::inode(root_, name) == inode;
}

/// Returns the device if it has this index. The kernel replies when no rename is under way, but one
/// may come before sysfs is read.
Finder::Found Finder::probe(uint64_t inode, uint32_t index)
{
    auto candidate = client_.device(index);
    for (int i = 0; i < max_renames; i++) {
        if (!candidate || !*candidate)
            return candidate;
        const auto& name = (*candidate)->name;
        if (const auto there = sysfs::RdmaDevice::inode(root_, name); there)
            return there == inode ? candidate : Found();
        auto again = client_.device(index);
        if (again && *again && (*again)->name == name)
            break;
        candidate = std::move(again);
    }
    return Found();
}

/// Finds a device whose index is unknown. A dump that runs while any device is removed can skip
/// others: repeats it as long as sysfs shows the device.
Finder::Found Finder::find_new(uint64_t inode, const std::string& name)
{
    const auto last = hints_.last();
    const uint32_t first = last ? *last + 1 : 0;
    if (auto found = probe(inode, first); !found || *found)
        return found;
    if (const auto number = number_at_end(name); number)
        if (auto found = probe(inode, *number); !found || *found)
            return found;
    for (uint32_t i = 1; i < look_ahead; i++)
        if (auto found = probe(inode, first + i); !found || *found)
            return found;
    for (int i = 0; i < max_dumps; i++) {
        auto devices = client_.devices();
        if (!devices)
            return tl::unexpected<Error>(std::move(devices).error());
        const auto found = std::find_if(devices->begin(), devices->end(), [&](const auto& entry) {
            return entry.second.name == name;
        });
        if (!is_called(inode, name))
            return Found();
        if (found != devices->end())
            return std::move(found->second);
    }
    return fail(EAGAIN, name + " is not in the kernel's list of devices");
}

Finder::Found Finder::find(const Target& target, std::optional<uint32_t> earlier)
{
    const auto inode = target.device.inode();
    if (!inode)
        return Found();
    if (earlier)
        if (auto found = probe(*inode, *earlier); !found || *found)
            return found;
    if (const auto hint = hints_.find(*inode); hint && hint != earlier)
        if (auto found = probe(*inode, *hint); !found || *found)
            return found;
    auto found = find_new(*inode, target.device_name);
    if (found && *found)
        hints_.remember(*inode, (*found)->index);
    return found;
}

} // namespace rdmad
