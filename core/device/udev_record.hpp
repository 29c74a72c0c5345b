// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/device/target.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace rdmad {

/// udev's record of a device: "E:KEY=VALUE", "S:LINK" and other lines in a file below
/// /run/udev/data (device_update_db(), libsystemd/sd-device).
class UdevRecord {
public:
    explicit UdevRecord(std::string text) : text_(std::move(text)) {}

    /// Returns the record with an id: "c231:192" by device number, "n7" by interface index,
    /// "+infiniband:mlx5_0" for what has neither. Returns nullopt if there is none.
    [[nodiscard]] static std::optional<UdevRecord> read(const std::string& udev_run,
                                                        const std::string& id);

    /// Returns the record of a node, nullopt if there is none. root is /sys.
    [[nodiscard]] static std::optional<UdevRecord> read_node(const std::string& udev_run,
                                                             const sysfs::Directory& root,
                                                             Node node, const std::string& sysname);
    /// Returns the id of an RDMA device, which has no number: udev has it by name
    /// (device_get_device_id(), libsystemd/sd-device).
    [[nodiscard]] static std::string id_of_device(const std::string& name)
    {
        return "+infiniband:" + name;
    }

    [[nodiscard]] std::optional<std::string> property(const std::string& key) const;
    /// Returns true if it holds an old name, which is not empty, anywhere but inside the present
    /// one: Name=hca-%k makes "hca-mlx5_0" of "mlx5_0".
    [[nodiscard]] bool mentions(std::string_view old_name, std::string_view present_name) const;

private:
    std::string text_;
};

} // namespace rdmad
