// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/lifecycle/evidence.hpp"
#include "tests/catch.hpp"

using namespace rdmad;
using namespace rdmad::lifecycle;

namespace {

const Place adapter = {
    "/sys/devices/pci0000:00/0000:00:10.0/0000:01:00.0/mlx5_core.rdma.0/infiniband/mlx5_0",
    "mlx5_core", "devices/pci0000:00/0000:00:10.0/0000:01:00.0"};
constexpr char function[] = "/sys/devices/pci0000:00/0000:00:10.0/0000:01:00.0/mlx5_core.rdma.0";
constexpr char card[] = "/sys/devices/pci0000:00/0000:00:10.0/0000:01:00.0";

UdevEvent event(const std::string& subsystem, const std::string& action, const std::string& syspath)
{
    const auto slash = syspath.rfind('/');
    return {.action = action, .subsystem = subsystem, .node = {syspath.substr(slash + 1), syspath}};
}

UdevEvent error(const std::string& what)
{
    auto change = event("pci", "change", card);
    change.error_event = what;
    return change;
}

/// Of an adapter that went, in the order in which the driver core tells of it.
Cause cause_of(const std::vector<UdevEvent>& events, const Place& place = adapter)
{
    Evidence evidence;
    for (const auto& event : events)
        add(evidence, event, place, 0);
    return classify(evidence, place, 0);
}

} // namespace

TEST_CASE("why a device went shows in what it hung on", "[evidence]")
{
    const auto function_gone = event("auxiliary", "remove", function);
    const auto unbound = event("pci", "unbind", card);
    CHECK(cause_of({}) == Cause::reset);
    CHECK(cause_of({function_gone}) == Cause::reset);
    CHECK(cause_of({function_gone, unbound}) == Cause::administrator);
    CHECK(cause_of({unbound, event("drivers", "remove", "/sys/bus/pci/drivers/mlx5_core")}) ==
          Cause::driver_reload);
    CHECK(cause_of({unbound, event("pci", "remove", card)}) == Cause::hot_unplug);
    // the slot's port and all below it
    CHECK(cause_of({event("pci", "remove", "/sys/devices/pci0000:00/0000:00:10.0")}) ==
          Cause::hot_unplug);
    CHECK(cause_of({error("BEGIN_RECOVERY"), unbound}) == Cause::error_recovery);
    CHECK(cause_of({error("BEGIN_RECOVERY"), error("SUCCESSFUL_RECOVERY")}) == Cause::reset);
    CHECK(cause_of({error("FAILED_RECOVERY"), event("pci", "remove", card)}) ==
          Cause::error_recovery);
}

TEST_CASE("devlink tells of recoveries and reloads", "[evidence]")
{
    using News = Functions::News;
    constexpr Time told = 1000 * second;
    const auto cause_after = [&](const std::vector<News>& all, Time went,
                                 const std::vector<UdevEvent>& events = {}) {
        Evidence evidence;
        for (const auto news : all)
            add(evidence, news, told);
        for (const auto& event : events)
            add(evidence, event, adapter, 0);
        return classify(evidence, adapter, went);
    };
    CHECK(cause_after({News::reloaded}, told - 10 * second) == Cause::driver_reload);
    CHECK(cause_after({News::unhealthy}, told + 60 * second) == Cause::error_recovery);
    CHECK(cause_after({News::unhealthy, News::recovered}, told - second) == Cause::error_recovery);
    // udev may be slower
    CHECK(cause_after({News::reloaded}, told + 3 * second) == Cause::driver_reload);
    CHECK(cause_after({News::reloaded}, told + 4 * second) == Cause::reset);
    CHECK(cause_after({News::unhealthy, News::recovered}, told + 3 * second) ==
          Cause::error_recovery);
    CHECK(cause_after({News::unhealthy, News::recovered}, told + 4 * second) == Cause::reset);
    // that of another reporter
    CHECK(cause_after({News::recovered}, told) == Cause::reset);
    // a reporter may stay in error for ever
    CHECK(cause_after({News::unhealthy}, told + 121 * second) == Cause::reset);
    CHECK(cause_after({News::unhealthy, News::reloaded}, told) == Cause::driver_reload);
    CHECK(cause_after({News::unhealthy}, told, {event("pci", "remove", card)}) ==
          Cause::hot_unplug);
    CHECK(cause_after({News::unhealthy}, told, {event("pci", "unbind", card)}) ==
          Cause::administrator);
}

TEST_CASE("devlink is of the function that it names, and of what hangs on that", "[evidence]")
{
    for (const auto* name : {"0000:01:00.1", "0000:01:00", "00:01:00.0", "mlx5_0", "mlx5_core"})
        CHECK_FALSE(hangs_on(adapter, name));
    CHECK(hangs_on(adapter, "0000:01:00.0"));
    // a sub-function has an instance of its own
    CHECK(hangs_on(adapter, "mlx5_core.rdma.0"));
}

TEST_CASE("devlink repeats what it counts", "[evidence]")
{
    using News = Functions::News;
    Functions functions;
    const auto tell = [&](uint64_t reloads, bool has_failed = false) {
        return functions.learn(
            {.device = "a", .reloads = reloads, .has_failed_to_reload = has_failed});
    };
    // it was there before rdmad
    CHECK(tell(7) == News::reloaded);
    CHECK(tell(7) == News::none);
    CHECK(tell(8) == News::reloaded);
    CHECK(tell(8) == News::none);
    // of another
    CHECK(functions.learn({.device = "b", .reloads = 0}) == News::none);
    CHECK(functions.learn({.device = "b", .reloads = 1}) == News::reloaded);
    // one that failed is counted when it succeeds, later
    CHECK(tell(8, true) == News::reloaded);
    CHECK(tell(8, true) == News::none);
    CHECK(tell(9) == News::reloaded);
    // its driver was bound anew
    CHECK(functions.learn({.device = "a", .is_gone = true}) == News::none);
    CHECK(tell(0) == News::none);
    CHECK(tell(1) == News::reloaded);
    // the message of its end was lost
    CHECK(tell(0) == News::none);
    CHECK(functions.learn({.device = "a", .is_healthy = false}) == News::unhealthy);
    CHECK(functions.learn({.device = "a", .is_healthy = true}) == News::recovered);
    CHECK(functions.learn({.device = "a"}) == News::none);
}

TEST_CASE("of an end that nobody saw only what is left can be told", "[evidence]")
{
    Evidence evidence = {.is_partial = true};
    CHECK(classify(evidence, adapter, 0) == Cause::unknown);
    evidence.was_bus_removed = true;
    CHECK(classify(evidence, adapter, 0) == Cause::hot_unplug);
}

TEST_CASE("what a device does not hang on says nothing of it", "[evidence]")
{
    Evidence evidence;
    for (const auto* path : {"/sys/devices/pci0000:00/0000:00:10.0/0000:01:00.1",
                             "/sys/devices/pci0000:00/0000:00:10.0/0000:01:00",
                             "/sys/devices/pci0000:00/0000:00:10", adapter.syspath.c_str(), ""})
        CHECK_FALSE(add(evidence, event("pci", "remove", path), adapter, 0));
    CHECK_FALSE(add(evidence, event("pci", "bind", card), adapter, 0));
    CHECK_FALSE(add(evidence, event("pci", "change", card), adapter, 0));
    CHECK_FALSE(add(evidence, error("SOMETHING"), adapter, 0));
    CHECK_FALSE(
        add(evidence, event("drivers", "remove", "/sys/bus/pci/drivers/mlx4_core"), adapter, 0));
    CHECK_FALSE(
        add(evidence, event("drivers", "add", "/sys/bus/pci/drivers/mlx5_core"), adapter, 0));
    CHECK_FALSE(add(evidence, event("infiniband", "remove", card), adapter, 0));
    CHECK(evidence == Evidence());
}

TEST_CASE("of a soft device nothing can be told", "[evidence]")
{
    CHECK(cause_of({}, {"/sys/devices/virtual/infiniband/rxe0", "rdma_rxe", ""}) == Cause::unknown);
    CHECK(cause_of({}, {"", "", ""}) == Cause::unknown);
    CHECK(cause_of({event("drivers", "remove", "/sys/bus/pci/drivers/")}, {"", "", ""}) ==
          Cause::unknown);
}

TEST_CASE("a device is known by its GUID, and by its place", "[evidence]")
{
    CHECK(kinship(1, "pci-a", 1, "pci-a") == Kinship::same);
    CHECK(kinship(1, "pci-a", 1, "pci-b") == Kinship::moved);
    CHECK(kinship(1, "pci-a", 2, "pci-a") == Kinship::replaced);
    CHECK(kinship(1, "pci-a", 2, "pci-b") == Kinship::none);
    CHECK(kinship(1, "", 1, "") == Kinship::same);
    CHECK(kinship(1, "", 2, "") == Kinship::none);
    // a VF that has no GUID yet
    CHECK(kinship(0, "pci-a", 0, "pci-a") == Kinship::same);
    CHECK(kinship(5, "pci-a", 0, "pci-a") == Kinship::same);
    CHECK(kinship(0, "", 0, "") == Kinship::none);
    CHECK(kinship(0, "pci-a", 0, "pci-b") == Kinship::none);
}
