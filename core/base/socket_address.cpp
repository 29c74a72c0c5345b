// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/socket_address.hpp"

#include "core/base/text.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <netinet/in.h>

namespace rdmad {

namespace {

constexpr std::array<uint8_t, 12> v4_prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool is_v4(const IpAddress& address)
{
    return std::equal(v4_prefix.begin(), v4_prefix.end(), address.begin());
}

IpAddress mapped(const in_addr& v4)
{
    IpAddress address = {};
    std::copy(v4_prefix.begin(), v4_prefix.end(), address.begin());
    memcpy(address.data() + v4_prefix.size(), &v4, sizeof v4);
    return address;
}

template <typename T>
std::optional<T> read(std::span<const std::byte> bytes)
{
    T value;
    if (bytes.size() < sizeof value)
        return std::nullopt;
    memcpy(&value, bytes.data(), sizeof value);
    return value;
}

} // namespace

std::optional<IpAddress> parse_ip_address(std::string_view text)
{
    const std::string terminated(text);
    // inet_pton() would stop at a NUL
    if (terminated.size() != strlen(terminated.c_str()))
        return std::nullopt;
    in_addr v4;
    if (inet_pton(AF_INET, terminated.c_str(), &v4) == 1)
        return mapped(v4);
    IpAddress v6;
    if (inet_pton(AF_INET6, terminated.c_str(), v6.data()) == 1)
        return v6;
    return std::nullopt;
}

std::string format_ip_address(const IpAddress& address)
{
    std::array<char, INET6_ADDRSTRLEN> text = {};
    const auto* bytes = address.data();
    if (is_v4(address))
        inet_ntop(AF_INET, bytes + v4_prefix.size(), text.data(), text.size());
    else
        inet_ntop(AF_INET6, bytes, text.data(), text.size());
    return text.data();
}

bool SocketAddress::is_wildcard() const
{
    return ip == IpAddress() || ip == mapped({INADDR_ANY});
}

std::optional<SocketAddress> parse_socket_address(std::string_view text)
{
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos)
        return std::nullopt;
    auto host = text.substr(0, colon);
    const bool has_brackets = host.starts_with('[') && host.ends_with(']');
    if (has_brackets)
        host = host.substr(1, host.size() - 2);
    const auto ip = parse_ip_address(host);
    const auto port = text::parse_u32(text.substr(colon + 1));
    const bool is_v6_text = host.find(':') != std::string_view::npos;
    if (!ip || !port || *port == 0 || *port > UINT16_MAX || has_brackets != is_v6_text)
        return std::nullopt;
    return SocketAddress{*ip, static_cast<uint16_t>(*port)};
}

std::string format_socket_address(const SocketAddress& address)
{
    const auto ip = format_ip_address(address.ip);
    const auto port = ":" + std::to_string(address.port);
    return is_v4(address.ip) ? ip + port : "[" + ip + "]" + port;
}

std::optional<SocketAddress> socket_address_of(std::span<const std::byte> sockaddr)
{
    const auto family = read<sa_family_t>(sockaddr);
    if (family == sa_family_t{AF_INET}) {
        const auto v4 = read<sockaddr_in>(sockaddr);
        return v4 ? std::optional(SocketAddress{mapped(v4->sin_addr), ntohs(v4->sin_port)})
                  : std::nullopt;
    }
    const auto v6 = read<sockaddr_in6>(sockaddr);
    if (family != sa_family_t{AF_INET6} || !v6)
        return std::nullopt;
    SocketAddress address{.port = ntohs(v6->sin6_port)};
    memcpy(address.ip.data(), &v6->sin6_addr, address.ip.size());
    return address;
}

} // namespace rdmad
