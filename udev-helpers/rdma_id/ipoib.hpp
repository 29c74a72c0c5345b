// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/sysfs/directory.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace rdmad::rdma_id {

/// The RDMA device and port that a network device over InfiniBand (IPoIB) is on.
struct Ipoib {
    std::string device; ///< name of the RDMA device; empty: it changes at this moment
    uint32_t port = 1;
};

/// Finds the RDMA device of an IPoIB device by the DEVPATH of a "net" event. Returns nullopt if it
/// is not an IPoIB device, is gone, its RDMA device is unknown, or it is a child interface: the
/// kernel names that after its parent, "ib0.8001".
[[nodiscard]] std::optional<Ipoib> find_ipoib(const sysfs::Directory& root,
                                              std::string_view devpath);

} // namespace rdmad::rdma_id
