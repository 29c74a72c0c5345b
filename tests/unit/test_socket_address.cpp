// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/socket_address.hpp"
#include "tests/catch.hpp"

#include <arpa/inet.h>
#include <cstring>
#include <netinet/in.h>

using namespace rdmad;

namespace {

template <typename T>
std::optional<SocketAddress> read_back(const T& sockaddr, size_t size = sizeof(T))
{
    return socket_address_of({reinterpret_cast<const std::byte*>(&sockaddr), size});
}

} // namespace

TEST_CASE("addresses are read and written as people have them", "[socket_address]")
{
    for (const auto* text :
         {"192.0.2.1:4420", "[2001:db8::1]:20049", "[fe80::1]:1", "0.0.0.0:80", "[::]:65535"}) {
        INFO(text);
        const auto address = parse_socket_address(text);
        REQUIRE(address);
        CHECK(format_socket_address(*address) == text);
    }
    for (const auto* text : {"", ":", "192.0.2.1", "192.0.2.1:", "192.0.2.1:0", "192.0.2.1:65536",
                             "192.0.2:1", "2001:db8::1:4420", "[192.0.2.1]:1", "[2001:db8::1]",
                             "[]:1", "host:1", "192.0.2.1:-1", "192.0.2.1:1 "})
        CHECK_FALSE(parse_socket_address(text));
}

TEST_CASE("an IPv4 address and the GID that holds it are one", "[socket_address]")
{
    CHECK(parse_ip_address("0000:0000:0000:0000:0000:ffff:c000:0201") ==
          parse_ip_address("192.0.2.1"));
    CHECK(parse_socket_address("[::ffff:192.0.2.1]:5") == parse_socket_address("192.0.2.1:5"));
    CHECK_FALSE(parse_ip_address(std::string_view("192.0.2.1\0x", 11)));
}

TEST_CASE("any address of the machine is none of its own", "[socket_address]")
{
    CHECK(parse_socket_address("0.0.0.0:1")->is_wildcard());
    CHECK(parse_socket_address("[::]:1")->is_wildcard());
    CHECK_FALSE(parse_socket_address("[::1]:1")->is_wildcard());
    CHECK_FALSE(parse_socket_address("127.0.0.1:1")->is_wildcard());
}

TEST_CASE("what the kernel has for an address is read", "[socket_address]")
{
    sockaddr_in v4 = {};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(4420);
    v4.sin_addr.s_addr = htonl(0xc0000201);
    CHECK(read_back(v4) == parse_socket_address("192.0.2.1:4420"));
    CHECK_FALSE(read_back(v4, sizeof v4 - 1));
    CHECK_FALSE(read_back(v4, 1));
    sockaddr_storage storage = {};
    sockaddr_in6 v6 = {};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(7);
    inet_pton(AF_INET6, "2001:db8::1", &v6.sin6_addr);
    memcpy(&storage, &v6, sizeof v6);
    CHECK(read_back(storage) == parse_socket_address("[2001:db8::1]:7"));
    CHECK_FALSE(read_back(v6, sizeof v4));
    v6.sin6_family = AF_UNIX;
    CHECK_FALSE(read_back(v6));
}
