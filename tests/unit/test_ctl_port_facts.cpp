// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/port_facts.hpp"
#include "tests/catch.hpp"

using namespace rdmad;
using namespace rdmad::ctl;

namespace {

const std::vector<Device> devices = {
    {.name = "mlx5_0",
     .driver = "mlx5_core",
     .path = "pci-0000:c1:00.0",
     .node_guid = "0002c90300000a00",
     .sys_image_guid = "0002c90300000a09",
     .ports = {{.number = 1, .guid = "0002c90300000a01", .link_type = "infiniband"},
               {.number = 2, .link_type = "roce", .netdev = "ens4f1"}}},
    {.name = "bare", .driver = "mlx5_core", .node_guid = "0002c90300000b00"},
};

std::vector<std::string> matched(const std::string& key, const std::string& value)
{
    config::Match match(config::Match::Of::port);
    REQUIRE(match.set(key, value).empty());
    return matches_of(match, devices, {.kernel_command_line = "quiet"});
}

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("ports match by what is so of them, of their device and of the host", "[port_facts]")
{
    const Names both = {"mlx5_0/1", "mlx5_0/2"};
    for (const auto& [key, value] : {std::pair{"Device", "mlx5_*"},
                                     {"Path", "pci-0000:c1:*"},
                                     {"NodeGUID", "0002c90300000a00"},
                                     {"SysImageGUID", "0002c90300000a09"},
                                     {"KernelCommandLine", "quiet"}}) {
        CAPTURE(key);
        CHECK(matched(key, value) == both);
    }
    CHECK(matched("PortGUID", "0002c90300000a01") == Names{"mlx5_0/1"});
    CHECK(matched("LinkType", "roce") == Names{"mlx5_0/2"});
    CHECK(matched("NetDev", "ens4f1") == Names{"mlx5_0/2"});
    CHECK(matched("Port", "1") == Names{"mlx5_0/1"});
    // of a port without one, "!" alone is true
    CHECK(matched("PortGUID", "*") == Names{"mlx5_0/1"});
    CHECK(matched("PortGUID", "!0002c90300000a01") == Names{"mlx5_0/2"});
}

TEST_CASE("a device without ports is not matched, as rdmad ties ports alone", "[port_facts]")
{
    CHECK(matched("Driver", "mlx5_core") == Names{"mlx5_0/1", "mlx5_0/2"});
    CHECK(matched("NodeGUID", "0002c90300000b00").empty());
    CHECK(matched("PortGUID", "!*") == Names{"mlx5_0/2"});
}
