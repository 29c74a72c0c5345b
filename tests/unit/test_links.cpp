// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/naming/links.hpp"
#include "tests/catch.hpp"

using namespace rdmad::naming;
using namespace std::string_literals;

TEST_CASE("links and aliases are as promised", "[links]")
{
    CHECK(port_link(UINT64_C(0x0002c90300000a01), "umad") ==
          "infiniband/by-port-guid/0002c90300000a01/umad");
    CHECK(port_link(UINT64_C(0x0011750101000000), "issm") ==
          "infiniband/by-port-guid/0011750101000000/issm");
    CHECK(node_link(UINT64_C(0x0002c90300000a00)) ==
          "infiniband/by-node-guid/0002c90300000a00/uverbs");
    CHECK(port_alias(UINT64_C(0x0002c90300000a01), "umad") == "/rdma/0002c90300000a01/umad");
    CHECK(node_alias(UINT64_C(0x0002c90300000a00)) == "/rdma/node/0002c90300000a00/uverbs");
}

TEST_CASE("names of real devices may be part of a path", "[links]")
{
    const auto name = GENERATE("mlx5_0"s, "rocep1s0f0"s, "ibp1s0.8001"s, "a"s, "a-b"s, ".hidden"s,
                               "..."s, std::string(63, 'x'));
    CAPTURE(name);
    CHECK(is_safe_name(name));
}

TEST_CASE("names that would change a path, a line or a list may not", "[links]")
{
    const auto name = GENERATE(""s, "."s, ".."s, "a/b"s, "/"s, "../x"s, "a b"s, "a\nb"s, "a\tb"s,
                               "a:b"s, "a=b"s, "a\\b"s, "a\"b"s, "a%d"s, "a;b"s, "a\0b"s,
                               "\xc3\xa4"s, "\xff"s, "\x7f"s, std::string(64, 'x'));
    CAPTURE(name);
    CHECK_FALSE(is_safe_name(name));
}
