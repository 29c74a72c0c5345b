// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rdmad {

/// An IPv6 address, or an IPv4 one as IPv6 maps it (::ffff:192.0.2.1), which is also how a port's
/// table of GIDs has it. In network order.
using IpAddress = std::array<uint8_t, 16>;

/// "192.0.2.1", "2001:db8::1" or a GID, which reads as an IPv6 address. None: it is none.
[[nodiscard]] std::optional<IpAddress> parse_ip_address(std::string_view text);
/// As people write it, an IPv4 address without what maps it.
[[nodiscard]] std::string format_ip_address(const IpAddress& address);

/// What a server listens on.
struct SocketAddress {
    IpAddress ip = {};
    uint16_t port = 0;

    /// 0.0.0.0 or ::, any address of the machine.
    [[nodiscard]] bool is_wildcard() const;

    friend auto operator<=>(const SocketAddress&, const SocketAddress&) = default;
};

/// "192.0.2.1:4420" or "[2001:db8::1]:4420". None: it is none, or of port 0.
[[nodiscard]] std::optional<SocketAddress> parse_socket_address(std::string_view text);
[[nodiscard]] std::string format_socket_address(const SocketAddress& address);
/// Of a struct sockaddr_in, sockaddr_in6 or what is as long as that and longer, as a struct
/// sockaddr_storage. None: it is too short, or of another family.
[[nodiscard]] std::optional<SocketAddress> socket_address_of(std::span<const std::byte> sockaddr);

} // namespace rdmad
