// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/sysfs/netdev.hpp"
#include "tests/support/fixture_tree.hpp"

#include "tests/catch.hpp"

using namespace rdmad::sysfs;
using Names = std::set<std::string>;

TEST_CASE("what a network device is stacked on belongs to it", "[netdev]")
{
    const rdmad::test::FixtureTree tree;
    const auto stacked = [&](const std::string& upper, const std::string& lower) {
        tree.link("class/net/" + upper + "/lower_" + lower, "../" + lower);
    };
    tree.directory("class/net/eth0");
    tree.directory("class/net/eth1");
    stacked("bond0", "eth0");
    stacked("bond0", "eth1");
    stacked("bond0.7", "bond0");
    stacked("br0", "bond0.7");
    CHECK(stack_of(tree.root(), "eth0") == Names{"eth0"});
    CHECK(stack_of(tree.root(), "br0") == Names{"br0", "bond0.7", "bond0", "eth0", "eth1"});
    CHECK(stack_of(tree.root(), "gone") == Names{"gone"});
}

TEST_CASE("a stack is followed so far and no farther", "[netdev]")
{
    const rdmad::test::FixtureTree tree;
    // which the kernel does not allow
    tree.link("class/net/ring/lower_ring", "../ring");
    CHECK(stack_of(tree.root(), "ring") == Names{"ring"});
    for (const char upper : std::string("abcdef"))
        tree.directory(std::string("class/net/") + upper + "/lower_" +
                       static_cast<char>(upper + 1));
    CHECK(stack_of(tree.root(), "a") == Names{"a", "b", "c", "d", "e"});
}

TEST_CASE("the default GID of a MAC address is its modified EUI-64", "[netdev]")
{
    // as Linux 6.12 made it of the address of a network device of rdma_mock
    CHECK(eui64_of("a6:f1:03:ee:b5:b8") == UINT64_C(0xa4f103fffeeeb5b8));
    CHECK(eui64_of("00:00:00:00:00:00") == UINT64_C(0x020000fffe000000));
    const auto* bad = GENERATE("", "a6:f1:03:ee:b5", "a6:f1:03:ee:b5:b8:00", "a6:f1:03:ee:b5:b",
                               "a6:f1:03:ee:b5:bg", "a6-f1-03-ee-b5-b8");
    CHECK_FALSE(eui64_of(bad).has_value());
    const rdmad::test::FixtureTree tree;
    tree.file("class/net/eth0/address", "a6:f1:03:ee:b5:b8\n");
    CHECK(eui64_of_netdev(tree.root(), "eth0") == UINT64_C(0xa4f103fffeeeb5b8));
    CHECK_FALSE(eui64_of_netdev(tree.root(), "eth1").has_value());
}
