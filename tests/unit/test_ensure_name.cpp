// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/state_link.hpp"
#include "core/naming/device_name.hpp"
#include "core/sysfs/rdma_device.hpp"
#include "tests/support/fake_host.hpp"
#include "tests/support/must.hpp"
#include "tests/support/open_hook.hpp"
#include "udev-helpers/rdma_id/naming/ensure_name.hpp"

#include <cerrno>
#include <fcntl.h>
#include <rdma/rdma_netlink.h>
#include <sys/file.h>
#include <unistd.h>

using namespace rdmad;
using namespace rdmad::rdma_id;
using namespace rdmad::test;

namespace {

/// The devices mixed, opa, rxe and siw of the captures have the indexes 0 to 3. That of Linux 6.1
/// does not tell that a user chose the names of rxe and siw.
struct Bench {
    FakeHost host{"6.1"};
    NameRecords records{host.paths.rdmad};

    Bench()
    {
        for (const uint32_t index : {0U, 1U, 2U, 3U})
            inodes[index] = host.inode(index);
    }
    Result<std::optional<NameOutcome>> ensure(uint32_t index, Ask ask = Ask::once)
    {
        return ensure_name(host.context, must_find(host.client.device(index)), inodes[index], ask);
    }
    [[nodiscard]] bool renames(uint32_t index, Ask ask = Ask::once)
    {
        const auto before = host.name_of(index);
        const auto outcome = must_find(ensure(index, ask));
        CHECK(outcome.name == host.name_of(index));
        return outcome.name != before;
    }
    [[nodiscard]] std::string name(uint32_t index) const
    {
        return host.name_of(index);
    }
    /// Returns "mixed storage" as the record of a device holds it, or "nothing".
    [[nodiscard]] std::string record(uint32_t index) const
    {
        const auto found = records.find({index, inodes.at(index)});
        return found ? found->original + (found->given ? " " + *found->given : "") : "nothing";
    }
    void write_record(uint32_t index, const NameRecord& record)
    {
        records.write({index, inodes[index]}, record);
    }
    /// A uverbs node of device 0, of which udev has or has not a record.
    void add_node(const std::string& record) const
    {
        host.sys.node("infiniband_verbs", "uverbs0", "mixed", 0);
        host.sys.file("class/infiniband_verbs/uverbs0/dev", "231:192\n");
        if (!record.empty())
            host.image.file("run/udev/data/c231:192", record);
    }
    [[nodiscard]] std::string node_trigger() const
    {
        return host.take_trigger("infiniband_verbs/uverbs0");
    }

    std::map<uint32_t, uint64_t> inodes;
};

} // namespace

TEST_CASE("a device gets its name, which is recorded beside the original one", "[ensure_name]")
{
    Bench bench;
    bench.host.wish(0, "Name=storage\n");
    CHECK(bench.renames(0));
    CHECK(bench.name(0) == "storage");
    CHECK(bench.record(0) == "mixed storage");
}

TEST_CASE("a recorded name stands, without a look at anything", "[ensure_name]")
{
    Bench bench;
    bench.host.wish(0, "Name=storage\n");
    const auto device = must_find(bench.host.client.device(0));
    SECTION("it is the present one")
    {
        bench.write_record(0, {"mlx5_0", "mixed"});
        const auto sent = bench.host.sent().size();
        const auto outcome = must_find(ensure_name(bench.host.context, device, bench.inodes[0]));
        CHECK(outcome.name == "mixed");
        CHECK(bench.host.sent().size() == sent);
        CHECK_FALSE(bench.host.image.exists("run/rdmad/names.lock"));
    }
    SECTION("somebody renamed the device since")
    {
        bench.write_record(0, {"mlx5_0", "ibp1s0"});
        CHECK(must_find(ensure_name(bench.host.context, device, bench.inodes[0])).name == "mixed");
    }
    CHECK(bench.host.count(RDMA_NLDEV_CMD_SET) == 0);
}

TEST_CASE("of events that ask at the same time one names the device", "[ensure_name]")
{
    Bench bench;
    bench.host.wish(0, "Name=storage\n");
    const auto before = must_find(bench.host.client.device(0));
    // another event got the lock first, and has named the device by the time that this one has it
    const OpenHook hook("class/infiniband/mixed", OpenHook::When::before, [&] {
        bench.write_record(0, {"mixed", "other"});
        REQUIRE(bench.host.client.rename(0, "other").has_value());
    });
    const auto outcome = must_find(ensure_name(bench.host.context, before, bench.inodes[0]));
    CHECK(hook.has_run());
    CHECK(outcome.name == "other");
    CHECK(bench.record(0) == "mixed other");
}

TEST_CASE("a user who asks again has the name decided anew", "[ensure_name]")
{
    Bench bench;
    bench.write_record(0, {"mixed", "mixed"});
    bench.host.wish(0, "Name=storage\n");
    CHECK_FALSE(bench.renames(0));
    CHECK(bench.renames(0, Ask::anew));
    CHECK(bench.record(0) == "mixed storage");
}

TEST_CASE("a device that has its name, or should keep it, is left alone", "[ensure_name]")
{
    Bench bench;
    SECTION("no file matches") {}
    SECTION("it has the name")
    {
        bench.host.wish(0, "Name=mixed\n");
    }
    CHECK_FALSE(bench.renames(0));
    CHECK(bench.record(0) == "mixed mixed");
    CHECK(bench.host.count(RDMA_NLDEV_CMD_SET) == 0);
}

TEST_CASE("a device that is gone is nothing to name", "[ensure_name]")
{
    Bench bench;
    bench.host.wish(0, "Name=storage\n");
    const auto device = must_find(bench.host.client.device(0));
    SECTION("gone")
    {
        bench.host.remove(0);
    }
    SECTION("another one has the index")
    {
        bench.inodes[0]++;
    }
    CHECK(is_none(ensure_name(bench.host.context, device, bench.inodes[0])));
    CHECK(bench.host.image.list("run/rdmad/names").empty());
    CHECK(bench.host.count(RDMA_NLDEV_CMD_SET) == 0);
}

TEST_CASE("nodes get another event after a rename that their events may have missed",
          "[ensure_name]")
{
    Bench bench;
    const std::string old_record = "E:ID_RDMA_INDEX=0\nE:ID_RDMA_NAME=mixed\n";
    bench.host.wish(0, "Name=storage\n");
    SECTION("first events of nodes wait for the first name")
    {
        bench.add_node("");
        CHECK(bench.renames(0));
        CHECK(bench.node_trigger().empty());
    }
    SECTION("a later name: the event of a node that has no record yet may have read the old one")
    {
        bench.add_node("");
        bench.write_record(0, {"mixed", "mixed"});
        CHECK(bench.renames(0, Ask::anew));
        CHECK(bench.node_trigger() == "change");
    }
    SECTION("a later name, with a record of the old one")
    {
        bench.add_node(old_record);
        bench.write_record(0, {"mixed"});
        CHECK(bench.renames(0));
        CHECK(bench.node_trigger() == "change");
    }
}

TEST_CASE("a device that waits for its network device is named later", "[ensure_name]")
{
    Bench bench;
    // device 2 is rxe: port 1 has a network device, here on the parent that the RDMA device has
    const auto device = must_find(bench.host.client.device(2));
    const auto netdev = must_find(bench.host.client.port(2, 1)).netdev.value_or("");
    REQUIRE_FALSE(netdev.empty());
    bench.host.sys.file("class/net/" + netdev + "/ifindex", "7\n");
    bench.host.sys.directory("class/net/" + netdev + "/device/infiniband");
    bench.host.wish(2, "NamePolicy=keep\nName=nic-%N\n");
    std::string original = "rxe";
    SECTION("nothing is recorded yet") {}
    SECTION("an initrd gave it another name")
    {
        bench.write_record(2, {"mlx5_0", "rxe"});
        original = "mlx5_0";
    }
    SECTION("a swap left it with its temporary name")
    {
        bench.write_record(2, {"rxe"});
        REQUIRE(bench.host.client.rename(2, naming::temporary_name(2)).has_value());
    }
    const auto first = must_find(bench.ensure(2, Ask::anew));
    CHECK(first.name == "rxe");
    CHECK(bench.record(2) == original);

    CHECK(must_find(bench.ensure(2)).name == "rxe");
    CHECK(bench.record(2) == original);
    bench.host.image.file("run/udev/data/n7", "E:ID_NET_NAME=x\n");
    CHECK(bench.renames(2));
    CHECK(bench.name(2) == "nic-" + netdev);
    CHECK(device.name == "rxe");
}

TEST_CASE("a device whose driver the event of a umad node does not know is named later",
          "[ensure_name]")
{
    Bench bench;
    bench.host.sys.directory("class/infiniband_verbs");
    bench.host.image.file("etc/rdmad/link.d/1.link",
                          "[Match]\nDriver=rdma_rxe\n[Link]\nName=soft\n");
    bench.host.properties["SUBSYSTEM"] = "infiniband_mad";
    // ib_uverbs does not have device 2
    CHECK_FALSE(bench.renames(2));
    CHECK(bench.record(2) == "rxe");
    SECTION("by an event of the uverbs node")
    {
        bench.host.properties["SUBSYSTEM"] = "infiniband_verbs";
    }
    SECTION("by its own event, which never waits for the driver")
    {
        bench.host.properties["SUBSYSTEM"] = "infiniband";
    }
    CHECK_FALSE(bench.renames(2));
    CHECK(bench.record(2) == "rxe rxe");
}

TEST_CASE("a device that a swap left with its temporary name gets another one", "[ensure_name]")
{
    Bench bench;
    REQUIRE(bench.host.client.rename(0, naming::temporary_name(0)).has_value());
    SECTION("the one that it had")
    {
        bench.write_record(0, {"mixed", "mixed"});
        CHECK(bench.renames(0));
        CHECK(bench.name(0) == "mixed");
    }
    SECTION("the one that it should have")
    {
        bench.write_record(0, {"mixed"});
        bench.host.wish(0, "Name=storage\n");
        CHECK(bench.renames(0));
        CHECK(bench.record(0) == "mixed storage");
    }
    SECTION("one by its GUID, if nothing is known")
    {
        bench.host.wish(0, "NamePolicy=kernel\n");
        CHECK(bench.renames(0));
        CHECK(bench.name(0).starts_with("rdmax"));
        CHECK(bench.record(0) == bench.name(0) + " " + bench.name(0));
    }
}

TEST_CASE("a name that another event gave just before is ours", "[ensure_name]")
{
    Bench bench;
    bench.write_record(0, {"mlx5_0"});
    bench.host.wish(0, "Name=mixed\n");
    CHECK_FALSE(bench.renames(0));
    CHECK(bench.record(0) == "mlx5_0 mixed");
}

TEST_CASE("a device that cannot have its name keeps the present one for good", "[ensure_name]")
{
    Bench bench;
    bench.host.wish(0, "Name=opa\n");
    CHECK_FALSE(bench.renames(0));
    CHECK(bench.record(0) == "mixed mixed");
}

TEST_CASE("a name that a user chose stays his, whatever was recorded", "[ensure_name]")
{
    Bench bench;
    bench.write_record(0, {"mlx5_0", "ibp1s0"});
    bench.host.wish(0, "NamePolicy=keep guid\n");
    for (int i = 0; i < 2; i++) {
        CHECK_FALSE(bench.renames(0, Ask::anew));
        CHECK(bench.record(0) == "mlx5_0 ibp1s0");
    }
}

TEST_CASE("a name that another device has and keeps falls to the next one", "[ensure_name]")
{
    Bench bench;
    bench.host.wish(0, "NamePolicy=guid\nName=free\n");
    REQUIRE(bench.renames(0));
    const auto by_guid = bench.name(0);
    REQUIRE(bench.host.client.rename(0, "mixed").has_value());
    // now device 1 has that name, as the one that its file gives it
    bench.host.wish(1, "Name=" + by_guid + "\n");
    REQUIRE(bench.renames(1));
    CHECK(bench.renames(0, Ask::anew));
    CHECK(bench.name(0) == "free");
    CHECK(bench.name(1) == by_guid);
    CHECK(bench.record(0) == "mixed free");
}

TEST_CASE("two devices swap their names over a temporary one", "[ensure_name]")
{
    Bench bench;
    bench.host.wish(0, "Name=opa\n");
    bench.host.wish(1, "Name=mixed\n");
    CHECK(bench.renames(0));
    CHECK(bench.name(0) == "opa");
    CHECK(bench.name(1) == "mixed");
    CHECK(bench.record(0) == "mixed opa");
    CHECK(bench.record(1) == "opa mixed");
    CHECK(bench.host.count(RDMA_NLDEV_CMD_SET) == 5); // two of them were refused
}

TEST_CASE("a ring of three devices turns round", "[ensure_name]")
{
    Bench bench;
    bench.host.wish(0, "Name=opa\n");
    bench.host.wish(1, "Name=rxe\n");
    bench.host.wish(2, "Name=mixed\n");
    CHECK(bench.renames(0));
    CHECK(bench.name(0) == "opa");
    CHECK(bench.name(1) == "rxe");
    CHECK(bench.name(2) == "mixed");
}

TEST_CASE("a chain moves on at its end", "[ensure_name]")
{
    Bench bench;
    bench.host.wish(0, "Name=opa\n");
    bench.host.wish(1, "Name=rxe\n");
    bench.host.wish(2, "Name=free\n");
    CHECK(bench.renames(0));
    CHECK(bench.name(0) == "opa");
    CHECK(bench.name(1) == "rxe");
    CHECK(bench.name(2) == "free");
}

TEST_CASE("the device that wants the name of one that cannot move keeps its own", "[ensure_name]")
{
    Bench bench;
    bench.host.wish(0, "Name=opa\n");
    bench.host.wish(1, "Name=rxe\n"); // and rxe stays
    CHECK_FALSE(bench.renames(0));
    CHECK(bench.name(0) == "mixed");
    CHECK(bench.name(1) == "opa");
    // its own events are to decide
    CHECK(bench.record(1) == "opa");
}

TEST_CASE("a swap that breaks off leaves no device with a temporary name", "[ensure_name]")
{
    Bench bench;
    bench.host.wish(0, "Name=opa\n");
    bench.host.wish(1, "Name=mixed\n");
    // the requests to set a name: 0 to opa, 1 to mixed, 0 to its temporary name, 1 to mixed again
    bench.host.fail_rename(4, EPERM);
    CHECK(error_of(bench.ensure(0)) == EPERM);
    CHECK(bench.name(0) == "mixed");
    CHECK(bench.name(1) == "opa");
    // and the next event tries again
    CHECK(bench.record(0) == "mixed");
    CHECK(bench.renames(0));
    CHECK(bench.name(1) == "mixed");
}

TEST_CASE("a holder whose index the kernel does not tell now is no reason to decide",
          "[ensure_name]")
{
    Bench bench;
    bench.host.wish(0, "Name=opa\n");
    // its removal has begun, so no dump has the holder, and other indexes are more likely
    bench.host.leave(1);
    IndexHints(bench.host.paths.rdmad, true).remember(12345, 100);
    CHECK(error_of(bench.ensure(0)) == EAGAIN);
    CHECK(bench.record(0) == "mixed");
    CHECK(bench.name(0) == "mixed");
}

TEST_CASE("without the lock a free name is given, and no device gives up its own", "[ensure_name]")
{
    Bench bench;
    bench.host.image.directory("run/rdmad/names.lock"); // which cannot be opened for writing
    bench.host.wish(0, "Name=storage\n");
    bench.host.wish(1, "Name=siw\n");
    bench.host.wish(3, "Name=opa\n");
    CHECK(bench.renames(0));
    CHECK_FALSE(bench.renames(1));
    CHECK(bench.name(3) == "siw");
}

TEST_CASE("a device is named though another event keeps the lock", "[ensure_name]")
{
    Bench bench;
    bench.host.paths.lock_patience = std::chrono::milliseconds(1);
    bench.host.wish(0, "Name=storage\n");
    const auto held = must(lock_state(bench.host.paths.rdmad, "names.lock"));
    CHECK(bench.renames(0));
    CHECK(bench.record(0) == "mixed storage");
}

TEST_CASE("a name that another event's device may give up is asked for again", "[ensure_name]")
{
    Bench bench;
    bench.host.wish(1, "NamePolicy=guid\nName=siw\n");
    bench.host.wish(0, "Name=siw\n");
    bench.host.wish(3, "Name=free\n");
    bench.host.paths.lock_patience = std::chrono::milliseconds(1);
    {
        const auto held = must(lock_state(bench.host.paths.rdmad, "names.lock"));
        CHECK_FALSE(bench.renames(0));
        CHECK(bench.record(0) == "mixed");
        // nothing better is to be had
        CHECK(bench.renames(1));
        CHECK(bench.record(1) == "opa " + bench.name(1));
    }
    CHECK(bench.renames(0));
    CHECK(bench.record(0) == "mixed siw");
    CHECK(bench.name(3) == "free");
}

TEST_CASE("a swap that keeps the lock is not interfered with", "[ensure_name]")
{
    Bench bench;
    bench.host.paths.lock_patience = std::chrono::milliseconds(1);
    bench.host.wish(0, "Name=storage\n");
    const auto temporary = naming::temporary_name(0);
    REQUIRE(bench.host.client.rename(0, temporary).has_value());
    bench.write_record(0, {"mixed"});
    {
        const auto held = must(lock_state(bench.host.paths.rdmad, "names.lock"));
        CHECK_FALSE(bench.renames(0));
        CHECK(bench.record(0) == "mixed");
    }
    CHECK(bench.renames(0));
    CHECK(bench.name(0) == "storage");
}

TEST_CASE("a name that is made of the original one needs the record of that", "[ensure_name]")
{
    Bench bench;
    bench.host.image.file("run/rdmad/names", "no directory");
    bench.host.wish(0, "Name=hca-%k\n");
    const auto outcome = bench.ensure(0);
    REQUIRE_FALSE(outcome.has_value());
    CHECK(outcome.error().message().find("rename mixed (index 0) to hca-mixed, which is made of "
                                         "its original name: ") == 0);
    CHECK(outcome.error().code == ENOTDIR);
    CHECK(bench.name(0) == "mixed");
    SECTION("but not if it is another one")
    {
        bench.host.wish(0, "Name=storage\n");
        CHECK(bench.renames(0));
    }
    SECTION("nor if a policy before it gives one")
    {
        bench.host.wish(0, "NamePolicy=guid\nName=hca-%k\n");
        CHECK(bench.renames(0));
    }
}

TEST_CASE("the lock is free again after each call", "[ensure_name]")
{
    Bench bench;
    bench.host.wish(0, "Name=storage\n");
    CHECK(bench.renames(0));
    const UniqueFd lock(
        open(bench.host.image.path("run/rdmad/names.lock").c_str(), O_RDWR | O_CLOEXEC));
    CHECK(flock(lock.get(), LOCK_EX | LOCK_NB) == 0);
}

TEST_CASE("a refusal of the kernel is an error that names the device, and no name is recorded",
          "[ensure_name]")
{
    Bench bench;
    bench.host.wish(0, "Name=storage\n");
    bench.host.fail_rename(1, EPERM);
    const auto outcome = bench.ensure(0);
    REQUIRE_FALSE(outcome.has_value());
    CHECK(outcome.error().code == EPERM);
    CHECK(outcome.error().message().find("rename mixed (index 0) to storage") == 0);
    CHECK(bench.record(0) == "mixed");
    // a node whose event went on with the old name follows when the next event names the device
    bench.add_node("");
    CHECK(bench.renames(0));
    CHECK(bench.node_trigger() == "change");
}

TEST_CASE("the original name is known to the next event though this one is killed in its rename",
          "[ensure_name]")
{
    Bench bench;
    bench.host.wish(0, "Name=%k-x\n");
    std::string before_rename;
    bench.host.on_rename = [&] { before_rename = bench.record(0); };
    CHECK(bench.renames(0));
    CHECK(before_rename == "mixed");
    CHECK(bench.record(0) == "mixed mixed-x");
}

TEST_CASE("removals and link owners do not wait for names", "[ensure_name]")
{
    Bench bench;
    bench.host.wish(0, "Name=storage\n");
    int error = 0;
    bench.host.on_rename = [&] {
        const auto lock = open(bench.host.image.path("run/rdmad/lock").c_str(),
                               O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        error = flock(lock, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
        close(lock);
    };
    CHECK(bench.renames(0));
    CHECK(error == 0);
}

TEST_CASE("mistakes in files are logged once, until they change", "[ensure_name]")
{
    Bench bench;
    bench.host.image.file("etc/rdmad/link.d/9.link", "[Match]\nPth=*\n");
    bench.host.image.remove("dev/log");
    CHECK_FALSE(bench.renames(3));
    CHECK(bench.host.image.target("run/rdmad/told-problems").empty());
    bench.host.image.file("dev/log", "");
    CHECK_FALSE(bench.renames(0));
    const auto told = bench.host.image.target("run/rdmad/told-problems");
    CHECK_FALSE(told.empty());
    CHECK_FALSE(bench.renames(1));
    CHECK(bench.host.image.target("run/rdmad/told-problems") == told);
    bench.host.image.remove("etc/rdmad/link.d/9.link");
    CHECK_FALSE(bench.renames(2));
    CHECK(bench.host.image.target("run/rdmad/told-problems").empty());
}
