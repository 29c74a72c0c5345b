// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/index.hpp"

#include "core/base/text.hpp"
#include "core/device/rename_retries.hpp"

#include <cerrno>

namespace rdmad::rdma_id {

namespace {

// Devices that appear at once are handled in order but some at a time; that many indexes ahead
// cover them.
constexpr uint32_t look_ahead = 20;
constexpr int max_dumps = 3;

using FoundDevice = Result<std::optional<nldev::Device>>;

/// "mlx5_3" ends in 3. Until a device was removed or renamed, the kernel's number in the name tends
/// to be the index.
std::optional<uint32_t> number_at_end(std::string_view name)
{
    return text::parse_u32(name.substr(name.find_last_not_of("0123456789") + 1));
}

class Search {
public:
    Search(nldev::Client& client, const sysfs::Directory& root, uint64_t inode)
        : client_(client), root_(root), inode_(inode)
    {
    }

    /// The device if it has this index. The kernel answers when no rename is under way, but one may
    /// come before sysfs is asked.
    FoundDevice probe(uint32_t index)
    {
        auto candidate = client_.device(index);
        for (int i = 0; i < max_renames; i++) {
            if (!candidate || !*candidate)
                return candidate;
            const auto& name = (*candidate)->name;
            if (const auto inode = sysfs::RdmaDevice::inode(root_, name); inode)
                return *inode == inode_ ? candidate : FoundDevice();
            auto again = client_.device(index);
            if (again && *again && (*again)->name == name)
                break;
            candidate = std::move(again);
        }
        return std::optional<nldev::Device>();
    }

    FoundDevice dump(const std::string& name)
    {
        auto found = client_.find_device(name);
        return found && *found && !is_there((*found)->name) ? FoundDevice() : found;
    }

    [[nodiscard]] bool is_there(const std::string& name) const
    {
        return sysfs::RdmaDevice::inode(root_, name) == inode_;
    }

private:
    nldev::Client& client_;
    const sysfs::Directory& root_;
    uint64_t inode_;
};

FoundDevice search_new(Search& search, const std::string& name, IndexHints& hints)
{
    const auto last = hints.last();
    const uint32_t first = last ? *last + 1 : 0;
    if (auto found = search.probe(first); !found || *found)
        return found;
    if (const auto number = number_at_end(name); number)
        if (auto found = search.probe(*number); !found || *found)
            return found;
    for (uint32_t i = 1; i < look_ahead; i++)
        if (auto found = search.probe(first + i); !found || *found)
            return found;
    // a dump that runs while any device is removed can skip others: none in it is no proof while
    // sysfs shows the device
    for (int i = 0; i < max_dumps; i++)
        if (auto found = search.dump(name); !found || *found || !search.is_there(name))
            return found;
    return fail(EAGAIN, name + " is not in the kernel's list of devices");
}

} // namespace

FoundDevice find_device(nldev::Client& client, const sysfs::Directory& root,
                        const sysfs::RdmaDevice& device, const std::string& name,
                        std::optional<uint32_t> earlier, IndexHints& hints)
{
    const auto inode = device.inode();
    if (!inode)
        return std::optional<nldev::Device>();
    Search search(client, root, *inode);
    if (earlier)
        if (auto found = search.probe(*earlier); !found || *found)
            return found;
    if (const auto hint = hints.find(*inode); hint && hint != earlier)
        if (auto found = search.probe(*hint); !found || *found)
            return found;
    auto found = search_new(search, name, hints);
    if (found && *found)
        hints.remember(*inode, (*found)->index);
    return found;
}

} // namespace rdmad::rdma_id
