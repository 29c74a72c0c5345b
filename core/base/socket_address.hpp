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

/// Parses "192.0.2.1", "2001:db8::1" or a GID, which reads as an IPv6 address. Returns nullopt for
/// other text.
[[nodiscard]] std::optional<IpAddress> parse_ip_address(std::string_view text);
/// Returns the address as people write it, an IPv4 one without its ::ffff: prefix.
[[nodiscard]] std::string format_ip_address(const IpAddress& address);

/// An address that a server listens on.
struct SocketAddress {
    IpAddress ip = {};
    uint16_t port = 0;

    /// Returns true for 0.0.0.0 and ::, any address of the machine.
    [[nodiscard]] bool is_wildcard() const;

    friend auto operator<=>(const SocketAddress&, const SocketAddress&) = default;
};

/// Parses "192.0.2.1:4420" or "[2001:db8::1]:4420". Returns nullopt for other text and for port 0.
[[nodiscard]] std::optional<SocketAddress> parse_socket_address(std::string_view text);
[[nodiscard]] std::string format_socket_address(const SocketAddress& address);
/// Reads a struct sockaddr_in or sockaddr_in6, or one within a longer buffer such as a struct
/// sockaddr_storage. Returns nullopt if it is too short, or of another family.
[[nodiscard]] std::optional<SocketAddress> socket_address_of(std::span<const std::byte> sockaddr);

} // namespace rdmad
