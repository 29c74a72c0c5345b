// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/snapshot.hpp"

#include "core/device/retries.hpp"

namespace rdmad {

Result<std::optional<Snapshot>> take_snapshot(nldev::Client& client, const sysfs::Directory& root,
                                              uint32_t index)
{
    auto device = client.device(index);
    for (int i = 0; i < max_renames; i++) {
        if (!device || !*device)
            return missing(device);
        auto target = find_device_target(root, (*device)->name);
        if (!target)
            return tl::unexpected<Error>(std::move(target).error());
        // what was opened by that name is this device only if it still has the name
        auto again = client.device(index);
        if (*target && again && *again && (*again)->name == (*device)->name) {
            auto info = read_device_info(client, root, **target, std::move(**again));
            if (!info || !*info)
                return missing(info);
            return Snapshot{std::move(**target), std::move(**info)};
        }
        device = std::move(again);
    }
    return std::optional<Snapshot>();
}

} // namespace rdmad
