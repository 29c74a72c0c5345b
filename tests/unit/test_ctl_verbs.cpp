// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/folders.hpp"
#include "ctl/verbs.hpp"
#include "tests/support/spoiling_proxy.hpp"
#include "tests/support/verb_run.hpp"

#include <algorithm>

// The verbs of rdmactl, each with an rdmad that serves it: what one says the other has to
// understand.

using namespace rdmad;
using namespace rdmad::test;

namespace {

constexpr char mixed_guid[] = "0002c90300000a01";            // of its first port
constexpr auto* own_folder = config::own_binding_folder + 1; // below a root

/// rdmad, and what each verb of rdmactl has in common.
struct Both {
    ServedRdmad served;
    ctl::Common common{.socket = served.place.path(),
                       .is_socket_given = true,
                       .root = served.run.path(),
                       .json = false,
                       .has_legend = true};

    Outcome run(const Verb& verb, const Step& step = nullptr)
    {
        return test::run(served, verb, step);
    }
    Outcome list()
    {
        return run([&] { return ctl::list(common); });
    }
    Outcome status(const std::optional<std::string>& what = {})
    {
        return run([&] { return ctl::status(common, what); });
    }
    Outcome bindings()
    {
        return run([&] { return ctl::bindings(common); });
    }
    Outcome bind(const ctl::BindOptions& options)
    {
        return run([&] { return ctl::bind(common, options); });
    }
    Outcome unbind(const std::string& unit)
    {
        return run([&] { return ctl::unbind(common, unit); });
    }
    Outcome wait(const ctl::WaitOptions& options, const Step& step = nullptr)
    {
        return run([&] { return ctl::wait(common, options); }, step);
    }
    Outcome prepare(const ctl::PrepareOptions& options, const Step& step = nullptr)
    {
        return run([&] { return ctl::prepare(common, options); }, step);
    }
    Outcome inhibit(const ctl::InhibitOptions& options, const Step& step = nullptr)
    {
        return run([&] { return ctl::inhibit(common, options); }, step);
    }
    Outcome verify(const List& files = {})
    {
        return run([&] { return ctl::verify(common, files); });
    }

    /// Binds a unit that runs to opa.
    void bind_running()
    {
        served.bind("50-a.binding", opa_file);
        served.tell_running("a.service");
    }
    void unplug_opa()
    {
        served.kernel.remove(opa);
        served.sys.remove("class/infiniband/opa");
        served.tell("remove", opa, "opa");
    }
};

ctl::BindOptions to_port(const std::string& unit, const std::string& guid)
{
    ctl::BindOptions options{.request = {.unit = unit}};
    for (size_t i = 0; i < ctl::bind_keys().size(); i++)
        if (ctl::bind_keys()[i].option == std::string_view("--port-guid"))
            options.request.values[i] = guid;
    return options;
}

/// The words of each line.
std::vector<List> rows_of(const std::string& text)
{
    std::vector<List> rows;
    for (const auto line : text::split(text, '\n')) {
        const auto words = text::split(line, ' ');
        rows.emplace_back(words.begin(), words.end());
    }
    return rows;
}

/// The words of the one line that begins with the word; none if there is none.
List row_of(const std::string& text, const std::string& first)
{
    List found;
    for (const auto& row : rows_of(text))
        if (!row.empty() && row.front() == first) {
            CHECK(found.empty());
            found = row;
        }
    return found;
}

/// Returns true if the part is in the text, which is shown where that is wrong.
bool has(const std::string& text, const std::string& part)
{
    UNSCOPED_INFO(text);
    return text.find(part) != std::string::npos;
}

bool has_word(const List& row, const std::string& word)
{
    return std::find(row.begin(), row.end(), word) != row.end();
}

/// Reports as rdmad-recovery.service does, if it was started.
void look_at_targets(ServedRdmad& served, recovery::Report report)
{
    if (!has_word(served.pid1.take(), "start rdmad-recovery.service"))
        return;
    const auto order = recovery::parse_order(served.run.read("recovery/orders/last"));
    report.order = order ? order->number : 0;
    served.run.file("recovery/report", recovery::format_report(report));
    served.recovery.on_job("rdmad-recovery.service", 17, "done");
}

} // namespace

TEST_CASE("list shows each port, and JSON all of it", "[verbs]")
{
    Both both;
    both.bind_running();
    auto listed = both.list();
    CHECK(listed.code == 0);
    CHECK(listed.err.empty());
    const auto rows = rows_of(listed.out);
    REQUIRE(rows.size() == 5); // one port each, but for the two of mixed
    CHECK(rows[0].front() == "DEVICE");
    const auto row = row_of(listed.out, "opa");
    for (const auto& word : {std::string("1"), std::string("opa"), std::string(opa_guid)})
        CHECK(has_word(row, word));
    CHECK(row.back() == "a.service");

    both.common.has_legend = false;
    CHECK(rows_of(both.list().out).size() == 4);
    both.common.json = true;
    const auto json = Json::parse(both.list().out);
    CHECK(json.at("devices").size() == 3);
    CHECK(json.at("devices").at(1).at("name") == "opa");
}

TEST_CASE("status tells all, or of what is asked for", "[verbs]")
{
    Both both;
    both.bind_running();
    both.served.bind("60-b.binding",
                     "[Match]\nPortGUID=0000000000000bad\n[Binding]\nUnit=b.service\n");
    both.served.bind("70-c.binding", "[Match]\nPortGUID=x\n[Binding]\nUnit=c.service\n");

    SECTION("all")
    {
        const auto all = both.status();
        CHECK(all.code == 0);
        CHECK(has(all.out, "3 devices, 4 ports, "));
        CHECK(has(all.out,
                  "2 units bound: 1 running, 1 waiting, 0 stopped by unplug, 0 left alone\n"));
        CHECK(has(all.out, "1 binding file with problems: "));
        CHECK(has(all.out, "opa: opa, "));
        CHECK(has(all.out, "  a.service running (active)"));
        CHECK(has(all.out, "No device for these now:\n  b.service "));
        CHECK(has(all.out, "nothing has GUID 0000000000000bad, which 60-b.binding names"));
        both.common.json = true;
        const auto json = Json::parse(both.status().out);
        CHECK(json.at("devices").size() == 3);
        CHECK(json.at("bindings").size() == 3);
        CHECK(json.at("units").size() == 2);
        CHECK(json.at("removing").empty());
    }
    SECTION("a device, by its name or a GUID")
    {
        const auto what = GENERATE(as<std::string>(), "opa", opa_guid, "0x11750101000001");
        const auto device = both.status(what);
        CHECK(device.code == 0);
        CHECK(device.out.starts_with("opa: opa, "));
        CHECK(has(device.out, "node uverbs1"));
        CHECK(has(device.out, "a.service running (active)"));
        CHECK_FALSE(has(device.out, "mixed"));
        both.common.json = true;
        CHECK(Json::parse(both.status(what).out).at("devices").size() == 1);
    }
    SECTION("a port")
    {
        const auto port = both.status("mixed/2");
        CHECK(port.code == 0);
        CHECK(has(port.out, "port 2: "));
        CHECK_FALSE(has(port.out, "port 1: "));
        CHECK(both.status("mixed/3").code == 1);
        CHECK(has(both.status("mixed/3").err, "'mixed' has no port 3"));
        CHECK(both.status("mixed/x").code == 2);
    }
    SECTION("a unit that runs, or does not")
    {
        const auto a = both.status("a");
        CHECK(a.code == 0);
        CHECK(a.out.starts_with("a.service running (active)"));
        CHECK(has(a.out, "bound to opa/1: "));
        CHECK(has(a.out, "by 50-a.binding"));
        const auto b = both.status("b.service");
        CHECK(b.code == 3);
        CHECK(has(b.out, "nothing has GUID 0000000000000bad"));
        both.common.json = true;
        CHECK(Json::parse(both.status("a").out).at("units").size() == 1);
    }
    SECTION("what is not there")
    {
        const auto unknown = both.status("oba");
        CHECK(unknown.code == 1);
        CHECK(unknown.out.empty());
        CHECK(has(unknown.err, "'oba' is no RDMA device, GUID or bound unit; there is opa"));
        CHECK(both.status("none/1").code == 1);
    }
    SECTION("a unit whose device has gone")
    {
        both.unplug_opa();
        both.served.settle();
        both.served.tell_stopped("a.service");
        const auto a = both.status("a");
        CHECK(a.code == 3);
        CHECK(has(a.out, "a.service stopped by unplug (inactive)"));
        CHECK(has(a.out, "last stop: unplug of opa/1, "));
        CHECK(has(a.out, "bound to opa/1: gone, " + std::string(opa_guid)));
    }
    SECTION("a device that the kernel waits to remove")
    {
        const auto guid = both.served.node_guid();
        both.served.sys.directory("devices/pci0000:00/0000:01:00.0/infiniband/opa");
        both.served.kernel.leave(opa);
        both.served.tell("remove", opa, "opa");
        both.served.settle();
        for (const auto& what : {std::string("opa"), guid}) {
            const auto device = both.status(what);
            CHECK(device.code == 0);
            CHECK(device.out == "opa, index 1: being removed\n");
        }
        CHECK(has(both.status().out, "\nopa, index 1: being removed\n"));
    }
    SECTION("a device that is held, or prepared")
    {
        both.served.lives.drain(opa);
        both.served.settle();
        CHECK(has(both.status("opa").out,
                  "prepared for removal: nothing is started with it; rdmactl resume opa"));
    }
}

TEST_CASE("bindings shows files and what is wrong with them", "[verbs]")
{
    Both both;
    both.served.bind("50-a.binding", opa_file);
    both.served.bind("70-c.binding", "[Match]\nPortGUID=x\n[Binding]\nUnit=c.service\n");
    const auto shown = both.bindings();
    CHECK(shown.code == 0);
    CHECK(shown.err.empty());
    CHECK(row_of(shown.out, "NAME").size() == 7);
    CHECK(row_of(shown.out, "50-a.binding") ==
          List{"50-a.binding", "a.service", "uverbs", "all", "present", "return", "opa/1"});
    CHECK(has(shown.out, "70-c.binding:2: PortGUID: 'x' is not a GUID"));
    // what is wrong is no row
    both.common.has_legend = false;
    const auto plain = both.bindings();
    CHECK(rows_of(plain.out).size() == 2);
    CHECK(has(plain.err, "70-c.binding:2: PortGUID: 'x' is not a GUID"));
    both.common.json = true;
    CHECK(Json::parse(both.bindings().out).at("bindings").size() == 2);
}

TEST_CASE("bind writes a file that rdmad reads, and unbind removes it", "[verbs]")
{
    if (!can_be_several_users())
        return;
    Both both;
    auto bound = both.bind(to_port("a", "0011:7501:0100:0001"));
    CHECK(bound.code == 0);
    CHECK(bound.err.empty());
    REQUIRE(both.served.bound_files().size() == 1);
    const auto name = both.served.bound_files()[0];
    const auto path = both.served.run.path(own_folder) + "/" + name;
    CHECK(has(bound.out, path));
    CHECK(has(bound.out, "opa/1"));
    CHECK(has(both.served.run.read(own_folder + ("/" + name)), "PortGUID=0011750101000001\n"));
    CHECK(both.served.supervisor.units().contains("a.service"));

    both.common.json = true;
    auto again = Json::parse(both.bind(to_port("a", opa_guid)).out);
    CHECK(again.at("isNew") == false);
    CHECK(again.at("path") == path);
    CHECK(again.at("matches") == Json{"opa/1"});
    both.common.json = false;

    // another file binds it as well
    both.served.bind("90-more.binding", "[Match]\nDevice=siw\n[Binding]\nUnit=a.service\n");
    CHECK(has(both.bind(to_port("a", opa_guid)).err, "90-more.binding"));
    const auto unbound = both.unbind("a");
    CHECK(unbound.code == 0);
    CHECK(unbound.out.starts_with("removed " + path));
    CHECK(has(unbound.err, "a.service is still bound by "));
    CHECK(both.served.bound_files() == List{"90-more.binding"});
    const auto refused = both.unbind("a");
    CHECK(refused.code == 1);
    CHECK(has(refused.err, "rdmactl did not bind a.service; remove it from "));
    CHECK(has(both.unbind("b").err, "'b.service' is not bound"));
}

TEST_CASE("unbind tells programs what it removed", "[verbs]")
{
    if (!can_be_several_users())
        return;
    Both both;
    REQUIRE(both.bind(to_port("a", opa_guid)).code == 0);
    const auto path = both.served.run.path(own_folder) + "/" + both.served.bound_files().at(0);
    both.common.json = true;
    CHECK(Json::parse(both.unbind("a").out) ==
          Json{{"unit", "a.service"}, {"removed", {path}}, {"others", Json::array()}});
}

TEST_CASE("unbind does not take one port from what is bound for all", "[verbs]")
{
    if (!can_be_several_users())
        return;
    Both both;
    REQUIRE(both.bind(to_port("srp@%d:%p", opa_guid)).code == 0);
    const auto refused = both.unbind("srp@opa:1");
    CHECK(refused.code == 1);
    CHECK(has(refused.err, "'srp@opa:1.service' is not bound by that name, but "));
    CHECK(has(refused.err, " binds srp@%d:%p.service; to unbind that for all its ports: "
                           "rdmactl unbind srp@%d:%p.service"));
    CHECK(both.served.bound_files().size() == 1);
    CHECK(both.unbind("srp@%d:%p").code == 0);
    CHECK(both.served.bound_files().empty());
}

TEST_CASE("bind until the next boot leaves the writing to rdmad", "[verbs]")
{
    if (!can_be_several_users())
        return;
    Both both;
    auto options = to_port("a", opa_guid);
    options.runtime = true;
    CHECK(has(both.bind(options).err, "--runtime and --root do not go together"));
    CHECK(both.bind(options).code == 2);
    CHECK(both.served.bound_files().empty());
    // rdmad has a root of its own here: it writes there, and rdmactl takes that for another file
    both.common.root.clear();
    (void)both.bind(options);
    REQUIRE(both.served.bound_files().size() == 1);
    CHECK(both.served.run.exists("run/rdmad/binding.d/" + both.served.bound_files()[0]));
    CHECK_FALSE(both.served.run.exists(own_folder));
    CHECK(both.served.supervisor.units().contains("a.service"));
}

TEST_CASE("bind refuses what would bind nothing or overwrite a file", "[verbs]")
{
    if (!can_be_several_users())
        return;
    Both both;
    CHECK(has(both.bind({.request = {.unit = "a"}}).err, "say which ports: "));
    CHECK(both.bind(to_port("a", "")).code == 2);
    CHECK(has(both.bind(to_port("a", "x")).err, "--port-guid: "));
    CHECK_FALSE(both.served.run.exists(own_folder));

    (void)both.bind(to_port("a", opa_guid));
    const auto path = own_folder + ("/" + both.served.bound_files().at(0));
    both.served.run.file(path, opa_file);
    const auto refused = both.bind(to_port("a", opa_guid));
    CHECK(refused.code == 1);
    CHECK(has(refused.err, "is there, and rdmactl did not write it"));
    CHECK(both.served.run.read(path) == opa_file);
}

TEST_CASE("a GUID that nothing has is bound, and told", "[verbs]")
{
    if (!can_be_several_users())
        return;
    Both both;
    const auto missing = both.bind(to_port("a", "0000000000000bad"));
    CHECK(missing.code == 0);
    CHECK(has(missing.out, "no port matches now; a.service starts when one appears"));
    CHECK(both.served.bound_files().size() == 1);
    // the GUID of the node in place of that of the port
    const auto mistaken = both.bind(to_port("b", both.served.node_guid()));
    CHECK(mistaken.code == 0);
    if (both.served.node_guid() != opa_guid)
        CHECK(has(mistaken.err, "--node-guid"));
}

TEST_CASE("unbind --all removes what bind wrote, and tells of the rest", "[verbs]")
{
    if (!can_be_several_users())
        return;
    Both both;
    const auto unbind_all = [&] { return both.run([&] { return ctl::unbind_all(both.common); }); };
    CHECK(unbind_all().out.starts_with("rdmactl bound nothing"));
    (void)both.bind(to_port("a", opa_guid));
    (void)both.bind(to_port("b", opa_guid));
    both.served.bind("90-c.binding", "[Match]\nDevice=siw\n[Binding]\nUnit=c.service\n");
    const auto some = unbind_all();
    CHECK(some.code == 1);
    CHECK(has(some.err, "90-c.binding, which still bind units"));
    CHECK(both.served.bound_files() == List{"90-c.binding"});
    CHECK(rows_of(some.out).size() == 1);
    both.served.run.remove(own_folder + std::string("/90-c.binding"));
    both.common.json = true;
    const auto none = unbind_all();
    CHECK(none.code == 0);
    CHECK(Json::parse(none.out) == Json{{"removed", Json::array()}, {"others", Json::array()}});
}

TEST_CASE("an image is changed without rdmad", "[verbs]")
{
    Both both;
    both.common.is_socket_given = false;
    const auto bound = both.bind(to_port("a", opa_guid));
    CHECK(bound.code == 0);
    CHECK(both.served.run.list(own_folder).size() == 1);
    CHECK(both.served.reloads == 0);
    CHECK(both.verify().code == 0);
    CHECK(both.unbind("a").code == 0);
    CHECK(both.served.run.list(own_folder).empty());
    CHECK(both.served.reloads == 0);
}

TEST_CASE("a file is written though rdmad does not run", "[verbs]")
{
    Both both;
    both.common.socket = both.served.run.path("none");
    const auto bound = both.bind(to_port("a", opa_guid));
    CHECK(bound.code == 0);
    CHECK(has(bound.err, "nobody listens on"));
    CHECK(both.served.run.list(own_folder).size() == 1);
    const auto unbound = both.unbind("a");
    CHECK(unbound.code == 0);
    CHECK(has(unbound.err, "until rdmad runs, systemd still stops a.service"));
    CHECK(both.served.run.list(own_folder).empty());
}

TEST_CASE("what needs rdmad says how to start it", "[verbs]")
{
    Both both;
    both.common.socket = both.served.run.path("none");
    const auto& common = both.common;
    const std::vector<Verb> verbs = {
        [&] { return ctl::list(common); },
        [&] { return ctl::status(common, {}); },
        [&] { return ctl::bindings(common); },
        [&] { return ctl::monitor(common, false); },
        [&] { return ctl::wait(common, {.targets = {"opa"}}); },
        [&] { return ctl::release(common, "opa"); },
        [&] { return ctl::accept(common, "opa"); },
        [&] { return ctl::resume(common, "opa"); },
        [&] { return ctl::prepare(common, {.device = "opa"}); },
        [&] { return ctl::inhibit(common, {}); },
        [&] { return ctl::recover(common, true); },
        [&] { return ctl::reload(common); },
    };
    for (const auto& verb : verbs) {
        const auto failed = both.run(verb);
        CHECK(failed.code == 1);
        CHECK(failed.out.empty());
        CHECK(has(failed.err, "nobody listens on"));
    }
    const auto not_run = both.inhibit({.command = {"false"}});
    CHECK(not_run.code == 125);
    CHECK(has(not_run.err, "nobody listens on"));
}

TEST_CASE("wait ends when all is as it should be", "[verbs]")
{
    Both both;
    CHECK(both.wait({.targets = {"opa", opa_guid}, .goal = ctl::WaitGoal::present}).code == 0);
    CHECK(both.wait({.targets = {"none"}, .goal = ctl::WaitGoal::absent}).code == 0);

    bool is_out = false;
    both.common.json = true;
    const auto gone = both.wait({.targets = {"opa"}, .goal = ctl::WaitGoal::absent}, [&](Taken&) {
        if (!both.served.monitors.empty() && !std::exchange(is_out, true))
            both.unplug_opa();
    });
    CHECK(is_out);
    CHECK(gone.code == 0);
    CHECK(Json::parse(gone.out) == Json{{"for", "absent"}, {"holds", true}, {"seen", nullptr}});
}

TEST_CASE("wait tells what it waited for", "[verbs]")
{
    Both both;
    const auto late =
        both.wait({.targets = {"none"}, .goal = ctl::WaitGoal::present, .timeout = 2});
    CHECK(late.code == 1);
    CHECK(late.out.empty());
    CHECK(has(late.err, "waited 2 s: 'none' is not there"));
    CHECK(both.wait({.targets = {"opa/0"}}).code == 2);
    CHECK(both.wait({.targets = {"opa"}, .timeout = -1}).code == 2);
    CHECK(both.wait({.targets = {"opa"}, .timeout = 1e9}).code == 2);
}

TEST_CASE("monitor shows what happens until its reader goes", "[verbs]")
{
    Both both;
    both.common.json = GENERATE(false, true);
    both.served.bind("50-a.binding", opa_file);
    bool is_out = false;
    std::string shown;
    const auto is_shown = [&](const char* text) { return shown.find(text) != std::string::npos; };
    const auto monitor = [&] { return ctl::monitor(both.common, true); };
    const auto ended = both.run(monitor, [&](Taken& out) {
        shown = out.text();
        if (is_shown("\n") && !std::exchange(is_out, true))
            both.unplug_opa();
        // it writes line after line
        if (is_shown("grace") && is_shown(both.common.json ? "\"remove\"" : " remove "))
            out.hang_up();
    });
    CHECK(ended.code == 0);
    CHECK(ended.err.empty());
    CHECK(both.served.monitors.at(0) == "polls");
    if (both.common.json) {
        List events;
        for (const auto line : text::split(shown, '\n'))
            events.push_back(Json::parse(line).at("event"));
        CHECK(events.front() == "snapshot");
        CHECK(has_word(events, "remove"));
        return;
    }
    CHECK(has(shown, " snapshot 3 devices: mixed opa siw\n"));
    CHECK(has(shown, " remove opa, index 1, opa, node GUID "));
    CHECK(has(shown, " life opa, grace\n"));
}

TEST_CASE("prepare follows its steps, and resume undoes it", "[verbs]")
{
    if (!can_be_several_users())
        return;
    Both both;
    both.bind_running();
    (void)both.served.pid1.take();
    const auto stop = [&](Taken&) {
        if (has_word(both.served.pid1.take(), "stop a.service"))
            both.served.tell_stopped("a.service");
    };
    SECTION("in words")
    {
        const auto prepared = both.prepare({.device = "0011:7501:0100:0001"}, stop);
        CHECK(prepared.code == 0);
        CHECK(prepared.out == "opa can be removed; rdmactl resume opa undoes this\n");
        CHECK(has(prepared.err, "opa stops a.service"));
        CHECK_FALSE(both.served.lives.obstacle(opa, {}).reason.empty());
    }
    SECTION("in JSON")
    {
        both.common.json = true;
        const auto prepared = both.prepare({.device = "opa"}, stop);
        CHECK(Json::parse(prepared.out) ==
              Json{{"device", "opa"}, {"stage", "safe"}, {"removed", false}});
        CHECK(prepared.err.empty());
        both.common.json = false;
    }
    const auto resumed = both.run([&] { return ctl::resume(both.common, "opa"); });
    CHECK(resumed.code == 0);
    CHECK(
        resumed.out ==
        "opa is not prepared for removal; rdmactl status shows what may not start yet, and why\n");
    CHECK(both.served.lives.obstacle(opa, {}).reason.empty());
}

TEST_CASE("prepare tells who is in its way", "[verbs]")
{
    if (!can_be_several_users())
        return;
    Both both;
    const auto hurry = [&](Taken&) { both.served.now += second; };
    SECTION("a process")
    {
        both.served.holders.holders = {{.pid = 9, .command = "sleep", .nodes = {"uverbs1"}}};
        const auto refused = both.prepare({.device = "opa"}, hurry);
        CHECK(refused.code == 5);
        CHECK(has(refused.err, "opa is in use by \"sleep\" (PID 9)"));
        CHECK(has(refused.err, "until rdmactl resume opa"));
    }
    SECTION("a process, in JSON")
    {
        both.served.holders.holders = {{.pid = 9, .command = "sleep", .nodes = {"uverbs1"}}};
        both.common.json = true;
        const auto json = Json::parse(both.prepare({.device = "opa"}, hurry).out);
        CHECK(json.at("refused") == "InUse");
        CHECK(json.at("device") == "opa");
        CHECK(json.at("holders").at(0).at("pid") == 9);
    }
    SECTION("somebody who objects")
    {
        both.served.inhibitors.add({"opa", "backup", "it runs", Inhibitor::Mode::block},
                                   [](auto&) {});
        const auto refused = both.prepare({.device = "opa"});
        CHECK(refused.code == 4);
        CHECK(has(refused.err, "opa is inhibited by backup (it runs); --ignore-inhibitors"));
        CHECK(both.prepare({.device = "opa", .ignores_inhibitors = true}).code == 0);
    }
    SECTION("somebody who needs a while")
    {
        const auto id = both.served.inhibitors.add(
            {"opa", "backup", "it runs", Inhibitor::Mode::delay}, [](auto&) {});
        bool is_done = false;
        const auto prepared = both.prepare({.device = "opa"}, [&](Taken&) {
            if (both.served.works > 0 && !std::exchange(is_done, true))
                both.served.inhibitors.remove(id);
        });
        CHECK(is_done);
        CHECK(prepared.code == 0);
    }
    SECTION("somebody who needs too long")
    {
        both.served.inhibitors.add({"opa", "backup", "it runs", Inhibitor::Mode::delay},
                                   [](auto&) {});
        const auto refused = both.prepare({.device = "opa"}, hurry);
        CHECK(refused.code == 4);
        CHECK(has(refused.err, "opa is inhibited by backup (it runs)"));
    }
    SECTION("nobody of that name")
    {
        const auto refused = both.prepare({.device = "none"});
        CHECK(refused.code == 1);
        CHECK(has(refused.err, "there is no RDMA device 'none'"));
    }
    SECTION("two of that GUID")
    {
        both.served.kernel.copy(opa, 9);
        both.served.tell("add", 9, "twin");
        const auto refused = both.prepare({.device = opa_guid});
        CHECK(refused.code == 1);
        CHECK(has(refused.err, "several devices are called '" + std::string(opa_guid) + "'"));
    }
    SECTION("it goes meanwhile")
    {
        both.served.inhibitors.add({"opa", "backup", "it runs", Inhibitor::Mode::delay},
                                   [](auto&) {});
        bool is_out = false;
        const auto gone = both.prepare({.device = "opa"}, [&](Taken&) {
            if (both.served.works > 0 && !std::exchange(is_out, true))
                both.unplug_opa();
        });
        CHECK(gone.code == 1);
        CHECK(has(gone.err, "'opa' is no RDMA device or GUID"));
    }
}

TEST_CASE("inhibit objects as long as its command runs", "[verbs]")
{
    if (!can_be_several_users())
        return;
    Both both;
    CHECK(both.inhibit({}).out == "nobody inhibits anything\n");
    std::string seen;
    const auto ended =
        both.inhibit({.device = "opa", .command = {"sh", "-c", "sleep 0.2; exit 7"}}, [&](Taken&) {
            for (const auto& one : both.served.inhibitors.all())
                seen = one.who + ": " + one.why;
        });
    CHECK(ended.code == 7);
    CHECK(seen == "sh: no reason given");
    both.served.settle();
    CHECK(both.served.inhibitors.all().empty());

    CHECK(both.inhibit({.command = {"/nonexistent"}}).code == 127);
    CHECK(both.inhibit({.command = {"/etc"}}).code == 126);
    CHECK(both.inhibit({.command = {"sh", "-c", "kill -9 $$"}}).code == 128 + 9);
    const auto unknown = both.inhibit({.device = "none", .command = {"false"}});
    CHECK(unknown.code == 125);
    CHECK(has(unknown.err, "'none' is no RDMA device or GUID"));

    both.served.inhibitors.add({"opa", "backup", "it runs", Inhibitor::Mode::delay}, [](auto&) {});
    CHECK(both.inhibit({}).out == "opa: delay by backup (it runs)\n");
    both.common.json = true;
    CHECK(Json::parse(both.inhibit({}).out).at("inhibitors").at(0).at("who") == "backup");
}

TEST_CASE("inhibit objects again when rdmad is back, and its command does not notice", "[verbs]")
{
    if (!can_be_several_users())
        return;
    Both both;
    const auto script = "for i in $(seq 100); do [ -e " + both.served.run.path("done") +
                        " ] && exit 7; sleep 0.1; done";
    enum class Stage { before, away, back } stage = Stage::before;
    int held = 0;
    const auto ended = both.inhibit({.command = {"sh", "-c", script}}, [&](Taken&) {
        const bool is_held = !both.served.inhibitors.all().empty();
        if (stage == Stage::before && is_held) {
            both.served.server.end();
            unlink(both.served.place.path().c_str());
            stage = Stage::away;
        } else if (stage == Stage::away && !is_held) {
            must(both.served.server.listen(both.served.place.listening()));
            stage = Stage::back;
        } else if (stage == Stage::back && held < 100) {
            // it is to stay so
            held = is_held ? held + 1 : 0;
            if (held == 100)
                both.served.run.file("done", "");
        }
    });
    CHECK(held == 100);
    CHECK(ended.code == 7);
    CHECK(has(ended.err, "rdmad has ended; until it is back nothing keeps devices from"));
}

TEST_CASE("release and accept are told to rdmad", "[verbs]")
{
    if (!can_be_several_users())
        return;
    Both both;
    const auto release = [&] { return ctl::release(both.common, "opa"); };
    const auto accept = [&] { return ctl::accept(both.common, opa_guid); };
    CHECK(both.run(release).out ==
          "opa is not held; rdmactl status shows what may not start yet, and why\n");
    CHECK(both.run(accept).code == 0);
    both.common.json = true;
    CHECK(Json::parse(both.run(accept).out) == Json{{"device", opa_guid}});
    const auto unknown = both.run([&] { return ctl::release(both.common, "none"); });
    CHECK(unknown.code == 1);
    CHECK(has(unknown.err, "'none' is no RDMA device or GUID"));
}

TEST_CASE("recover shows the targets of the kernel", "[verbs]")
{
    if (!can_be_several_users())
        return;
    Both both;
    const auto recover = [&] { return ctl::recover(both.common, true); };
    using State = recovery::Target::State;
    const auto [state, code] =
        GENERATE(table<State, int>({{State::waiting, 0}, {State::failed, 1}}));
    recovery::Report report = {
        .targets = {{recovery::Kind::nvmet, "ports/1", "192.0.2.1:4420", state, "it was told so"}},
        .order = 0};
    const Step look = [&](Taken&) { look_at_targets(both.served, report); };
    (void)both.served.pid1.take();
    const auto shown = both.run(recover, look);
    CHECK(shown.code == code);
    CHECK(row_of(shown.out, "KIND") == List{"KIND", "TARGET", "ADDRESS", "STATE"});
    CHECK(has(shown.out, "nvmet ports/1 at 192.0.2.1:4420: it was told so"));
    both.common.json = true;
    CHECK(Json::parse(both.run(recover, look).out).at("targets").size() == 1);
    both.common.json = false;
    report.targets.clear();
    CHECK(has(both.run(recover, look).out, "nothing in the kernel waits for connections"));

    both.served.pid1.refused = {"rdmad-recovery.service"};
    const auto failed = both.run(recover);
    CHECK(failed.code == 1);
    CHECK(has(failed.err, "targets in the kernel could not be looked at: "));
}

TEST_CASE("reload tells what is wrong with the files", "[verbs]")
{
    if (!can_be_several_users())
        return;
    Both both;
    const auto reload = [&] { return ctl::reload(both.common); };
    both.served.run.file(own_folder + std::string("/50-a.binding"), opa_file);
    const auto fine = both.run(reload);
    CHECK(fine.code == 0);
    CHECK(fine.out.empty());
    CHECK(both.served.bound_files() == List{"50-a.binding"});
    both.served.run.file(own_folder + std::string("/60-b.binding"), "[Match]\nPortGUID=x\n");
    const auto wrong = both.run(reload);
    CHECK(wrong.code == 1);
    CHECK(has(wrong.err, "60-b.binding:2: PortGUID: 'x' is not a GUID"));
    both.common.json = true;
    CHECK_FALSE(Json::parse(both.run(reload).out).at("problems").empty());
}

TEST_CASE("verify finds what is wrong, and what a file matches", "[verbs]")
{
    Both both;
    const auto folder = std::string(own_folder);
    CHECK(both.verify().out == "there are no .binding and no .link files\n");
    both.served.run.directory("usr/lib/systemd/system");
    both.served.run.file(folder + "/50-a.binding", opa_file);
    both.served.run.file(folder + "/notes.txt", "");
    const auto fine = both.verify();
    CHECK(fine.code == 0);
    CHECK(has(fine.out, "50-a.binding: opa/1\n"));
    CHECK(has(fine.out, "50-a.binding: note: systemd has no file for a.service\n"));
    CHECK(has(fine.out, "notes.txt: note: rdmad ignores it, as its name does not end in .binding"));
    both.served.run.file("etc/systemd/system/a.service", "");
    CHECK_FALSE(has(both.verify().out, "systemd has no file"));

    both.served.run.file(folder + "/60-b.binding", "[Match]\nPortGUID=x\n");
    both.served.run.file("etc/rdmad/link.d/10-x.link", "[Match]\nDriver=x\n[Link]\nNaem=y\n");
    const auto wrong = both.verify();
    CHECK(wrong.code == 1);
    CHECK(has(wrong.out, "60-b.binding:2: PortGUID: 'x' is not a GUID"));

    // those that are named, and no others
    const auto one = both.served.run.path(folder + "/50-a.binding");
    const auto named = both.verify({one, "/etc/passwd"});
    CHECK(named.code == 1);
    CHECK(has(named.out, "/etc/passwd: its name ends neither in .binding nor in .link"));
    CHECK_FALSE(has(named.out, "60-b.binding"));
    both.common.json = true;
    const auto json = Json::parse(both.verify({one}).out);
    CHECK(json.at("matches") == Json{{one, {"opa/1"}}});

    both.common.socket = both.served.run.path("none");
    const auto alone = both.verify({one});
    CHECK(alone.code == 0);
    CHECK(has(alone.err, "what the files match cannot be told: "));
    CHECK(Json::parse(alone.out).at("matches").is_null());
}

TEST_CASE("a reply that makes no sense or does not come is told by the verb that needs it",
          "[verbs]")
{
    if (!can_be_several_users())
        return;
    using ctl::Common;
    using Way = SpoilingProxy::Way;
    struct Row {
        const char* name;
        ctl::Answer<int> (*verb)(const Common&);
        size_t replies = 1;           ///< that it needs
        std::set<Way> tolerated = {}; ///< it does its work all the same
        bool is_silent = false;       ///< about that
        int code = 1;                 ///< of the others
    };
    const auto row = GENERATE(values<Row>({
        {"list", [](const Common& common) { return ctl::list(common); }},
        {"status", [](const Common& common) { return ctl::status(common, {}); }, 2},
        {"status opa", [](const Common& common) { return ctl::status(common, "opa"); }, 2},
        {"status mixed/2", [](const Common& common) { return ctl::status(common, "mixed/2"); }, 2},
        {"status b.service", [](const Common& common) { return ctl::status(common, "b.service"); }},
        {"bindings", [](const Common& common) { return ctl::bindings(common); }},
        {"bind",
         [](const Common& common) { return ctl::bind(common, to_port("b", mixed_guid)); },
         2,
         {Way::hang_up}},
        {"bind --runtime",
         [](const Common& common) {
             auto running = common;
             running.root.clear();
             auto options = to_port("b", mixed_guid);
             options.runtime = true;
             return ctl::bind(running, options);
         },
         2},
        {"unbind",
         [](const Common& common) { return ctl::unbind(common, "b"); },
         2,
         {Way::hang_up}},
        {"unbind --all", [](const Common& common) { return ctl::unbind_all(common); }},
        {"monitor", [](const Common& common) { return ctl::monitor(common, false); }},
        // it asks again
        {"wait",
         [](const Common& common) { return ctl::wait(common, {.targets = {"opa"}}); },
         1,
         {Way::hang_up},
         true},
        {"prepare", [](const Common& common) { return ctl::prepare(common, {.device = "opa"}); },
         3},
        {"recover", [](const Common& common) { return ctl::recover(common, true); }},
        {"inhibit", [](const Common& common) { return ctl::inhibit(common, {}); }},
        {"reload", [](const Common& common) { return ctl::reload(common); }},
        {"verify",
         [](const Common& common) { return ctl::verify(common, {}); },
         1,
         {Way::hang_up, Way::odd, Way::refuse}},
        // they are told nothing but that it was done
        {"release",
         [](const Common& common) { return ctl::release(common, "opa"); },
         1,
         {Way::odd},
         true},
        {"accept",
         [](const Common& common) { return ctl::accept(common, "opa"); },
         1,
         {Way::odd},
         true},
        {"resume",
         [](const Common& common) { return ctl::resume(common, "opa"); },
         1,
         {Way::odd},
         true},
        {"inhibit true",
         [](const Common& common) { return ctl::inhibit(common, {.command = {"true"}}); },
         1,
         {Way::odd},
         true,
         125},
    }));
    const auto [way, text] =
        GENERATE(table<Way, std::string>({{Way::hang_up, "the connection to rdmad broke"},
                                          {Way::odd, "rdmad's answer is wrong: "},
                                          {Way::refuse, "rdmad refuses: io.rdmad.Unheard"}}));
    Both both;
    auto& common = both.common;
    both.served.bind("90-more.binding", "[Match]\nDevice=siw\n[Binding]\nUnit=b.service\n");
    both.served.tell_running("b.service");
    (void)both.served.pid1.take();
    size_t spared = 0;
    for (;; spared++) {
        // as where there is no rdmad
        common.is_socket_given = false;
        REQUIRE(both.bind(to_port("b", mixed_guid)).code == 0);
        common.is_socket_given = true;
        SpoilingProxy proxy(both.served, spared, way);
        common.socket = proxy.path();
        const auto outcome = run(
            both.served, [&] { return row.verb(common); },
            [&](Taken& out) {
                proxy.turn();
                look_at_targets(both.served, {});
                // monitor has all that it needs
                if (!proxy.has_spoiled() && !out.text().empty())
                    out.hang_up();
            });
        INFO(row.name << ", reply " << spared + 1 << "\n" << outcome.out << outcome.err);
        if (!proxy.has_spoiled())
            break;
        const bool is_fine = row.tolerated.contains(way);
        CHECK(outcome.code == (is_fine ? 0 : row.code));
        if (!is_fine)
            CHECK(outcome.out.empty());
        CHECK((is_fine && row.is_silent ? outcome.err.empty() : has(outcome.err, text)));
    }
    INFO(row.name);
    CHECK(spared == row.replies);
}

TEST_CASE("bind tells what keeps it from writing", "[verbs]")
{
    Both both;
    both.common.is_socket_given = false;
    const auto bind = [&] { return both.bind(to_port("a", opa_guid)); };
    const std::string folder = own_folder;
    SECTION("a file where the folder is to be")
    {
        both.served.run.file(folder.substr(0, folder.rfind('/')), "");
        CHECK(has(bind().err, "cannot make " + both.served.run.path(folder) + ": Not a directory"));
    }
    SECTION("something where it writes")
    {
        both.served.run.directory(folder + "/.rdmactl-" + std::to_string(getpid()));
        const auto refused = bind();
        CHECK(has(refused.err, "cannot write " + both.served.run.path(folder) + "/"));
        CHECK(has(refused.err, "Is a directory"));
        CHECK(both.served.run.list(folder).size() == 1);
    }
    CHECK(bind().code == 1);
    CHECK(bind().out.empty());
}

TEST_CASE("a device that is not removed stays prepared, and that is told", "[verbs]")
{
    if (!can_be_several_users())
        return;
    if (access("/sys/class/infiniband/opa", F_OK) == 0) {
        WARN("this machine has a device opa, which this would remove");
        return;
    }
    Both both;
    const auto refused = both.prepare({.device = "opa", .removes = true});
    CHECK(refused.code == 1);
    CHECK(refused.out.empty());
    CHECK(has(refused.err, "opa hangs on no device that could be removed; it stays prepared until "
                           "rdmactl resume opa"));
    CHECK_FALSE(both.served.lives.obstacle(opa, {}).reason.empty());
}
