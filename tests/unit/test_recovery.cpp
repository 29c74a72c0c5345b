// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/recovery/recovery.hpp"
#include "tests/support/fake_pid1.hpp"
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"

#include <cerrno>

using namespace rdmad;
using namespace rdmad::recovery;
using namespace rdmad::test;
using namespace std::chrono_literals;

namespace {

using List = std::vector<std::string>;
using State = Target::State;

constexpr char unit[] = "rdmad-recovery.service";
constexpr char run_it[] = "start rdmad-recovery.service";

Report report_of(State state)
{
    return {.targets = {{Kind::nvmet, "ports/1", "192.0.2.1:4420", state, ""}}};
}

std::string join_users(const Report& report)
{
    std::string all;
    for (const auto& user : report.users)
        all += user;
    return all;
}

struct Bench {
    FixtureTree run;
    FakePid1 pid1;
    List told = {};
    bool may_have_work = true;
    int plans = 0;
    Recovery recovery;

    explicit Bench(Settings settings = {})
        : recovery(
              run.path("recovery"), std::move(settings),
              {.on_report =
                   [this](const Report& report) {
                       for (const auto& target : report.targets)
                           told.emplace_back(to_string(target.state));
                   },
               .on_wait = [this](const auto& target) { told.push_back(target.name + " waits"); },
               .may_have_work = [this] { return may_have_work; },
               .on_plan = [this] { plans++; }})
    {
        recovery.use(&pid1);
    }
    /// Units that were asked for.
    List asked()
    {
        auto all = pid1.take();
        std::erase_if(all, [](const auto& one) { return one.starts_with("unwatch"); });
        return all;
    }
    [[nodiscard]] Order order() const
    {
        return must(parse_order(run.read("recovery/orders/last")));
    }
    void finish(const Report& report)
    {
        finish(recovery, report);
    }
    /// The service ends what this one of several has ordered.
    void finish(Recovery& whose, Report report) const
    {
        report.order = order().number;
        run.file("recovery/report", format_report(report));
        whose.on_job(unit, 17, "done");
    }
    /// rdmad is killed, and another one starts.
    [[nodiscard]] Recovery restarted(Settings settings = {})
    {
        Recovery next(run.path("recovery"), std::move(settings),
                      {.on_report = [](const Report&) {},
                       .on_wait = [](const Target&) {},
                       .may_have_work = [this] { return may_have_work; },
                       .on_plan = [] {}});
        next.use(&pid1);
        return next;
    }
    List take()
    {
        return std::exchange(told, {});
    }
};

} // namespace

TEST_CASE("orders and reports are read as they were written", "[recovery]")
{
    const Order order = {
        Order::Mode::release, {0, 7, UINT32_MAX}, {Kind::iser, Kind::nfs}, true, UINT64_MAX};
    const auto read = must(parse_order(format_order(order)));
    CHECK(read.mode == order.mode);
    CHECK(read.devices == order.devices);
    CHECK(read.kinds == order.kinds);
    CHECK(read.number == order.number);
    const Report report = {
        .targets = {{Kind::srpt, "port", "0002:c903:0000:0001", State::failed, "why"}},
        .users = {"nvme_rdma"},
        .connects_nvme = true,
        .order = 7};
    CHECK(must(parse_report(format_report(report))) == report);
    const std::set<uint32_t> indexes = {0, UINT32_MAX};
    CHECK(must(parse_indexes(format_indexes(indexes))) == indexes);
    for (const auto* text : {"", "[]", "{}", R"({"version":2,"mode":"look"})"}) {
        CHECK(error_of(parse_order(text)) == EBADMSG);
        CHECK(error_of(parse_report(text)) == EBADMSG);
        CHECK(error_of(parse_indexes(text)) == EBADMSG);
    }
    CHECK(error_of(parse_order(R"({"version":1,"mode":"burn"})")) == EBADMSG);
    const auto odd = must(parse_order(
        R"({"version":1,"mode":"look","devices":[1,-1,"2",4294967296],"kinds":["nfs","cifs",3]})"));
    CHECK(odd.devices == std::set<uint32_t>{1});
    CHECK(odd.kinds == std::set<Kind>{Kind::nfs});
    CHECK(must(parse_report(R"({"version":1,"targets":[7,{"kind":"nvmet"},{"state":"up"}]})"))
              .targets.empty());
}

TEST_CASE("where there is nothing to restore, nothing is started unless somebody asks",
          "[recovery]")
{
    Bench bench({.nvme_host = true});
    bench.recovery.settle({3});
    CHECK(bench.asked() == List{run_it});
    bench.finish(report_of(State::waiting));
    CHECK(bench.recovery.pause());
    bench.may_have_work = false;
    bench.recovery.settle({3, 4});
    CHECK(bench.asked().empty());
    // what was missing is of no concern any more
    CHECK_FALSE(bench.recovery.pause());
    CHECK(bench.recovery.is_idle());
    bench.recovery.ask(Order::Mode::look, [](const auto&) {});
    CHECK(bench.asked() == List{run_it});
    bench.finish({});

    bench.may_have_work = true;
    bench.recovery.settle({3, 4, 5});
    CHECK(bench.asked() == List{run_it});
    bench.finish({.connects_nvme = true});
    CHECK(bench.asked() == List{"start nvmf-autoconnect.service"});
    // nor is a run that failed
    bench.recovery.settle({3, 4});
    bench.recovery.on_job(unit, 17, "failed");
    CHECK(bench.recovery.pause());
    bench.may_have_work = false;
    bench.recovery.retry();
    CHECK(bench.asked() == List{run_it});
    CHECK_FALSE(bench.recovery.pause());
    bench.may_have_work = true;
    // with one under way, the next is told what is ready then
    bench.recovery.settle({3});
    bench.may_have_work = false;
    bench.recovery.settle({});
    CHECK(bench.asked() == List{run_it});
    bench.finish({});
    CHECK(bench.asked() == List{run_it});
    CHECK(bench.order().devices.empty());
}

TEST_CASE("a device that is about to go makes nobody forget over which hosts were connected",
          "[recovery]")
{
    Bench bench({.nvme_host = true});
    bench.recovery.settle({3});
    bench.finish({.connects_nvme = true});
    CHECK(bench.asked() == List{run_it, "start nvmf-autoconnect.service"});
    bench.may_have_work = false;
    auto next = bench.restarted({.nvme_host = true});
    next.on_blocked();
    CHECK(bench.asked().empty());
    bench.may_have_work = true;
    next.settle({3});
    bench.finish(next, {.connects_nvme = true});
    CHECK(bench.asked() == List{run_it});
}

TEST_CASE("targets are restored once for each change of what is ready", "[recovery]")
{
    Bench bench;
    bench.recovery.settle({});
    CHECK(bench.asked().empty());
    bench.recovery.settle({3});
    CHECK(bench.asked() == List{run_it});
    CHECK(bench.order().mode == Order::Mode::restore);
    CHECK(bench.order().devices == std::set<uint32_t>{3});
    CHECK(bench.order().kinds.size() == 4);
    bench.recovery.settle({3});
    bench.finish(report_of(State::restored));
    CHECK(bench.take() == List{"restored"});
    bench.recovery.settle({3});
    CHECK(bench.asked().empty());
    CHECK_FALSE(bench.recovery.pause());
    bench.recovery.settle({});
    CHECK(bench.asked() == List{run_it});
    CHECK(bench.order().devices.empty());
}

TEST_CASE("changes while it runs are one more run, of the last of them", "[recovery]")
{
    Bench bench;
    bench.recovery.settle({3});
    bench.recovery.settle({3, 4});
    bench.recovery.settle({4});
    CHECK(bench.asked() == List{run_it});
    CHECK(bench.order().devices == std::set<uint32_t>{3});
    bench.finish({});
    CHECK(bench.asked() == List{run_it});
    CHECK(bench.order().devices == std::set<uint32_t>{4});
    bench.finish({});
    CHECK(bench.asked().empty());
}

TEST_CASE("what is missing is tried again, ever more rarely, and not for ever", "[recovery]")
{
    Bench bench;
    bench.recovery.settle({3});
    bench.finish(report_of(State::waiting));
    std::chrono::microseconds all = 0s;
    int tries = 0;
    while (const auto pause = bench.recovery.pause()) {
        REQUIRE(++tries < 20);
        all += *pause;
        bench.recovery.retry();
        bench.asked();
        bench.finish(report_of(State::waiting));
    }
    CHECK(all > 3min);
    CHECK(all < 10min);
    // something happened
    bench.recovery.settle({3, 4});
    bench.finish(report_of(State::waiting));
    CHECK(bench.recovery.pause() == 1s);
    bench.recovery.retry();
    bench.asked();
    bench.finish(report_of(State::restored));
    CHECK_FALSE(bench.recovery.pause());
    bench.recovery.retry();
    CHECK(bench.asked().empty());
}

TEST_CASE("what still waits after the last try is told once", "[recovery]")
{
    Bench bench;
    const List waits = {"waiting"};
    const List waits_on = {"waiting", "ports/1 waits"};
    const auto end_in = [&](State state) {
        bench.finish(report_of(state));
        return bench.take();
    };
    const auto after_all_tries = [&] {
        do {
            CHECK(end_in(State::waiting) == waits);
            bench.recovery.retry();
        } while (bench.recovery.pause());
        return end_in(State::waiting);
    };
    bench.recovery.settle({3});
    CHECK(after_all_tries() == waits_on);
    bench.recovery.on_address();
    CHECK(end_in(State::waiting) == waits);
    // a failure is told by itself, and it may wait again after that
    bench.recovery.on_address();
    CHECK(end_in(State::failed) == List{"failed"});
    bench.recovery.on_address();
    CHECK(end_in(State::waiting) == waits_on);
    // tries that begin anew do not tell it again
    bench.recovery.settle({3, 4});
    CHECK(after_all_tries() == waits);
    bench.recovery.settle({3});
    CHECK(end_in(State::up) == List{"up"});
    bench.recovery.settle({3, 4});
    CHECK(after_all_tries() == waits_on);
}

TEST_CASE("addresses that come use up no tries", "[recovery]")
{
    Bench bench;
    bench.recovery.settle({3});
    bench.finish(report_of(State::waiting));
    for (int i = 0; i < 20; i++) {
        bench.asked();
        bench.recovery.on_address();
        CHECK(bench.asked().size() == 1);
        bench.finish(report_of(State::waiting));
    }
    CHECK(bench.recovery.pause() == 1s);
}

TEST_CASE("a run that failed is tried again, also one that reports nothing", "[recovery]")
{
    Bench bench;
    bench.recovery.settle({3});
    bench.recovery.on_job(unit, 17, "failed");
    CHECK(bench.recovery.pause());
    bench.recovery.retry();
    CHECK(bench.asked() == List{run_it, run_it});
    // it may have been at the order of another rdmad
    bench.recovery.on_job(unit, 17, "done");
    CHECK(bench.asked() == List{run_it});
    bench.recovery.on_job(unit, 17, "done");
    CHECK(bench.asked().empty());
    CHECK(bench.recovery.pause());
    CHECK(bench.take().empty());
}

TEST_CASE("hosts are connected once for each newcomer, after the targets", "[recovery]")
{
    Bench bench;
    auto report = report_of(State::up);
    report.connects_nvme = true;
    bench.recovery.settle({3});
    bench.finish(report);
    CHECK(bench.asked() == List{run_it, "start nvmf-autoconnect.service"});
    bench.recovery.settle({});
    bench.finish(report);
    CHECK(bench.asked() == List{run_it});
    bench.recovery.settle({5});
    bench.finish(report);
    CHECK(bench.asked() == List{run_it, "start nvmf-autoconnect.service"});
    // at boot one adapter may be ready long after another
    bench.recovery.settle({5, 6});
    bench.finish(report);
    CHECK(bench.asked() == List{run_it, "start nvmf-autoconnect.service"});
    // whoever was disconnected by hand stays so when a device goes, or rdmad is started again
    bench.recovery.settle({5});
    bench.finish(report);
    CHECK(bench.asked() == List{run_it});
    const auto restart = [&](const std::set<uint32_t>& ready) {
        auto next = bench.restarted();
        next.settle(ready);
        bench.finish(next, report);
    };
    restart({5});
    CHECK(bench.asked() == List{run_it});
    restart({5, 8});
    CHECK(bench.asked() == List{run_it, "start nvmf-autoconnect.service"});
    // nor does one come back that was prepared for its removal, or another one beside it
    bench.recovery.settle({5, 8});
    bench.finish(report);
    bench.recovery.release(8, {});
    bench.finish({});
    CHECK(bench.asked() == List{run_it, "start nvmf-autoconnect.service", run_it});
    restart({5});
    CHECK(bench.asked() == List{run_it});
    // the run that was under way when it came knew nothing of it
    bench.recovery.settle({});
    bench.recovery.settle({7});
    bench.finish(report);
    CHECK(bench.asked() == List{run_it, run_it});
    bench.finish(report);
    CHECK(bench.asked() == List{"start nvmf-autoconnect.service"});
    Bench off({.nvme_host = false});
    off.recovery.settle({3});
    off.finish(report);
    CHECK(off.asked() == List{run_it});
}

TEST_CASE("hosts that systemd does not connect are connected with the next try", "[recovery]")
{
    Bench bench;
    auto report = report_of(State::up);
    report.connects_nvme = true;
    bench.pid1.refused = {"nvmf-autoconnect.service"};
    bench.recovery.settle({3});
    bench.finish(report);
    CHECK(bench.asked() == List{run_it, "start nvmf-autoconnect.service"});
    CHECK(bench.recovery.pause().has_value());
    bench.pid1.refused.clear();
    bench.recovery.retry();
    bench.finish(report);
    CHECK(bench.asked() == List{run_it, "start nvmf-autoconnect.service"});
    CHECK_FALSE(bench.recovery.pause().has_value());
}

TEST_CASE("hosts that systemd refuses to connect later, too", "[recovery]")
{
    Bench bench;
    bench.recovery.settle({3});
    bench.pid1.answers_starts = false;
    bench.finish({.connects_nvme = true});
    CHECK_FALSE(bench.recovery.pause());
    const auto before = bench.plans;
    bench.pid1.answer_starts(fail(EPERM, "PID 1 refuses"));
    CHECK(bench.recovery.pause());
    CHECK(bench.plans > before);
}

TEST_CASE("hosts are connected by the next rdmad if this one did not come to it", "[recovery]")
{
    Bench bench;
    const auto connects = [&] {
        auto next = bench.restarted();
        next.settle({3});
        bench.finish(next, {.connects_nvme = true});
        return bench.asked() == List{run_it, "start nvmf-autoconnect.service"};
    };
    bench.recovery.settle({3});
    bench.asked();
    SECTION("it was killed during the run") {}
    SECTION("the run failed")
    {
        bench.recovery.on_job(unit, 17, "failed");
    }
    SECTION("systemd refused")
    {
        bench.pid1.refused = {"nvmf-autoconnect.service"};
        bench.finish({.connects_nvme = true});
        bench.pid1.refused.clear();
    }
    SECTION("systemd had not answered")
    {
        bench.pid1.answers_starts = false;
        bench.finish({.connects_nvme = true});
        bench.pid1.answers_starts = true;
    }
    bench.asked();
    CHECK(connects());
    CHECK_FALSE(connects());
}

TEST_CASE("what systemd has not taken is no device that hosts were connected over", "[recovery]")
{
    Bench bench;
    bench.recovery.settle({2});
    bench.finish({.connects_nvme = true});
    bench.recovery.settle({2, 3});
    bench.pid1.answers_starts = false;
    bench.finish({.connects_nvme = true});
    bench.pid1.answers_starts = true;
    SECTION("another device goes, and rdmad is killed")
    {
        bench.recovery.settle({3});
        bench.finish({.connects_nvme = true});
        bench.asked();
        auto next = bench.restarted();
        next.settle({3});
        bench.finish(next, {.connects_nvme = true});
    }
    SECTION("the connection breaks")
    {
        bench.asked();
        bench.recovery.on_connected();
        CHECK(bench.recovery.pause());
        bench.recovery.retry();
        bench.finish({.connects_nvme = true});
    }
    CHECK(bench.asked() == List{run_it, "start nvmf-autoconnect.service"});
}

TEST_CASE("a device that goes before systemd answers is none that hosts were connected over",
          "[recovery]")
{
    Bench bench;
    bench.recovery.settle({3});
    bench.pid1.answers_starts = false;
    bench.finish({.connects_nvme = true});
    bench.pid1.answers_starts = true;
    bench.recovery.settle({});
    bench.finish({.connects_nvme = true});
    bench.pid1.answer_starts(17U);
    bench.asked();
    auto next = bench.restarted();
    next.settle({3});
    bench.finish(next, {.connects_nvme = true});
    CHECK(bench.asked() == List{run_it, "start nvmf-autoconnect.service"});
}

TEST_CASE("where nobody has hosts connected a device is no newcomer later", "[recovery]")
{
    Bench bench;
    bench.recovery.settle({3});
    bench.finish({.connects_nvme = false});
    bench.recovery.retry();
    bench.recovery.ask(Order::Mode::restore, {});
    bench.finish({.connects_nvme = true});
    CHECK(bench.asked() == List{run_it, run_it});
}

TEST_CASE("an index that ib_core gives again, loaded anew, is a new one to the next rdmad",
          "[recovery]")
{
    Bench bench;
    bench.recovery.settle({3});
    bench.finish({.connects_nvme = true});
    bench.recovery.settle({});
    bench.finish({.connects_nvme = true});
    bench.asked();
    auto next = bench.restarted();
    next.settle({3});
    bench.finish(next, {.connects_nvme = true});
    CHECK(bench.asked() == List{run_it, "start nvmf-autoconnect.service"});
}

TEST_CASE("a removal while rdmad starts does not make known devices new ones", "[recovery]")
{
    Bench bench;
    bench.recovery.settle({3});
    bench.finish({.connects_nvme = true});
    {
        auto next = bench.restarted();
        next.on_blocked();
        // and is killed
    }
    bench.asked();
    auto next = bench.restarted();
    next.settle({3});
    bench.finish(next, {.connects_nvme = true});
    CHECK(bench.asked() == List{run_it});
}

TEST_CASE("a run that another order began does not answer this one", "[recovery]")
{
    Bench bench;
    bench.recovery.settle({3});
    const auto first = bench.order().number;
    // systemd was executed anew; the service runs on
    bench.recovery.on_connected();
    List answers;
    bench.recovery.release(3, [&](const Result<Report>& report) {
        answers.push_back(report ? join_users(*report) : report.error().message());
    });
    CHECK(bench.asked() == List{run_it, run_it});
    CHECK(bench.order().number != first);
    SECTION("its report came late")
    {
        bench.run.file("recovery/report", format_report({.order = first}));
    }
    SECTION("its report came before") {}
    bench.recovery.on_job(unit, 17, "done");
    CHECK(answers.empty());
    CHECK(bench.asked() == List{run_it});
    CHECK(bench.order().mode == Order::Mode::release);
    SECTION("the next run is ours")
    {
        bench.finish({.users = {"nvme_rdma"}});
        CHECK(answers == List{"nvme_rdma"});
    }
    SECTION("it is not, either")
    {
        bench.run.file("recovery/report", format_report({.order = first}));
        bench.recovery.on_job(unit, 17, "done");
        REQUIRE(answers.size() == 1);
        CHECK(answers[0].find("an earlier run") != std::string::npos);
        CHECK(bench.asked().empty());
    }
    SECTION("it reports nothing")
    {
        bench.recovery.on_job(unit, 17, "done");
        REQUIRE(answers.size() == 1);
        CHECK(answers[0].find("recovery/report") != std::string::npos);
    }
}

TEST_CASE("users in the kernel are looked for where there are no targets, too", "[recovery]")
{
    Bench bench;
    bench.may_have_work = false;
    std::string answer;
    bench.recovery.release(3, [&](const Result<Report>& report) {
        answer = report ? join_users(*report) : report.error().message();
    });
    CHECK(bench.asked() == List{run_it});
    SECTION("there is one")
    {
        bench.finish({.users = {"rpcrdma"}});
        CHECK(answer == "rpcrdma");
    }
    SECTION("nobody has looked")
    {
        bench.recovery.on_job(unit, 17, "done");
        bench.recovery.on_job(unit, 17, "done");
        CHECK(answer.find("recovery/report") != std::string::npos);
    }
}

TEST_CASE("a restore that comes after a release runs after it", "[recovery]")
{
    Bench bench;
    bench.recovery.settle({3});
    bench.recovery.settle({});
    bench.recovery.release(3, {});
    bench.recovery.settle({3});
    std::vector<Order::Mode> modes;
    for (int i = 0; i < 4; i++) {
        modes.push_back(bench.order().mode);
        bench.finish({});
    }
    using Mode = Order::Mode;
    CHECK(modes == std::vector<Mode>{Mode::restore, Mode::restore, Mode::release, Mode::restore});
    CHECK(bench.order().devices == std::set<uint32_t>{3});
}

TEST_CASE("what failed is tried again, though no device is left", "[recovery]")
{
    Bench bench;
    bench.recovery.settle({3});
    bench.finish({});
    bench.recovery.settle({});
    bench.recovery.on_job(unit, 17, "timeout");
    CHECK(bench.recovery.pause() == 1s);
    CHECK_FALSE(bench.recovery.is_idle());
    bench.recovery.retry();
    bench.finish(report_of(State::waiting));
    CHECK(bench.recovery.is_idle());
}

TEST_CASE("by hand is asked for in turn", "[recovery]")
{
    Bench bench({.kinds = {Kind::nvmet}});
    List answers;
    const auto note = [&](const Result<Report>& report) {
        answers.push_back(report ? std::to_string(report->targets.size())
                                 : report.error().message());
    };
    bench.recovery.settle({3});
    bench.recovery.ask(Order::Mode::look, note);
    bench.recovery.release(3, note);
    bench.finish({});
    CHECK(bench.order().mode == Order::Mode::look);
    CHECK(bench.order().kinds == std::set<Kind>{Kind::nvmet});
    bench.finish(report_of(State::dead));
    CHECK(answers == List{"1"});
    // a look tells the journal nothing
    CHECK(bench.take().empty());
    CHECK(bench.order().mode == Order::Mode::release);
    CHECK(bench.order().devices == std::set<uint32_t>{3});
    bench.recovery.on_connected();
    REQUIRE(answers.size() == 2);
    CHECK(answers[1] != "1");
}

TEST_CASE("without systemd nothing is asked for, and that is told", "[recovery]")
{
    Bench bench;
    bench.pid1.is_there = false;
    bench.recovery.settle({3});
    CHECK(bench.asked().empty());
    bool has_failed = false;
    bench.recovery.ask(Order::Mode::look, [&](const auto& report) { has_failed = !report; });
    CHECK(has_failed);
    // it is made up for
    bench.pid1.is_there = true;
    bench.recovery.settle({3});
    CHECK(bench.asked() == List{run_it});
}

TEST_CASE("a removal that waits is looked at only for the NFS server", "[recovery]")
{
    Bench bench;
    bench.recovery.on_blocked();
    CHECK(bench.asked() == List{run_it});
    Bench off({.kinds = {Kind::nvmet}});
    off.recovery.on_blocked();
    CHECK(off.asked().empty());
}

TEST_CASE("an rdmad that was started anew knows of the NFS server what the last one knew",
          "[recovery]")
{
    Bench bench;
    bench.recovery.on_nfs_server(true);
    bench.recovery.settle({3});
    CHECK(bench.order().has_nfs_server);
    auto next = bench.restarted();
    // systemd has told nothing yet
    next.settle({4});
    CHECK(bench.order().devices == std::set<uint32_t>{4});
    CHECK(bench.order().has_nfs_server);
    bench.finish(next, {});
    next.on_nfs_server(false);
    next.settle({5});
    CHECK_FALSE(bench.order().has_nfs_server);
}
