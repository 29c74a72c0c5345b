// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/naming/device_name.hpp"
#include "core/nldev/client.hpp"
#include "core/sysfs/directory.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace rdmad::rdma_id {

/// A network device over InfiniBand (IPoIB), and whose port it is on.
struct Ipoib {
    std::string device; ///< name of the RDMA device; empty: it changes at this moment
    uint32_t port = 1;
};

/// By the DEVPATH of a "net" event. None if it is no IPoIB device, has gone, its RDMA device cannot
/// be told, or it is a child interface: the kernel calls that after its parent, "ib0.8001".
[[nodiscard]] std::optional<Ipoib> find_ipoib(const sysfs::Directory& root,
                                              std::string_view devpath);

/// What an IPoIB device on a port of an RDMA device is called, if it is called after that.
[[nodiscard]] naming::Composed ipoib_name_on(const nldev::Device& device, uint32_t port);

} // namespace rdmad::rdma_id
