// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/lifecycle/history_file.hpp"
#include "tests/catch.hpp"
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"

#include <cerrno>

using namespace rdmad;
using namespace rdmad::lifecycle;
using namespace rdmad::test;

namespace {

History sample()
{
    History history = {.id = 3,
                       .node_guid = 0x0002c90300000a00,
                       .path = "pci-0000:c1:00.0",
                       .name = "mlx5_0",
                       .place = {"/sys/devices/x/infiniband/mlx5_0", "mlx5_core", "devices/x"}};
    history.life = {.state = State::grace,
                    .since = 1,
                    .index = 7,
                    .appeared = 2,
                    .active = 4,
                    .went = 5,
                    .cause = Cause::hot_unplug,
                    .has_ports = true,
                    .is_recovering = true,
                    .is_degraded = true,
                    .is_blocked = true,
                    .is_judged = false,
                    .is_accepted = false,
                    .returns = {6, 8},
                    .held_until = 9,
                    .holds = 2};
    return history;
}

} // namespace

TEST_CASE("a history is read as it was written", "[histories]")
{
    const auto read = must(parse_history(format_history(sample())));
    CHECK(read.id == 3);
    CHECK(read.node_guid == 0x0002c90300000a00);
    CHECK(read.path == "pci-0000:c1:00.0");
    CHECK(read.name == "mlx5_0");
    CHECK(read.place.syspath == "/sys/devices/x/infiniband/mlx5_0");
    CHECK(read.place.driver == "mlx5_core");
    CHECK(read.place.hardware == "devices/x");
    CHECK(read.life == sample().life);
    CHECK(must(parse_history(format_history({}))).life == Life());
}

TEST_CASE("what is no history is none, and what is wrong in one is left out", "[histories]")
{
    for (const auto* text : {"", "{", "[]", "{}", "{\"version\": 2}", "{\"version\": \"1\"}"}) {
        CAPTURE(text);
        CHECK(parse_history(text).error().code == EBADMSG);
    }
    const auto history = must(parse_history(
        R"({"version": 1, "id": -1, "state": "gone", "cause": 7, "returns": [1, "x", -2, 3],
            "nodeGuid": "zz", "holds": 4294967296, "hasPorts": "yes", "heldUntil": null})"));
    CHECK(history.id == 0);
    CHECK(history.node_guid == 0);
    CHECK(history.life.returns == std::vector<Time>{1, 3});
    CHECK(history.life.state == State::absent);
    CHECK(history.life.holds == 0);
    CHECK_FALSE(history.life.held_until.has_value());
}

TEST_CASE("histories are files by their number", "[histories]")
{
    const FixtureTree run;
    const Histories histories(run.path("devices"));
    CHECK(histories.read().histories.empty());
    must(histories.write(sample()));
    run.file("devices/4", "{");
    run.file("devices/5", format_history(sample()));
    run.file("devices/x", "{");
    const auto read = histories.read();
    REQUIRE(read.histories.size() == 1);
    CHECK(read.histories[0].life == sample().life);
    CHECK(read.problems.size() == 2);
    histories.remove(3);
    CHECK(histories.read().histories.empty());
}
