// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/client.hpp"
#include "tests/catch.hpp"

#include <array>
#include <cerrno>
#include <sys/socket.h>

using namespace rdmad;
using namespace rdmad::ctl;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

/// A client and the other end of its socket.
struct Pair {
    Client client;
    UniqueFd server;
};

Pair make_pair()
{
    std::array<int, 2> ends{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    return {Client(UniqueFd(ends[0])), UniqueFd(ends[1])};
}

void say(const Pair& pair, std::string_view bytes)
{
    REQUIRE(send(pair.server.get(), bytes.data(), bytes.size(), 0) ==
            static_cast<ssize_t>(bytes.size()));
}

using namespace std::string_view_literals;
constexpr auto two = "{\"parameters\":{\"a\":1}}\0{\"parameters\":{\"a\":2}}\0"sv;

} // namespace

TEST_CASE("answers that come at once are told apart", "[client]")
{
    auto pair = make_pair();
    say(pair, two);
    CHECK(**pair.client.next(steady_clock::now() + 10s) == Json{{"a", 1}});
    CHECK(**pair.client.next(steady_clock::now() + 10s) == Json{{"a", 2}});
}

TEST_CASE("an answer that comes byte by byte is put together", "[client]")
{
    auto pair = make_pair();
    for (size_t i = 0; i + 1 < two.size() / 2; i++) {
        say(pair, two.substr(i, 1));
        const auto early = pair.client.next(steady_clock::now());
        REQUIRE_FALSE(early.has_value());
        CHECK(early.error().kind == Complaint::Kind::late);
    }
    say(pair, two.substr(two.size() / 2 - 1, 1));
    CHECK(**pair.client.next(steady_clock::now() + 10s) == Json{{"a", 1}});
}

TEST_CASE("a call is one message, whatever its arguments are", "[client]")
{
    auto pair = make_pair();
    say(pair, "{}\0"sv);
    const auto deadline = steady_clock::now() + 10s;
    CHECK(pair.client.call("io.rdmad.Devices.List", {{"device", "\xff\n\""}}, deadline) ==
          Json::object());
    std::array<char, 256> bytes{};
    const auto size = recv(pair.server.get(), bytes.data(), bytes.size(), 0);
    REQUIRE(size > 0);
    const std::string_view sent(bytes.data(), static_cast<size_t>(size));
    CHECK(sent.find('\0') == sent.size() - 1);
    CHECK(sent.substr(0, sent.size() - 1) ==
          "{\"method\":\"io.rdmad.Devices.List\",\"parameters\":{"
          "\"device\":\"\xef\xbf\xbd\\n\\\"\"}}");
}

TEST_CASE("a server that goes or takes nothing ends a call", "[client]")
{
    auto gone = make_pair();
    gone.server.reset();
    const auto broken = gone.client.call("a.B", Json::object(), steady_clock::now() + 10s);
    REQUIRE_FALSE(broken.has_value());
    CHECK(broken.error().kind == Complaint::Kind::hung_up);

    auto deaf = make_pair();
    const auto begin = steady_clock::now();
    const auto late = deaf.client.call("a.B", {{"x", std::string(10'000'000, 'x')}}, begin + 100ms);
    REQUIRE_FALSE(late.has_value());
    CHECK(late.error().kind == Complaint::Kind::late);
    CHECK(steady_clock::now() >= begin + 100ms);
}

TEST_CASE("what is watched ends the waiting when it goes", "[client]")
{
    auto pair = make_pair();
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    const UniqueFd watched(ends[1]);
    close(ends[0]);
    const auto answer = pair.client.next(steady_clock::now() + 10s, watched.get());
    REQUIRE(answer.has_value());
    CHECK_FALSE(answer->has_value());
}

TEST_CASE("an error tells its name and what it means", "[client]")
{
    auto pair = make_pair();
    say(pair, "{\"error\":\"io.rdmad.Devices.NoSuchDevice\",\"parameters\":{"
              "\"device\":\"x\"}}\0"sv);
    const auto answer = pair.client.next(steady_clock::now() + 10s);
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().kind == Complaint::Kind::refused);
    CHECK(answer.error().error == "io.rdmad.Devices.NoSuchDevice");
    CHECK(answer.error().text == "there is no RDMA device 'x'; rdmactl list shows what is there");
}

TEST_CASE("what rdmad refuses is told with what to do about it", "[client]")
{
    struct Row {
        const char* error;
        Json parameters;
        const char* text;
    };
    const auto row = GENERATE(
        Row{"io.rdmad.Lifecycle.NoSuchDevice",
            {{"device", "x"}},
            "'x' is no RDMA device or GUID; rdmactl list shows what is there"},
        Row{"io.rdmad.Lifecycle.Ambiguous",
            {{"devices", {"opa", 7, "twin"}}},
            "several devices are called so: give a name, of opa, twin"},
        Row{"io.rdmad.Lifecycle.Busy",
            {{"device", "x"}},
            "x is being prepared already; rdmactl resume undoes that"},
        Row{"io.rdmad.Lifecycle.Resumed", {{"device", "x"}}, "somebody else has resumed x"},
        Row{"io.rdmad.Lifecycle.NotRecovered",
            {{"reason", "no configfs"}},
            "targets in the kernel could not be looked at: no configfs; see journalctl -u "
            "rdmad-recovery"},
        Row{"io.rdmad.Bindings.NoSuchUnit", {{"unit", "a.service"}}, "'a.service' is not bound"},
        Row{"io.rdmad.Bindings.InvalidBinding",
            {{"reason", "no [Match]"}},
            "rdmad refuses the binding: no [Match]"},
        Row{"org.varlink.service.PermissionDenied", Json::object(), "rdmad lets only root do that"},
        Row{"org.varlink.service.InvalidParameter",
            {{"parameter", "device"}},
            "rdmad does not take 'device' as it is given"},
        Row{"org.varlink.service.MethodNotFound", Json::object(),
            "the rdmad that runs does not know how to do that; is it older than rdmactl? "
            "systemctl restart rdmad"},
        Row{"io.rdmad.TooManyConnections", Json::object(),
            "rdmad has too many connections; try again later"},
        Row{"io.rdmad.TooMuchUnread", Json::object(),
            "other clients do not read what rdmad sends them; end those of this user, and try "
            "again"},
        Row{"io.rdmad.ProtocolError",
            {{"reason", "no method"}},
            "rdmad does not understand rdmactl: no method"},
        // of a later rdmad, or one that leaves out what it is about
        Row{"io.rdmad.Other", Json::object(), "rdmad refuses: io.rdmad.Other"},
        Row{"io.rdmad.Bindings.NoSuchUnit", {{"unit", 7}}, "'?' is not bound"},
        Row{"io.rdmad.Lifecycle.Ambiguous", Json::object(),
            "several devices are called so: give a name, of ?"});
    CHECK(explain_error(row.error, row.parameters) == row.text);
}

TEST_CASE("a socket that is not there says how to get it", "[client]")
{
    CHECK(explain_no_connection("/run/rdmad/io.rdmad", ENOENT) ==
          "rdmad does not run, and its socket /run/rdmad/io.rdmad is not there: systemctl start "
          "rdmad.socket; if it is masked, first: systemctl unmask rdmad.service rdmad.socket");
    for (const int code : {ENOENT, ECONNREFUSED})
        CHECK(explain_no_connection("/tmp/socket", code) ==
              "nobody listens on /tmp/socket; rdmad listens on /run/rdmad/io.rdmad, unless it was "
              "told otherwise");
    const auto nowhere = Client::connect("/nowhere/io.rdmad", steady_clock::now() + 10s);
    REQUIRE_FALSE(nowhere.has_value());
    CHECK(nowhere.error().kind == Complaint::Kind::unreachable);
}
