// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/device/device_info.hpp"

#include <functional>
#include <optional>
#include <string>

namespace rdmad {

/// The name of a device before rdmad named it, and the one that rdmad gave it.
struct NameRecord {
    std::string original;
    /// The original name if the device keeps it; nullopt until the name is decided.
    std::optional<std::string> given = {};
};

/// Records the names that were given, below /run/rdmad: the kernel does not distinguish a name that
/// it chose from one that a user chose later.
class NameRecords {
public:
    /// Keeps the records below directory, /run/rdmad.
    explicit NameRecords(const std::string& directory) : directory_(directory + "/names") {}

    /// Returns nullopt if there is no record, or it is not valid.
    [[nodiscard]] std::optional<NameRecord> find(const DeviceId& device) const;
    /// Fails with EINVAL for a name that could not be read back.
    Result<void> write(const DeviceId& device, const NameRecord& record) const;
    /// Removes the records of devices that are not in sysfs any more, if may_be_gone holds for the
    /// index. root is /sys.
    void forget_gone(const sysfs::Directory& root,
                     const std::function<bool(uint32_t index)>& may_be_gone) const;

private:
    [[nodiscard]] std::string path(const DeviceId& device) const;

    std::string directory_;
};

/// Reads "mlx5_0 ibp1s0", or "mlx5_0" of a device whose name is not decided. Returns nullopt for
/// other text.
[[nodiscard]] std::optional<NameRecord> parse_name_record(std::string_view text);

} // namespace rdmad
