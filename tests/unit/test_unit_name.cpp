// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/naming/unit_name.hpp"
#include "tests/catch.hpp"

using namespace rdmad::naming;

TEST_CASE("names of units that can be started and stopped are taken", "[unit_name]")
{
    for (const auto* good : {"opensm.service", "srp_daemon_port@ibp1s0:1.service", "a@b@c.service",
                             "mnt-x\\x2dy.mount", "x.target", "x.socket", "x.path", "x.timer",
                             "x.slice", "a.b.service"})
        CHECK(unit_refusal(good).empty());
    CHECK(unit_refusal(std::string(247, 'a') + ".service").empty());
}

TEST_CASE("a name that systemd would not take is refused with a reason", "[unit_name]")
{
    CHECK(unit_refusal(std::string(248, 'a') + ".service") == "it has 256 bytes, and 255 fit");
    for (const auto* bad :
         {"a b.service", "a/b.service", "ä.service", "a\n.service", "a%i.service"})
        CHECK(unit_refusal(bad) == "only letters, digits and :-_.\\@ are allowed");
    for (const auto* bad : {"", "opensm", "a.device", "a.swap", "a.scope", "a.Service", "a."})
        CHECK(unit_refusal(bad) ==
              "it does not end in .service, .target, .socket, .mount, .path, .timer or .slice");
    CHECK(unit_refusal(".service") == "it has no name before the dot");
    for (const auto* own :
         {"rdmad.service", "rdmad-refresh@0.service", "rdma-port-ready@0002c90300000a01.target"})
        CHECK(unit_refusal(own) == "it is a unit of rdmad itself");
    CHECK(unit_refusal("rdma-port-ready.target").empty());
    CHECK(unit_refusal("@a.service") == "it begins with '@'");
    CHECK(unit_refusal("a@.service") ==
          "it is a template without an instance: write one after the '@', such as %g, see "
          "rdmad.binding(5)");
}

// as systemd 257 names the units of an adapter
TEST_CASE("a path has the device unit that systemd gives it", "[unit_name]")
{
    CHECK(device_unit("/dev/infiniband/umad0") == "dev-infiniband-umad0.device");
    CHECK(device_unit("/dev/infiniband/by-port-guid/00c0ffee00000001/umad") ==
          "dev-infiniband-by\\x2dport\\x2dguid-00c0ffee00000001-umad.device");
    CHECK(device_unit("/dev/infiniband/by-path/pci-0000:02:00.0") ==
          "dev-infiniband-by\\x2dpath-pci\\x2d0000:02:00.0.device");
    CHECK(device_unit("/sys/devices/pci0000:00/0000:00:10.1/0000:02:00.0/infiniband_mad/umad0") ==
          "sys-devices-pci0000:00-0000:00:10.1-0000:02:00.0-infiniband_mad-umad0.device");
    CHECK(device_unit("/rdma/node/0002c90300000a00/uverbs") ==
          "rdma-node-0002c90300000a00-uverbs.device");
}

// systemd-escape --path of systemd 252
TEST_CASE("what a unit's name cannot hold is escaped in a path", "[unit_name]")
{
    CHECK(device_unit("/") == "-.device");
    CHECK(device_unit("//a//b/") == "a-b.device");
    CHECK(device_unit("/.hidden/.x") == "\\x2ehidden-.x.device");
    CHECK(device_unit("/a b\\@%\xc3\xa4") == "a\\x20b\\x5c\\x40\\x25\\xc3\\xa4.device");
}
