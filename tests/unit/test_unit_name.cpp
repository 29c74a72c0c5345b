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
    for (const auto* bad :
         {"", "opensm", ".service", "a.device", "a.swap", "a.scope", "a.Service", "a."})
        CHECK(unit_refusal(bad) ==
              "it does not end in .service, .target, .socket, .mount, .path, .timer or .slice");
    CHECK(unit_refusal("@a.service") == "it begins with '@'");
    CHECK(unit_refusal("a@.service") == "it is a template without an instance");
}
