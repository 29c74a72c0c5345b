// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/name_records.hpp"
#include "tests/support/fake_host.hpp"
#include "tests/support/must.hpp"
#include "udev-helpers/rdma_id/naming/decision.hpp"
#include "udev-helpers/rdma_id/naming/naming_switch.hpp"
#include "udev-helpers/rdma_id/run.hpp"

using namespace rdmad;
using namespace rdmad::rdma_id;
using namespace rdmad::test;

namespace {

/// Device 0 of the captures with its node uverbs0, and the whole of rdma_id but its arguments.
struct Bench {
    FakeHost kernel{"7.2"};
    Options options = {.event = true};
    Host host = {
        .sys = kernel.sys.path(), .paths = kernel.paths, .event = kernel.event, .netlink = kernel};

    Bench()
    {
        kernel.sys.node("infiniband_verbs", "uverbs0", "mixed", 0);
        kernel.sys.file("class/infiniband_verbs/uverbs0/dev", "231:192\n");
        kernel.sys.link("class/infiniband/mixed/subsystem", "../../../class/infiniband");
        kernel.image.directory("etc/udev/rules.d");
        kernel.image.file("usr/lib/udev/rules.d/60-rdma-persistent-naming.rules",
                          "SUBSYSTEM==\"infiniband\", PROGRAM=\"rdma_rename %k NAME_FALLBACK\"\n");
    }
    Answer run_event(const std::string& action, const std::string& subsystem,
                     const std::string& devpath)
    {
        options.event = true;
        options.device.reset();
        kernel.properties["ACTION"] = action;
        kernel.properties["SUBSYSTEM"] = subsystem;
        kernel.properties["DEVPATH"] = devpath;
        return run(options, host);
    }
    Answer run_node_event(const std::string& action = "add")
    {
        return run_event(action, "infiniband_verbs", "/class/infiniband_verbs/uverbs0");
    }
    Answer run_for(const std::string& device)
    {
        options.event = false;
        options.device = device;
        return run(options, host);
    }
};

bool has(const Answer& answer, const std::string& line)
{
    return answer.exit_code == exit_found &&
           ("\n" + answer.text).find("\n" + line) != std::string::npos;
}

} // namespace

TEST_CASE("an event of a node or a device is answered with its properties", "[run]")
{
    Bench bench;
    CHECK(has(bench.run_node_event(), "ID_RDMA_NAME=mixed\n"));
    const auto device = bench.run_event("change", "infiniband", "/class/infiniband/mixed");
    CHECK(has(device, "ID_RDMA_NAME=mixed\n"));
    CHECK(has(device, "ID_RDMA_PORTS="));
}

TEST_CASE("a device is named in an add event, where rules ask for it and naming is on", "[run]")
{
    Bench bench;
    bench.kernel.wish(0, "Name=wanted\n");
    bench.options.rename = true;
    CHECK(has(bench.run_node_event(), "ID_RDMA_NAME=mixed\n"));
    must(NamingSwitch(bench.kernel.image.path()).enable());
    CHECK(has(bench.run_node_event("change"), "ID_RDMA_NAME=mixed\n"));
    bench.options.rename = false;
    CHECK(has(bench.run_node_event(), "ID_RDMA_NAME=mixed\n"));
    bench.options.rename = true;
    CHECK(has(bench.run_node_event(), "ID_RDMA_NAME=wanted\n"));
    CHECK(bench.run_event("add", "infiniband", "/class/infiniband/wanted").exit_code == exit_found);
    CHECK(bench.kernel.name_of(0) == "wanted");
}

TEST_CASE("only events of RDMA devices and their nodes have properties of an RDMA device", "[run]")
{
    FakeHost host("7.2");
    host.properties["ROLE"] = "storage";
    for (const auto* subsystem : {"infiniband", "infiniband_verbs", "infiniband_mad"}) {
        host.properties["SUBSYSTEM"] = subsystem;
        CHECK(rdma_properties(host.context)("ROLE") == "storage");
    }
    host.properties["SUBSYSTEM"] = "net";
    CHECK_FALSE(static_cast<bool>(rdma_properties(host.context)));
}

TEST_CASE("the kernel is not asked about a network device that RDMA has nothing to do with",
          "[run]")
{
    Bench bench;
    const std::string adapter = "devices/pci0000:00/0000:02:00.0";
    bench.kernel.sys.file(adapter + "/net/eth0/type", "1\n");
    bench.kernel.sys.link(adapter + "/net/eth0/device", "../../../0000:02:00.0");
    const auto run_net_event = [&] {
        return bench.run_event("add", "net", "/" + adapter + "/net/eth0");
    };
    CHECK(run_net_event().exit_code == exit_found);
    CHECK(bench.kernel.sent().empty());
    // udev's record of the node is empty
    bench.kernel.sys.directory(adapter + "/infiniband/mixed");
    bench.kernel.sys.directory("class/infiniband_verbs/abi_version");
    const auto answer = run_net_event();
    CHECK(answer.exit_code == exit_found);
    CHECK(answer.text.empty());
    CHECK_FALSE(bench.kernel.sent().empty());
}

TEST_CASE("what udev recorded nothing of is looked for when it goes", "[run]")
{
    Bench bench;
    const NameRecords records(bench.kernel.paths.rdmad);
    const DeviceId gone = {7, 1};
    must(records.write(gone, {"a", "b"}));
    const bool is_loaded = GENERATE(true, false);
    if (!is_loaded)
        bench.kernel.sys.remove("class/infiniband");
    CHECK(bench.run_event("remove", "infiniband", "/devices/x/infiniband/old").exit_code ==
          exit_found);
    // to ask would load ib_core
    CHECK(bench.kernel.sent().empty() == !is_loaded);
    CHECK_FALSE(records.find(gone).has_value());
}

TEST_CASE("a rename takes udev's record of the old name away", "[run]")
{
    Bench bench;
    bench.kernel.image.file("run/udev/data/+infiniband:old", "E:ID_RDMA_INDEX=0\n");
    bench.kernel.properties["DEVPATH_OLD"] = "/class/infiniband/old";
    CHECK(has(bench.run_event("move", "infiniband", "/class/infiniband/mixed"),
              "ID_RDMA_NAME=mixed\n"));
    CHECK_FALSE(bench.kernel.image.exists("run/udev/data/+infiniband:old"));
}

TEST_CASE("what is not there, or cannot be asked for, has exit codes of its own", "[run]")
{
    Bench bench;
    CHECK(bench.run_event("add", "infiniband", "/class/infiniband/gone").exit_code ==
          exit_not_found);
    CHECK(bench.run_for("gone").exit_code == exit_not_found);
    bench.kernel.fail_next_send(EPROTONOSUPPORT);
    CHECK(bench.run_node_event().exit_code == exit_refused);
    bench.kernel.fail_next_send(EPROTONOSUPPORT);
    CHECK(bench.run_for("mixed").exit_code == exit_refused);
    bench.host.sys = bench.kernel.sys.path("none");
    CHECK(bench.run_for("mixed").exit_code == exit_refused);
    bench.options.device.reset();
    bench.kernel.properties.clear();
    CHECK(run(bench.options, bench.host).exit_code == exit_usage);
}

TEST_CASE("a user is told of a device, or what its name would be", "[run]")
{
    Bench bench;
    CHECK(has(bench.run_for("mixed"), "mixed"));
    bench.kernel.wish(0, "Name=wanted\n");
    bench.options.test_link = true;
    CHECK(has(bench.run_for("mixed"), "It would be called wanted.\n"));
    CHECK(bench.kernel.name_of(0) == "mixed");
}

TEST_CASE("who names devices is told and changed below the root", "[run]")
{
    Bench bench;
    bench.options = {.naming = NamingVerb::enable};
    CHECK(run(bench.options, bench.host).exit_code == exit_found);
    CHECK(bench.kernel.image.exists("etc/udev/rules.d/60-rdma-persistent-naming.rules"));
    bench.options.naming = NamingVerb::status;
    CHECK(has(run(bench.options, bench.host), "rdmad names"));
    bench.kernel.image.file("etc/udev/rules.d/60-rdma-persistent-naming.rules", "# mine\n");
    bench.options.naming = NamingVerb::enable;
    CHECK(run(bench.options, bench.host).exit_code == exit_in_the_way);
}
