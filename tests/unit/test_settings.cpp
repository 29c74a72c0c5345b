// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/time_span.hpp"
#include "daemon/settings.hpp"
#include "tests/catch.hpp"
#include "tests/support/fixture_tree.hpp"

using namespace rdmad;
using namespace rdmad::test;
using config::parse_time_span;
using lifecycle::second;

TEST_CASE("time spans are those of systemd.time", "[settings]")
{
    CHECK(parse_time_span("0") == 0U);
    CHECK(parse_time_span("90") == 90 * second);
    CHECK(parse_time_span("1us") == 1U);
    CHECK(parse_time_span("500 ms") == second / 2);
    CHECK(parse_time_span("2s") == 2 * second);
    CHECK(parse_time_span("2sec") == 2 * second);
    CHECK(parse_time_span("1min 30s") == 90 * second);
    CHECK(parse_time_span("1m30s") == 90 * second);
    CHECK(parse_time_span("1h5") == 3605 * second);
    CHECK(parse_time_span("366d") == 366 * 24 * 3600 * second);
    const auto mean = [](std::initializer_list<const char*> units, lifecycle::Time one) {
        for (const auto* unit : units) {
            CAPTURE(unit);
            CHECK(parse_time_span(std::string("1").append(unit)) == one);
            CHECK(parse_time_span(std::string("1 ").append(unit) + " 1us") == one + 1);
        }
    };
    mean({"usec", "us", "\xce\xbcs", "\xc2\xb5s"}, 1);
    mean({"msec", "ms"}, second / 1000);
    mean({"seconds", "second", "sec", "s"}, second);
    mean({"minutes", "minute", "min", "m"}, 60 * second);
    mean({"hours", "hour", "hr", "h"}, 3600 * second);
    mean({"days", "day", "d"}, 24 * 3600 * second);
    mean({"weeks", "week", "w"}, 7 * 24 * 3600 * second);
    mean({"months", "month", "M"}, 2629800 * second);
    mean({"years", "year", "y"}, 31557600 * second);
    for (const auto* wrong : {"", " ", "s", "-1", "1.5", "1 2", "2x", "1 s s", "366d 1us",
                              "99999999999999999999", "1s,", "infinity", "1S", "1y 1M", "2years"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_time_span(wrong).has_value());
    }
}

TEST_CASE("settings are read from the file and its drop-ins", "[settings]")
{
    const FixtureTree root;
    CHECK(read_settings(root.path()).lifecycle.flap_limit == lifecycle::Settings().flap_limit);
    root.file("usr/lib/rdmad/rdmad.conf", "[Lifecycle]\nQuietSec=7\n");
    root.file("etc/rdmad/rdmad.conf",
              "[Lifecycle]\nReadyTimeoutSec=1min\nGraceSec=5\nRecoveryGraceSec=6\nBlockedSec=8\n"
              "FlapLimit=0\nFlapWindowSec=9\nHoldSec=10\nHoldMaxSec=11\n");
    root.file("run/rdmad/rdmad.conf.d/10-hold.conf", "[Lifecycle]\nHoldSec=500ms\n");
    const auto settings = read_settings(root.path());
    CHECK(settings.problems.empty());
    const auto& life = settings.lifecycle;
    CHECK(life.quiet == lifecycle::Settings().quiet);
    CHECK(life.deadline == 60 * second);
    CHECK(life.grace == 5 * second);
    CHECK(life.grace_recovery == 6 * second);
    CHECK(life.blocked_after == 8 * second);
    CHECK(life.flap_limit == 0);
    CHECK(life.flap_window == 9 * second);
    CHECK(life.hold_first == second / 2);
    CHECK(life.hold_last == 11 * second);
}

TEST_CASE("recoveries are on, and switched off one by one", "[settings]")
{
    using recovery::Kind;
    const FixtureTree root;
    CHECK(read_settings(root.path()).recovery.kinds.size() == 4);
    root.file("etc/rdmad/rdmad.conf",
              "[Recovery]\nNVMeTarget=no\nSRPTarget=off\nNVMeHost=0\nISERPortal=maybe\nCIFS=no\n");
    root.file("usr/lib/rdmad/rdmad.conf.d/10-other.conf", "[Recovery]\nSRPTarget=\n");
    const auto settings = read_settings(root.path());
    CHECK(settings.recovery.kinds == std::set<Kind>{Kind::iser, Kind::srpt, Kind::nfs});
    CHECK_FALSE(settings.recovery.nvme_host);
    REQUIRE(settings.problems.size() == 2);
    CHECK(settings.problems[0].key == "ISERPortal");
    CHECK(settings.problems[1].key == "CIFS");
}

TEST_CASE("drop-ins count without a file, too", "[settings]")
{
    const FixtureTree root;
    root.file("etc/rdmad/rdmad.conf.d/a.conf", "[Lifecycle]\nFlapLimit=7\n");
    CHECK(read_settings(root.path()).lifecycle.flap_limit == 7);
    // an empty value is the default again
    root.file("etc/rdmad/rdmad.conf.d/b.conf", "[Lifecycle]\nFlapLimit=\n");
    CHECK(read_settings(root.path()).lifecycle.flap_limit == 3);
}

TEST_CASE("a setting that is wrong is ignored: what a file before it says stays", "[settings]")
{
    const FixtureTree root;
    root.file("etc/rdmad/rdmad.conf",
              "[Lifecycle]\nGraceSec=5\nFlapLimit=7\n[Recovery]\nSRPTarget=no\n");
    root.file("etc/rdmad/rdmad.conf.d/a.conf", "[Lifecycle]\nGraceSec=soon\nFlapLimit=many\n"
                                               "QuietSec=\n[Recovery]\nSRPTarget=perhaps\n");
    const auto settings = read_settings(root.path());
    CHECK(settings.problems.size() == 3);
    CHECK(settings.lifecycle.grace == 5 * second);
    CHECK(settings.lifecycle.flap_limit == 7);
    CHECK_FALSE(settings.recovery.kinds.contains(recovery::Kind::srpt));
}

TEST_CASE("what is wrong in the settings is told", "[settings]")
{
    const FixtureTree root;
    root.file("etc/rdmad/rdmad.conf",
              "[Lifecycle]\nGraceSec=soon\nFlapLimit=1001\nColour=red\nHoldSec=4\n[Daemon]\nA=b\n");
    const auto settings = read_settings(root.path());
    const auto path = root.path("etc/rdmad/rdmad.conf");
    REQUIRE(settings.problems.size() == 4);
    CHECK(settings.problems[0].message() ==
          path + ":2: GraceSec: 'soon' is not a time span of systemd.time(7) in whole numbers, up "
                 "to 366 days");
    CHECK(settings.problems[1].message() ==
          path + ":3: FlapLimit: '1001' is not a number from 0 (never hold) to 1000");
    CHECK(settings.problems[2].message() == path + ":4: Colour: unknown key in [Lifecycle]");
    CHECK(settings.problems[3].message() == path + ":7: A: unknown section [Daemon]");
    CHECK(settings.lifecycle.grace == lifecycle::Settings().grace);
    CHECK(settings.lifecycle.hold_first == 4 * second);
}
