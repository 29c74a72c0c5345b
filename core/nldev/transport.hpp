// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace rdmad::nldev {

/// One datagram as it came; the bytes are valid until the next call.
struct Datagram {
    std::span<const std::byte> bytes;
    uint32_t sender = 0;    ///< netlink port ID; 0 is the kernel
    bool truncated = false; ///< it was longer than the buffer
};

/// The seam between the client and the kernel. Tests replay captured replies through it.
class Transport {
public:
    Transport() = default;
    Transport(Transport&&) = default;
    Transport& operator=(Transport&&) = default;
    virtual ~Transport() = default;

    [[nodiscard]] virtual Result<void> send(std::string_view message) = 0;
    /// Returns the next datagram. Fails with ENOBUFS if replies were lost, with ENODATA if there is
    /// none and none will come.
    [[nodiscard]] virtual Result<Datagram> receive() = 0;
};

} // namespace rdmad::nldev
