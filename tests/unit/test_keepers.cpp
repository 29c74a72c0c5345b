// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/recovery/carry_out.hpp"
#include "daemon/recovery/nvme_host.hpp"
#include "daemon/recovery/work.hpp"
#include "tests/support/captured_sysfs.hpp"
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"
#include "tests/support/replay_transport.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

using namespace rdmad;
using namespace rdmad::recovery;
using namespace rdmad::test;
using namespace std::string_literals;

namespace {

using List = std::vector<std::string>;
using Mode = Order::Mode;

constexpr char port[] = "nvmet/ports/1/subsystems";
constexpr char portal[] = "target/iscsi/iqn.x:a/tpgt_1/np/192.0.2.1:3260/iser";

IpAddress ip(const char* text)
{
    return parse_ip_address(text).value();
}

/// Device 4 has 192.0.2.1.
Fabric fabric_with(const List& listening = {})
{
    Fabric fabric{.devices = {{4, {.name = "mlx5_0", .gids = {ip("192.0.2.1")}}}},
                  .local = {{ip("192.0.2.1"), "eth0"}, {ip("192.0.2.9"), "eth1"}}};
    for (const auto& address : listening)
        fabric.listening.emplace(parse_socket_address(address).value(), 4);
    return fabric;
}

/// A configfs of plain files, in which nothing ever listens by itself.
struct Bench {
    FixtureTree configfs;
    FixtureTree run;
    std::optional<Debts> debts = must(Debts::open(run.path("recovery")));

    void add_port(const std::string& address, const std::string& number = "4420") const
    {
        configfs.file("nvmet/ports/1/addr_trtype", "rdma\n");
        configfs.file("nvmet/ports/1/addr_traddr", address + "\n");
        configfs.file("nvmet/ports/1/addr_trsvcid", number + "\n");
        configfs.directory(port);
        for (const auto* name : {"a", "b", "c"})
            configfs.directory("nvmet/subsystems/" + std::string(name));
    }
    void link(const std::string& name) const
    {
        configfs.link(std::string(port) + "/" + name, configfs.path("nvmet/subsystems/" + name));
    }
    void restart()
    {
        debts = must(Debts::open(run.path("recovery")));
    }
    /// "nvmet ports/1 at 192.0.2.1:4420 restored"
    List obey(Mode mode, const Fabric& fabric, const std::set<uint32_t>& devices = {4})
    {
        Keepers keepers;
        keepers.push_back(nvmet_keeper(configfs.path(), *debts));
        keepers.push_back(iser_keeper(configfs.path(), *debts));
        List told;
        const auto targets = carry_out(
            {mode, devices, {Kind::nvmet, Kind::iser}}, [&] { return Result<Fabric>(fabric); },
            keepers);
        for (const auto& target : must(targets))
            told.push_back(describe(target) + " " + std::string(to_string(target.state)));
        return told;
    }
    [[nodiscard]] List links() const
    {
        return configfs.list(port);
    }
};

/// What nfsdctl(8) does, as far as it is asked here: no listener goes while threads run, and all
/// go with the last thread.
struct FakeNfsd {
    List listeners = {"tcp:0.0.0.0:2049", "rdma:192.0.2.1:20049"};
    std::string threads = "4 4";
    List calls = {};
    int dies_at = -1;         ///< the call at which the program is killed
    std::string refused = {}; ///< that cannot be opened
    bool is_mute = false;
    bool adds_while_running = false;

    struct Killed {};

    [[nodiscard]] bool runs() const
    {
        return threads != "0";
    }
    Result<std::string> set_threads(const List& words)
    {
        threads.clear();
        for (size_t i = 1; i < words.size(); i++)
            threads += (i > 1 ? " " : "") + words[i];
        if (!runs())
            listeners.clear();
        if (runs() && listeners.empty())
            return fail(EIO, "no listeners");
        return "";
    }
    Result<std::string> set_listener(const std::string& word)
    {
        const auto name = word.substr(1);
        if (name == refused)
            return fail(EIO, "Cannot assign requested address");
        if (runs() && (word[0] == '-' || !adds_while_running))
            return fail(EBUSY, "threads run");
        if (word[0] == '+')
            listeners.push_back(name);
        else
            std::erase(listeners, name);
        return "";
    }
    Result<std::string> operator()(const List& words)
    {
        if (is_mute)
            return fail(EIO, "no answer");
        if (words.size() == 1 && words[0] == "threads")
            return "gracetime: 90\nscope: host\npool-threads: " + threads + "\n";
        if (words.size() == 1) {
            std::string text;
            for (const auto& listener : listeners)
                text.append(listener).append("\n");
            return text;
        }
        if (dies_at == static_cast<int>(calls.size()))
            throw Killed();
        calls.push_back(words[0] + " " + words[1]);
        return words[0] == "threads" ? set_threads(words) : set_listener(words[1]);
    }
};

struct NfsBench {
    FixtureTree run;
    FakeNfsd nfsd;
    bool has_service = true;

    List obey(Mode mode, const Fabric& fabric, const std::set<uint32_t>& devices = {4})
    {
        auto debts = must(Debts::open(run.path("recovery")));
        Keepers keepers;
        keepers.push_back(nfs_keeper([this](const List& words) { return nfsd(words); }, debts));
        List told;
        const auto targets = carry_out(
            {mode, devices, {Kind::nfs}, has_service}, [&] { return Result<Fabric>(fabric); },
            keepers);
        for (const auto& target : must(targets))
            told.push_back(target.address + " " + std::string(to_string(target.state)));
        return told;
    }
    [[nodiscard]] List listeners() const
    {
        auto sorted = nfsd.listeners;
        std::sort(sorted.begin(), sorted.end());
        return sorted;
    }
};

constexpr char told_port[] = "nvmet ports/1 at 192.0.2.1:4420 ";

} // namespace

TEST_CASE("what the kernel is connected to is in use, and what it listens at is a target",
          "[keepers]")
{
    const auto address = parse_socket_address("192.0.2.1:4420");
    const nldev::CmId target{
        .state = nldev::CmId::listening, .source = address, .kernel_user = "nvmet_rdma"};
    Fabric fabric;
    take_connections(4, {target}, fabric);
    CHECK(fabric.devices[4].users.empty());
    auto connection = target;
    connection.state = 7;
    take_connections(4, {target, connection}, fabric);
    CHECK(fabric.listening == std::map<SocketAddress, uint32_t>{{*address, 4}});
    CHECK(fabric.devices[4].users == std::set<std::string>{"nvmet_rdma"});
}

TEST_CASE("a port that nobody listens on is linked anew", "[keepers]")
{
    Bench bench;
    bench.add_port("192.0.2.1");
    bench.link("a");
    bench.link("b");
    CHECK(bench.obey(Mode::look, fabric_with()) == List{told_port + std::string("dead")});
    CHECK(bench.links() == List{"a", "b"});
    CHECK(bench.obey(Mode::restore, fabric_with()) == List{told_port + std::string("restored")});
    CHECK(bench.links() == List{"a", "b"});
    CHECK(bench.debts->find("nvmet/1") == nullptr);
    // of one that listens nothing is touched
    CHECK(bench.obey(Mode::restore, fabric_with({"192.0.2.1:4420"})) ==
          List{told_port + std::string("up")});
}

TEST_CASE("a port waits for its device and address", "[keepers]")
{
    Bench bench;
    bench.add_port("192.0.2.9");
    bench.link("a");
    // it is there, but of no RDMA device
    CHECK(bench.obey(Mode::restore, fabric_with()) ==
          List{"nvmet ports/1 at 192.0.2.9:4420 waiting"});
    bench.configfs.file("nvmet/ports/1/addr_traddr", "192.0.2.1");
    // the device is not ready
    CHECK(bench.obey(Mode::restore, fabric_with(), {5}) ==
          List{told_port + std::string("waiting")});
    auto fabric = fabric_with();
    fabric.local.clear();
    CHECK(bench.obey(Mode::restore, fabric) == List{told_port + std::string("waiting")});
    CHECK(bench.links() == List{"a"});
}

TEST_CASE("addresses are found by their network device, too", "[keepers]")
{
    auto fabric = fabric_with();
    CHECK_FALSE(fabric.device_with(ip("192.0.2.9")));
    // IPoIB
    fabric.devices[7] = {.name = "mlx5_1", .netdevs = {"eth1"}};
    CHECK(fabric.device_with(ip("192.0.2.9")) == 7U);
    CHECK(fabric.device_with(ip("192.0.2.1")) == 4U);
}

TEST_CASE("other ports are left alone", "[keepers]")
{
    Bench bench;
    bench.add_port("192.0.2.1");
    CHECK(bench.obey(Mode::restore, fabric_with()).empty());
    bench.link("a");
    bench.configfs.file("nvmet/ports/1/addr_trtype", "tcp\n");
    CHECK(bench.obey(Mode::restore, fabric_with()).empty());
    for (const auto* address : {"0.0.0.0", "::", "", "host"}) {
        bench.add_port(address);
        CHECK(bench.obey(Mode::restore, fabric_with()).empty());
    }
    bench.add_port("192.0.2.1", "0");
    CHECK(bench.obey(Mode::restore, fabric_with()).empty());
    bench.add_port("2001:db8::1");
    CHECK(bench.obey(Mode::restore, fabric_with()) ==
          List{"nvmet ports/1 at [2001:db8::1]:4420 waiting"});
}

TEST_CASE("a crash between unlink and link loses no subsystem", "[keepers]")
{
    Bench bench;
    bench.add_port("192.0.2.1");
    must(bench.debts->owe("nvmet/1", {{"subsystems", {"a", "b", "gone"}}}));
    bench.link("c");
    bench.restart();
    struct stat before = {};
    struct stat after = {};
    const auto linked = bench.configfs.path(std::string(port) + "/c");
    REQUIRE(lstat(linked.c_str(), &before) == 0);
    // the first link made it listen again
    CHECK(bench.obey(Mode::restore, fabric_with({"192.0.2.1:4420"})) ==
          List{told_port + std::string("restored")});
    CHECK(bench.links() == List{"a", "b", "c"});
    // what listens is not interrupted
    REQUIRE(lstat(linked.c_str(), &after) == 0);
    CHECK(before.st_ctim.tv_nsec == after.st_ctim.tv_nsec);
    bench.restart();
    CHECK(bench.debts->find("nvmet/1") == nullptr);
}

TEST_CASE("what an administrator has made anew is owed nothing", "[keepers]")
{
    Bench bench;
    bench.add_port("192.0.2.1");
    bench.link("a");
    (void)bench.obey(Mode::release, fabric_with({"192.0.2.1:4420"}));
    CHECK(bench.links().empty());
    bench.configfs.file("nvmet/ports/1/addr_trsvcid", "4421\n");
    bench.link("b");
    (void)bench.obey(Mode::restore, fabric_with());
    CHECK(bench.links() == List{"b"});
}

TEST_CASE("portals of several targets at one address are switched together", "[keepers]")
{
    Bench bench;
    const std::string second = "target/iscsi/iqn.x:b/tpgt_1/np/192.0.2.1:3260/iser";
    bench.configfs.file(portal, "1\n");
    bench.configfs.file(second, "1\n");
    (void)bench.obey(Mode::release, fabric_with({"192.0.2.1:3260"}));
    CHECK(bench.configfs.read(portal).starts_with("0"));
    CHECK(bench.configfs.read(second).starts_with("0"));
    // the first was put back before a crash: that the address is listened on is its doing
    bench.configfs.file(portal, "1\n");
    (void)bench.obey(Mode::restore, fabric_with({"192.0.2.1:3260"}));
    CHECK(bench.configfs.read(portal).starts_with("1"));
    CHECK(bench.configfs.read(second).starts_with("1"));
    CHECK(bench.debts->owed("iser/").empty());
}

TEST_CASE("what is released comes back when its device is ready", "[keepers]")
{
    Bench bench;
    bench.add_port("192.0.2.1");
    bench.link("a");
    // another device is to go
    CHECK(bench.obey(Mode::release, fabric_with({"192.0.2.1:4420"}), {5}) ==
          List{told_port + std::string("up")});
    CHECK(bench.links() == List{"a"});
    CHECK(bench.obey(Mode::release, fabric_with({"192.0.2.1:4420"})) ==
          List{told_port + std::string("released")});
    CHECK(bench.links().empty());
    bench.restart();
    CHECK(bench.obey(Mode::restore, fabric_with(), {}) ==
          List{told_port + std::string("released")});
    CHECK(bench.links().empty());
    CHECK(bench.obey(Mode::restore, fabric_with()) == List{told_port + std::string("restored")});
    CHECK(bench.links() == List{"a"});
}

TEST_CASE("nothing is owed to a port that was removed", "[keepers]")
{
    Bench bench;
    must(bench.debts->owe("nvmet/1", {{"subsystems", {"a"}}}));
    CHECK(bench.obey(Mode::restore, fabric_with()).empty());
    CHECK(bench.debts->find("nvmet/1") == nullptr);
}

TEST_CASE("an iSER portal is switched off and on", "[keepers]")
{
    Bench bench;
    bench.configfs.file(portal, "1\n");
    const std::string told = "iser iqn.x:a/tpgt_1 at 192.0.2.1:3260 ";
    CHECK(bench.obey(Mode::release, fabric_with({"192.0.2.1:3260"})) == List{told + "released"});
    CHECK(bench.configfs.read(portal).starts_with("0"));
    bench.restart();
    CHECK(bench.obey(Mode::restore, fabric_with()) == List{told + "restored"});
    CHECK(bench.configfs.read(portal).starts_with("1"));
    CHECK(bench.debts->find("iser/iqn.x:a/tpgt_1/np/192.0.2.1:3260") == nullptr);
    // one that an administrator has switched off is none
    bench.configfs.file(portal, "0\n");
    CHECK(bench.obey(Mode::restore, fabric_with()).empty());
}

namespace {

/// A port of the SRP target that is switched on, in a configfs of plain files.
struct SrptBench {
    static constexpr char port[] = "0002:c903:0000:0a01";
    const std::string folder = std::string("target/srpt/") + port;
    FixtureTree configfs;
    FixtureTree run;

    SrptBench()
    {
        make();
    }
    void make() const
    {
        configfs.file(folder + "/" + port + "/enable", "1\n");
    }
    [[nodiscard]] char switched(const std::string& group = port) const
    {
        return configfs.read(folder + "/" + group + "/enable").at(0);
    }
    /// The devices with these indexes, of which those in have_port have the port's GID.
    std::string obey(Mode mode, const std::set<uint32_t>& devices,
                     const std::set<uint32_t>& have_port)
    {
        Fabric fabric;
        for (const auto index : devices)
            fabric.devices[index].first = {
                ip(have_port.contains(index) ? "fe80::2:c903:0:a01" : "fe80::2:c903:0:b01")};
        auto debts = must(Debts::open(run.path("recovery")));
        Keepers keepers;
        keepers.push_back(srpt_keeper(configfs.path(), debts));
        const auto targets = must(carry_out(
            {mode, devices, {Kind::srpt}}, [&] { return Result<Fabric>(fabric); }, keepers));
        return targets.empty() ? "none" : std::string(to_string(targets[0].state));
    }
    std::string restore(const std::set<uint32_t>& devices, const std::set<uint32_t>& have_port)
    {
        return obey(Mode::restore, devices, have_port);
    }
};

} // namespace

TEST_CASE("an SRP port is made anew for the next appearance of its device", "[keepers]")
{
    SrptBench bench;
    SECTION("if it was seen with the last one")
    {
        CHECK(bench.restore({4}, {4}) == "up");
        CHECK(bench.restore({}, {4}) == "waiting");
    }
    SECTION("if it was first seen when that had gone")
    {
        CHECK(bench.restore({}, {4}) == "waiting");
    }
    SECTION("if it was first seen beside other devices")
    {
        CHECK(bench.restore({3}, {4}) == "waiting");
    }
    // what a rebuild removes are directories, not plain files
    CHECK(bench.restore({3, 5}, {5}) == "failed");
}

TEST_CASE("an SRP port that was seen with a device is of no other that is there", "[keepers]")
{
    SrptBench bench;
    CHECK(bench.restore({4}, {4}) == "up");
    // the next appearance, before it has its GID
    CHECK(bench.restore({5}, {9}) == "waiting");
    CHECK(bench.restore({5}, {5}) == "failed");
}

TEST_CASE("an SRP port is left alone with the device that it was made for", "[keepers]")
{
    SrptBench bench;
    // its device has another GID for a moment
    CHECK(bench.restore({4}, {9}) == "waiting");
    CHECK(bench.restore({4}, {4}) == "up");
    CHECK(bench.restore({4}, {9}) == "waiting");
    CHECK(bench.restore({4}, {4}) == "up");
    SECTION("also if it is a new one under the name of another")
    {
        bench.configfs.rename("target/srpt", "target/old");
        bench.make();
        CHECK(bench.restore({5}, {5}) == "up");
    }
}

TEST_CASE("an SRP port is switched off and on", "[keepers]")
{
    SrptBench bench;
    // an administrator has switched that off
    bench.configfs.file(bench.folder + "/other/enable", "0\n");
    CHECK(bench.restore({4}, {4}) == "up");
    CHECK(bench.obey(Mode::release, {4}, {4}) == "released");
    CHECK(bench.switched() == '0');
    SECTION("and not by a look")
    {
        CHECK(bench.obey(Mode::look, {4}, {4}) == "dead");
        CHECK(bench.switched() == '0');
    }
    SECTION("but for the groups that were off")
    {
        CHECK(bench.restore({4}, {4}) == "restored");
        CHECK(bench.switched() == '1');
        CHECK(bench.switched("other") == '0');
        CHECK(bench.restore({4}, {4}) == "up");
    }
    SECTION("and owed nothing once it was removed")
    {
        bench.configfs.rename(bench.folder, "target/removed");
        CHECK(bench.restore({4}, {4}) == "none");
        bench.configfs.rename("target/removed", bench.folder);
        CHECK(bench.restore({4}, {4}) == "none");
        CHECK(bench.switched() == '0');
    }
}

TEST_CASE("an SRP port is not that of another device with the same GID", "[keepers]")
{
    // as two RoCE ports of one MAC address, or one in a container
    SrptBench bench;
    CHECK(bench.restore({4}, {4}) == "up");
    CHECK(bench.restore({3, 4, 5}, {3, 4, 5}) == "up");
    CHECK(bench.restore({3, 5}, {3, 5}) == "failed");
}

TEST_CASE("a listener of the NFS server goes with its device, and returns", "[keepers]")
{
    NfsBench bench;
    CHECK(bench.obey(Mode::restore, fabric_with({"192.0.2.1:20049"})) ==
          List{"192.0.2.1:20049 up"});
    CHECK(bench.nfsd.calls.empty());
    // its device is being removed: it is not listed any more
    CHECK(bench.obey(Mode::look, Fabric(), {}) == List{"192.0.2.1:20049 dead"});
    CHECK(bench.nfsd.calls.empty());
    CHECK(bench.obey(Mode::restore, Fabric(), {}) == List{"192.0.2.1:20049 released"});
    CHECK(bench.listeners() == List{"tcp:0.0.0.0:2049"});
    CHECK(bench.nfsd.threads == "4 4");
    CHECK(bench.obey(Mode::restore, Fabric(), {}) == List{"192.0.2.1:20049 released"});
    CHECK(bench.obey(Mode::restore, fabric_with()) == List{"192.0.2.1:20049 restored"});
    CHECK(bench.listeners() == List{"rdma:192.0.2.1:20049", "tcp:0.0.0.0:2049"});
    CHECK(bench.nfsd.threads == "4 4");
    // where the kernel takes one while threads run, they are not stopped for that
    bench.nfsd.adds_while_running = true;
    (void)bench.obey(Mode::restore, Fabric(), {});
    bench.nfsd.calls.clear();
    CHECK(bench.obey(Mode::restore, fabric_with()) == List{"192.0.2.1:20049 restored"});
    CHECK(bench.nfsd.calls == List{"listener +rdma:192.0.2.1:20049"});
}

TEST_CASE("a listener of another address that cannot be opened again stays owed", "[keepers]")
{
    NfsBench bench;
    bench.nfsd.listeners.push_back("tcp:192.0.2.7:2049");
    bench.nfsd.refused = "tcp:192.0.2.7:2049";
    (void)bench.obey(Mode::restore, Fabric(), {});
    CHECK(bench.listeners() == List{"tcp:0.0.0.0:2049"});
    CHECK(bench.nfsd.threads == "4 4");
    bench.nfsd.refused.clear();
    (void)bench.obey(Mode::look, fabric_with());
    CHECK(bench.listeners() == List{"tcp:0.0.0.0:2049"});
    bench.nfsd.adds_while_running = true;
    (void)bench.obey(Mode::restore, fabric_with());
    CHECK(bench.listeners() ==
          List{"rdma:192.0.2.1:20049", "tcp:0.0.0.0:2049", "tcp:192.0.2.7:2049"});
}

TEST_CASE("an NFS server of which nothing can be asked is left alone", "[keepers]")
{
    NfsBench bench;
    (void)bench.obey(Mode::restore, Fabric(), {});
    bench.nfsd.is_mute = true;
    CHECK(bench.obey(Mode::restore, fabric_with()).empty());
    bench.nfsd.is_mute = false;
    CHECK(bench.obey(Mode::restore, fabric_with()) == List{"192.0.2.1:20049 restored"});
}

TEST_CASE("an NFS server that only listens over RDMA is there again, too", "[keepers]")
{
    NfsBench bench;
    bench.nfsd.listeners = {"rdma:192.0.2.1:20049"};
    (void)bench.obey(Mode::restore, Fabric(), {});
    CHECK(bench.listeners().empty());
    CHECK(bench.obey(Mode::restore, fabric_with()) == List{"192.0.2.1:20049 restored"});
    CHECK(bench.listeners() == List{"rdma:192.0.2.1:20049"});
    CHECK(bench.nfsd.threads == "4 4");
}

TEST_CASE("an NFS server is whole again wherever its restart is killed", "[keepers]")
{
    for (int call = 0; call < 4; call++) {
        INFO("killed at call " << call);
        NfsBench bench;
        bench.nfsd.dies_at = call;
        try {
            (void)bench.obey(Mode::restore, Fabric(), {});
        } catch (const FakeNfsd::Killed&) {
        }
        bench.nfsd.dies_at = -1;
        (void)bench.obey(Mode::restore, fabric_with());
        CHECK(bench.obey(Mode::restore, fabric_with({"192.0.2.1:20049"})) ==
              List{"192.0.2.1:20049 up"});
        CHECK(bench.listeners() == List{"rdma:192.0.2.1:20049", "tcp:0.0.0.0:2049"});
        CHECK(bench.nfsd.threads == "4 4");
    }
}

TEST_CASE("a stopped NFS server is owed nothing", "[keepers]")
{
    NfsBench bench;
    (void)bench.obey(Mode::restore, Fabric(), {});
    bench.nfsd.threads = "0";
    bench.nfsd.listeners.clear();
    CHECK(bench.obey(Mode::restore, fabric_with()).empty());
    bench.nfsd = FakeNfsd();
    bench.nfsd.listeners = {"tcp:0.0.0.0:2049"};
    CHECK(bench.obey(Mode::restore, fabric_with()).empty());
    // one without a listener looks the same, but for its service
    NfsBench lone;
    lone.nfsd.listeners = {"rdma:192.0.2.1:20049"};
    (void)lone.obey(Mode::restore, Fabric(), {});
    lone.has_service = false;
    CHECK(lone.obey(Mode::restore, fabric_with()).empty());
    CHECK(lone.nfsd.threads == "0");
}

TEST_CASE("debts outlive their keeper, and broken ones are none", "[keepers]")
{
    FixtureTree run;
    {
        auto debts = must(Debts::open(run.path("recovery")));
        must(debts.owe("nvmet/1", {{"subsystems", {"a"}}}));
        must(debts.owe("nvmet/2", nlohmann::json::object()));
        must(debts.see("srpt/x", "1 2"));
        must(debts.cross_out("nvmet/2"));
    }
    auto debts = must(Debts::open(run.path("recovery")));
    REQUIRE(debts.find("nvmet/1"));
    CHECK((*debts.find("nvmet/1"))["subsystems"] == List{"a"});
    CHECK(debts.owed("nvmet/") == std::set<std::string>{"1"});
    CHECK(debts.seen("srpt/x") == "1 2");
    CHECK(debts.seen("srpt/y").empty());
    // more than a later run would read
    CHECK(error_of(debts.owe("big", {{"a", std::string(size_t{5} << 20U, 'x')}})) == EFBIG);
    CHECK(error_of(debts.owe("many", {{"a", List(300'000)}})) == EFBIG);
    CHECK(debts.find("big") == nullptr);
    CHECK(debts.find("many") == nullptr);
    // nothing is written over what another version may need
    const auto deep = R"({"version":1,"owed":{"a":)" + std::string(500'000, '[') +
                      std::string(500'000, ']') + "}}";
    for (const auto& text : {""s, "[]"s, "{}"s, R"({"version":2,"owed":{"a":{}}})"s, deep}) {
        run.file("recovery/debts", text);
        CHECK(error_of(Debts::open(run.path("recovery"))) == EBADMSG);
    }
    for (const auto* text :
         {R"({"version":1,"owed":[1],"seen":7})", R"({"version":1,"owed":{"a":7}})"}) {
        run.file("recovery/debts", text);
        const auto odd = must(Debts::open(run.path("recovery")));
        CHECK(odd.owed("").empty());
        CHECK(odd.find("a") == nullptr);
    }
}

TEST_CASE("there may be work where there is a kind of target or a host to connect", "[keepers]")
{
    const FixtureTree root;
    root.file("etc/nvme/discovery.conf", "# Used for extracting default parameters\n");
    root.directory("sys/kernel/config");
    CHECK_FALSE(may_have_work(root.path()));
    const auto* const path =
        GENERATE("sys/kernel/config/nvmet", "sys/kernel/config/target", "sys/module/nfsd");
    root.directory(path);
    CHECK(may_have_work(root.path()));
    root.remove(path);
    root.file("etc/nvme/discovery.conf", "-t rdma -a 192.0.2.1\n");
    root.link("etc/systemd/system/default.target.wants/nvmf-autoconnect.service", "/nowhere");
    CHECK(may_have_work(root.path()));
}

TEST_CASE("hosts are connected where nobody else sees to that", "[keepers]")
{
    const FixtureTree root;
    CHECK_FALSE(connects_nvme(root.path()));
    root.file("etc/nvme/discovery.conf", "-t tcp -a 192.0.2.1\n");
    root.link("etc/systemd/system/default.target.wants/nvmf-autoconnect.service", "/nowhere");
    CHECK_FALSE(connects_nvme(root.path()));
    root.file("etc/nvme/config.json", R"([{"transport":"rdma"}])");
    CHECK(connects_nvme(root.path()));
    root.directory("sys/fs/cgroup/system.slice/stacd.service");
    CHECK_FALSE(connects_nvme(root.path()));
    root.remove("sys/fs/cgroup/system.slice/stacd.service");
    root.remove("etc/systemd/system/default.target.wants/nvmf-autoconnect.service");
    CHECK_FALSE(connects_nvme(root.path()));
}

// -- what has which address -----------------------------------------------------------------------

TEST_CASE("a RoCE port whose network device is elsewhere has no address of ours", "[recovery]")
{
    const FixtureTree sys;
    add_captured_devices(sys);
    const auto gid_attrs = "class/infiniband/mixed/ports/2/gid_attrs/ndevs/0"s;
    sys.file(gid_attrs, "eth7\n");
    sys.file("class/infiniband/mixed/ports/2/gids/1", "0000:0000:0000:0000:0000:ffff:c000:0201\n");
    CapturedKernel kernel("7.2");
    nldev::Client client(kernel);
    const auto root = sys.root();
    const auto look = [&] { return must(look_at_fabric(client, root)).devices.at(0); };
    const auto before = look();
    CHECK(before.name == "mixed");
    CHECK(before.gids.contains(ip("192.0.2.1")));
    CHECK(before.netdevs.contains("eth7"));
    CHECK(before.first.size() == 2);
    SECTION("in a container")
    {
        kernel.hide_netdev(0, 2);
    }
    SECTION("or the kernel does not tell")
    {
        kernel.refuse_port(0, 2);
    }
    const auto after = look();
    CHECK_FALSE(after.gids.contains(ip("192.0.2.1")));
    CHECK_FALSE(after.netdevs.contains("eth7"));
    // what names a port, and the InfiniBand port beside it
    CHECK(after.first == before.first);
    const auto first = parse_ip_address(root.read("class/infiniband/mixed/ports/1/gids/0").text);
    CHECK(after.gids.contains(first.value()));
}
