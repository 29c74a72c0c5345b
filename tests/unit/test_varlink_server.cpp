// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/varlink/server.hpp"
#include "tests/support/failing_allocation.hpp"
#include "tests/support/must.hpp"
#include "tests/support/varlink_client.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace rdmad;
using namespace rdmad::test;
using namespace rdmad::varlink;
using namespace std::string_literals;

namespace {

Json number(size_t value)
{
    auto json = Json::object();
    json["n"] = value;
    return json;
}

std::string said(size_t value, bool continues = false)
{
    return "{\"parameters\":{\"n\":" + std::to_string(value) + "}" +
           (continues ? ",\"continues\":true}" : "}");
}

/// A server with an interface whose methods do what a test may want.
class Bench {
public:
    explicit Bench(Limits limits = {})
    {
        server = std::make_unique<Server>(
            event.get(), Info{.vendor = "V", .product = "P", .version = "1", .url = "http://u/"},
            limits);
        server->on_trouble([this](const std::string& line) { troubles.push_back(line); });
        server->on_connections_changed([this] { changes++; });
        server->add_interface(
            "a.b", "interface a.b\n",
            {{"Echo", [](const auto& call) { call->reply(call->parameters()); }},
             {"Count", [this](const auto& call) { call->reply(number(count++)); }},
             {"Keep", [this](const auto& call) { keep(call); }},
             {"Forget", [](const auto&) {}},
             {"Null", nullptr}});
        REQUIRE(error_of(server->listen(place.listening())) == 0);
    }

    /// Lets the server do all that it can do now; how often it woke up for that.
    size_t settle() const
    {
        size_t rounds = 0;
        while (sd_event_run(event.get(), 0) > 0) {
            REQUIRE(rounds < 100'000);
            rounds++;
        }
        return rounds;
    }
    void run_for(std::chrono::milliseconds time) const
    {
        const auto end = std::chrono::steady_clock::now() + time;
        while (std::chrono::steady_clock::now() < end)
            sd_event_run(event.get(), 10'000);
    }
    /// How long it took until there are so many clients; 10 s if it took longer.
    [[nodiscard]] std::chrono::milliseconds time_until_connections(size_t connections) const
    {
        const auto start = std::chrono::steady_clock::now();
        auto time = std::chrono::milliseconds(0);
        while (server->connection_count() != connections && time < std::chrono::seconds(10)) {
            sd_event_run(event.get(), 10'000);
            time = std::chrono::duration_cast<std::chrono::milliseconds>(
                std::chrono::steady_clock::now() - start);
        }
        return time;
    }
    Client client() const
    {
        Client client(place.connected());
        settle();
        return client;
    }
    /// What is said to one call.
    Replies ask(const std::string& method, const std::string& rest = "") const
    {
        auto client = this->client();
        client.call(method, rest);
        settle();
        return client.replies();
    }
    Call& kept(size_t index = 0)
    {
        REQUIRE(index < calls.size());
        return *calls[index];
    }

    Place place;
    Event event = new_event();
    std::unique_ptr<Server> server;
    std::vector<std::shared_ptr<Call>> calls;
    Replies troubles;
    size_t changes = 0;
    size_t count = 0;
    size_t closes = 0;

private:
    void keep(const std::shared_ptr<Call>& call)
    {
        calls.push_back(call);
        call->on_close([this] { closes++; });
    }
};

/// As much as a client may be left with before it has to read.
Limits with_output(size_t bytes)
{
    return {.output_bytes = bytes};
}

std::string big_text()
{
    return std::string(60'000, 'x');
}

Json big()
{
    auto json = Json::object();
    json["x"] = big_text();
    return json;
}

/// Says something until that does not work any more: the socket and the queue are full.
size_t fill(Bench& bench)
{
    size_t said = 0;
    while (said < 10'000 && bench.kept().notify(big())) {
        said++;
        bench.settle();
    }
    return said;
}

Client connected_as(const Bench& bench, uid_t uid)
{
    auto socket = bench.place.connected_as(uid);
    bench.settle();
    return Client(std::move(socket));
}

/// Listens at one more place, where the kernel lets descriptors pass, as it did before Linux 6.16.
void listen_leniently(Bench& bench, const Place& place)
{
    constexpr int pass_rights = 83; // SO_PASSRIGHTS
    auto socket = place.listening();
    const UniqueFd same(dup(socket.get()));
    REQUIRE(error_of(bench.server->listen(std::move(socket))) == 0);
    const int yes = 1;
    (void)setsockopt(same.get(), SOL_SOCKET, pass_rights, &yes, sizeof yes);
}

/// A TCP socket with data that its peer does not read: whoever closes it last waits for 10 s.
class Lingering {
public:
    Lingering() : listener_(tcp_socket()), socket_(tcp_socket())
    {
        sockaddr_in address = {
            .sin_family = AF_INET, .sin_port = 0, .sin_addr = {}, .sin_zero = {}};
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        socklen_t size = sizeof address;
        REQUIRE(bind(listener_.get(), generic, size) == 0);
        REQUIRE(::listen(listener_.get(), 1) == 0);
        REQUIRE(getsockname(listener_.get(), generic, &size) == 0);
        REQUIRE(::connect(socket_.get(), generic, size) == 0);
        const linger wait = {.l_onoff = 1, .l_linger = 10};
        REQUIRE(setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &wait, sizeof wait) == 0);
        const std::string bytes(65'536, 'x');
        while (::send(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
        }
    }
    /// Sends it to a server, and lets go of it.
    void give_to(const Client& client, const std::string& bytes)
    {
        REQUIRE(client.send_with(socket_, bytes) == 0);
        socket_.reset();
    }

private:
    static UniqueFd tcp_socket()
    {
        return UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    }

    UniqueFd listener_;
    UniqueFd socket_;
};

const std::string turned_away = R"({"error":"io.rdmad.TooManyConnections","parameters":{}})";

} // namespace

TEST_CASE("a call is answered", "[varlink]")
{
    const Bench bench;
    CHECK(bench.ask("a.b.Echo", R"(,"parameters":{"x":[1]})") ==
          Replies{R"({"parameters":{"x":[1]}})"});
    CHECK(bench.ask("a.b.Echo") == Replies{R"({"parameters":{}})"});
    CHECK(bench.troubles.empty());
}

TEST_CASE("a call may come byte by byte", "[varlink]")
{
    const Bench bench;
    auto client = bench.client();
    for (const char c : "{\"method\":\"a.b.Count\"}\0{\"method\":\"a.b.Count\"}\0"s) {
        REQUIRE(client.send(std::string(1, c)));
        bench.settle();
    }
    CHECK(client.replies() == Replies{said(0), said(1)});
}

TEST_CASE("a handler is told who calls, and what", "[varlink]")
{
    Bench bench;
    auto client = bench.client();
    client.call("a.b.Keep", R"(,"parameters":{"x":1},"more":true)");
    bench.settle();
    CHECK(bench.kept().method() == "a.b.Keep");
    CHECK(bench.kept().parameters().dump() == R"({"x":1})");
    CHECK(bench.kept().wants_more());
    CHECK(bench.kept().peer_uid() == geteuid());
    CHECK(bench.kept().is_open());
    const auto other = connected_as(bench, stranger);
    other.call("a.b.Keep");
    bench.settle();
    CHECK(bench.kept(1).peer_uid() == (geteuid() == 0 ? stranger : geteuid()));
    CHECK_FALSE(bench.kept(1).wants_more());
}

TEST_CASE("the service tells of itself", "[varlink]")
{
    const Bench bench;
    CHECK(bench.ask("org.varlink.service.GetInfo") ==
          Replies{R"({"parameters":{"interfaces":["a.b","org.varlink.service"],"product":"P",)"
                  R"("url":"http://u/","vendor":"V","version":"1"}})"});
}

TEST_CASE("the service describes its interfaces", "[varlink]")
{
    const Bench bench;
    const auto ask = [&](const std::string& parameters) {
        const auto replies = bench.ask("org.varlink.service.GetInterfaceDescription",
                                       ",\"parameters\":" + parameters);
        return replies.empty() ? "" : replies[0];
    };
    CHECK(ask(R"({"interface":"a.b"})") == R"({"parameters":{"description":"interface a.b\n"}})");
    const auto own = ask(R"({"interface":"org.varlink.service"})");
    for (const auto* part :
         {"\\ninterface org.varlink.service\\n", "method GetInfo() -> (",
          "method GetInterfaceDescription(interface: string) -> (description: string)",
          "error InterfaceNotFound (interface: string)", "error MethodNotFound (method: string)",
          "error MethodNotImplemented (method: string)",
          "error InvalidParameter (parameter: string)", "error PermissionDenied ()",
          "error ExpectedMore ()"}) {
        INFO(part);
        CHECK(own.find(part) != std::string::npos);
    }
    CHECK(ask(R"({"interface":"a.c"})") ==
          R"({"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"a.c"}})");
    const auto wrong = GENERATE(as<std::string>(), "{}", R"({"interface":1})",
                                R"({"interface":null})", R"({"interface":["a.b"]})");
    CHECK(
        ask(wrong) ==
        R"({"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"interface"}})");
}

TEST_CASE("what is not there is said so", "[varlink]")
{
    const Bench bench;
    CHECK(
        bench.ask("a.c.List") ==
        Replies{
            R"({"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"a.c"}})"});
    CHECK(
        bench.ask("a.b.List") ==
        Replies{
            R"({"error":"org.varlink.service.MethodNotFound","parameters":{"method":"a.b.List"}})"});
    CHECK(bench.troubles.empty());
}

TEST_CASE("a call that nobody answers is answered", "[varlink]")
{
    Bench bench;
    const auto method = GENERATE(as<std::string>(), "a.b.Forget", "a.b.Null", "a.b.Keep");
    auto client = bench.client();
    client.call(method);
    client.call("a.b.Count");
    bench.settle();
    bench.calls.clear();
    bench.settle();
    CHECK(
        client.replies() ==
        Replies{R"({"error":"org.varlink.service.MethodNotImplemented","parameters":{"method":")" +
                    method + "\"}}",
                said(0)});
    CHECK(bench.closes == 0);
}

TEST_CASE("an upgrade is refused, and the handler not asked", "[varlink]")
{
    const Bench bench;
    const auto replies = bench.ask("a.b.Count", ",\"upgrade\":true");
    REQUIRE(replies.size() == 1);
    CHECK(replies[0].find("MethodNotImplemented") != std::string::npos);
    CHECK(bench.count == 0);
}

TEST_CASE("a handler may fail in the words of varlink", "[varlink]")
{
    Bench bench;
    auto client = bench.client();
    for (int i = 0; i < 3; i++)
        client.call("a.b.Keep");
    bench.settle();
    bench.kept(0).fail_parameter("x");
    bench.settle();
    bench.kept(1).fail_permission();
    bench.settle();
    bench.kept(2).fail("a.b.Odd", number(1));
    bench.settle();
    CHECK(client.replies() ==
          Replies{
              R"({"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"x"}})",
              R"({"error":"org.varlink.service.PermissionDenied","parameters":{}})",
              R"({"error":"a.b.Odd","parameters":{"n":1}})"});
}

TEST_CASE("calls that are sent at once are answered in order", "[varlink]")
{
    Bench bench;
    auto client = bench.client();
    client.call("a.b.Count");
    client.call("a.b.Keep");
    client.call("a.b.Count");
    client.call("a.b.Keep");
    client.call("a.b.Count");
    bench.settle();
    CHECK(client.replies() == Replies{said(0)});
    CHECK(bench.calls.size() == 1);
    bench.kept(0).reply(number(70));
    // the next one runs from the event loop, not out of reply()
    CHECK(bench.count == 1);
    CHECK_FALSE(bench.kept(0).is_open());
    bench.settle();
    CHECK(client.replies() == Replies{said(70), said(1)});
    bench.kept(1).reply(number(71));
    bench.settle();
    CHECK(client.replies() == Replies{said(71), said(2)});
}

TEST_CASE("any number of calls may be sent at once", "[varlink]")
{
    // more than limits.calls, in more bytes than one read takes
    constexpr size_t calls = 3000;
    const Bench bench;
    auto client = bench.client();
    Replies expected;
    std::string all;
    for (size_t i = 0; i < calls; i++) {
        all += "{\"method\":\"a.b.Count\"}\0"s;
        expected.push_back(said(i));
    }
    REQUIRE(client.send(all));
    Replies replies;
    while (bench.settle() > 0)
        for (auto& reply : client.replies())
            replies.push_back(std::move(reply));
    CHECK(replies == expected);
}

TEST_CASE("one client's calls leave others their turn", "[varlink]")
{
    const Bench bench;
    const auto greedy = bench.client();
    auto other = bench.client();
    std::string many;
    for (int i = 0; i < 400; i++)
        many += "{\"method\":\"a.b.Count\"}\0"s;
    REQUIRE(greedy.send(many));
    other.call("a.b.Count");
    for (int i = 0; i < 8; i++)
        sd_event_run(bench.event.get(), 0);
    const auto replies = other.replies();
    REQUIRE(replies.size() == 1);
    CHECK(Json::parse(replies[0], nullptr, false)["parameters"]["n"] < 4);
}

TEST_CASE("a client that waits for an answer cannot make us keep what else it sends", "[varlink]")
{
    Bench bench({.calls = 4});
    const auto client = bench.client();
    client.call("a.b.Keep");
    bench.settle();
    // without a bound all of this would be taken
    const auto some = "{\"method\":\"a.b.Count\",\"parameters\":{\"x\":\"" + big_text() + "\"}}\0"s;
    size_t sent = 0;
    while (sent < 1000 && client.send(some)) {
        sent++;
        CHECK(bench.settle() < 30);
    }
    CHECK(sent < 100);
    CHECK(bench.settle() == 0);
}

TEST_CASE("what is not read yet does not wake the server up", "[varlink]")
{
    Bench bench({.calls = 4});
    const auto client = bench.client();
    client.call("a.b.Keep");
    bench.settle();
    SECTION("after as many calls as the limit")
    {
        for (int i = 0; i < 3; i++)
            client.call("a.b.Count");
    }
    SECTION("in a message that is too long")
    {
        for (int i = 0; i < 70; i++)
            CHECK(client.send(std::string(1000, 'x')));
    }
    bench.settle();
    CHECK(client.send("x"));
    CHECK(bench.settle() == 0);
}

TEST_CASE("a oneway call gets no answer", "[varlink]")
{
    Bench bench;
    auto client = bench.client();
    const std::string oneway = ",\"oneway\":true";
    client.call("a.b.Count", oneway);
    client.call("a.b.List", oneway);
    client.call("a.c.List", oneway);
    client.call("a.b.Forget", oneway);
    client.call("a.b.Count");
    bench.settle();
    CHECK(client.replies() == Replies{said(1)});
    client.call("a.b.Keep", oneway);
    bench.settle();
    CHECK_FALSE(bench.kept().notify(number(1)));
    bench.kept().fail_permission();
    client.call("a.b.Count");
    bench.settle();
    CHECK(client.replies() == Replies{said(2)});
}

TEST_CASE("oneway calls of a client that hangs up at once are run", "[varlink]")
{
    const Bench bench;
    auto client = bench.client();
    for (int i = 0; i < 50; i++)
        client.call("a.b.Count", ",\"oneway\":true");
    client.hang_up();
    bench.settle();
    CHECK(bench.count == 50);
    CHECK(bench.server->connection_count() == 0);
}

TEST_CASE("who has news for many clients writes to none: each takes its turn", "[varlink]")
{
    Bench bench;
    auto client = bench.client();
    client.call("a.b.Keep", ",\"more\":true");
    bench.settle();
    CHECK(bench.kept().notify(number(1)));
    CHECK(bench.kept().notify(number(2)));
    CHECK(client.replies().empty());
    SECTION("of the event loop")
    {
        bench.settle();
    }
    SECTION("of which the end of the server is the last")
    {
        bench.server->end();
    }
    CHECK(client.replies() == Replies{said(1, true), said(2, true)});
}

TEST_CASE("a call with more gets many answers", "[varlink]")
{
    Bench bench;
    auto client = bench.client();
    client.call("a.b.Keep", ",\"more\":true");
    client.call("a.b.Count");
    bench.settle();
    CHECK(bench.kept().notify(number(1)));
    CHECK(bench.kept().notify(number(2)));
    bench.settle();
    CHECK(client.replies() == Replies{said(1, true), said(2, true)});
    bench.kept().reply(number(3));
    CHECK_FALSE(bench.kept().notify(number(4)));
    bench.kept().reply(number(5));
    bench.kept().fail_permission();
    bench.settle();
    CHECK(client.replies() == Replies{said(3), said(0)});
}

TEST_CASE("a call without more gets no more than one answer", "[varlink]")
{
    Bench bench;
    auto client = bench.client();
    client.call("a.b.Keep");
    bench.settle();
    CHECK_FALSE(bench.kept().notify(number(1)));
    CHECK(bench.kept().is_open());
    bench.kept().reply(number(2));
    bench.settle();
    CHECK(client.replies() == Replies{said(2)});
}

TEST_CASE("who waits is told that the client went", "[varlink]")
{
    Bench bench;
    auto client = bench.client();
    client.call("a.b.Keep", ",\"more\":true");
    // what it sent besides does not keep it alive
    for (int i = 0; i < 100; i++)
        client.call("a.b.Count");
    bench.settle();
    client.hang_up();
    bench.settle();
    CHECK(bench.closes == 1);
    CHECK(bench.server->connection_count() == 0);
    CHECK_FALSE(bench.kept().is_open());
    CHECK_FALSE(bench.kept().notify(number(1)));
    bench.kept().on_close([] { FAIL("nobody is there"); });
    bench.kept().on_room([] { FAIL("nobody is there"); });
    bench.kept().reply(number(2));
    CHECK(bench.settle() == 0);
    CHECK(bench.closes == 1);
    CHECK(bench.troubles.empty());
}

TEST_CASE("a client that hangs up after its answer is told to nobody", "[varlink]")
{
    Bench bench;
    auto client = bench.client();
    client.call("a.b.Keep");
    bench.settle();
    bench.kept().reply(number(1));
    bench.settle();
    client.hang_up();
    bench.settle();
    CHECK(bench.closes == 0);
}

TEST_CASE("a client that sends no more is answered, and then hung up on", "[varlink]")
{
    Bench bench;
    auto client = bench.client();
    client.call("a.b.Keep");
    client.call("a.b.Count");
    client.half_close();
    bench.settle();
    CHECK_FALSE(client.is_at_end());
    CHECK(bench.settle() == 0);
    bench.kept().reply(number(7));
    bench.settle();
    CHECK(client.replies() == Replies{said(7), said(0)});
    CHECK(client.is_at_end());
    CHECK(bench.server->connection_count() == 0);
    CHECK(bench.troubles.empty());
}

TEST_CASE("a client that says it reads no more is let go when there is something to say",
          "[varlink]")
{
    Bench bench;
    const auto client = bench.client();
    client.call("a.b.Keep", ",\"more\":true");
    bench.settle();
    client.stop_reading();
    CHECK(bench.settle() == 0);
    CHECK(bench.server->connection_count() == 1);
    CHECK(bench.kept().notify(number(1)));
    bench.settle();
    CHECK(bench.server->connection_count() == 0);
    CHECK(bench.closes == 1);
    CHECK(bench.troubles.empty());
}

TEST_CASE("a client that sends no more may wait for its last answer", "[varlink]")
{
    Bench bench;
    auto client = bench.client();
    client.call("a.b.Keep");
    client.half_close();
    bench.settle();
    CHECK_FALSE(client.is_at_end());
    bench.kept().reply(number(7));
    bench.settle();
    CHECK(client.replies() == Replies{said(7)});
    CHECK(client.is_at_end());
}

TEST_CASE("half a message before the end is refused after the calls before it", "[varlink]")
{
    Bench bench;
    auto client = bench.client();
    const auto method = GENERATE(as<std::string>(), "a.b.Echo", "a.b.Keep");
    client.call(method);
    REQUIRE(client.send("{\"method\""));
    client.half_close();
    bench.settle();
    if (!bench.calls.empty())
        bench.kept().reply({});
    bench.settle();
    CHECK(client.replies() == Replies{R"({"parameters":{}})",
                                      R"({"error":"io.rdmad.ProtocolError","parameters":{"reason":)"
                                      R"("the message is cut off"}})"});
    CHECK(client.is_at_end());
    CHECK(bench.troubles.size() == 1);
}

TEST_CASE("what is no call ends the connection after the calls before it", "[varlink]")
{
    const auto wrong = GENERATE(as<std::string>(), "\0"s, "x\0"s, "{}\0"s, "[[[[[[[[[[[[[[[[[[[\0"s,
                                std::string(70'000, 'x'), "{\"method\":\"a.B\",\"more\":1}\0"s);
    const Bench bench;
    auto client = bench.client();
    client.call("a.b.Count");
    REQUIRE(client.send(wrong));
    client.call("a.b.Count");
    bench.settle();
    const auto replies = client.replies();
    REQUIRE(replies.size() == 2);
    CHECK(replies[0] == said(0));
    CHECK(replies[1].find(R"({"error":"io.rdmad.ProtocolError","parameters":{"reason":")") == 0);
    CHECK(client.is_at_end());
    CHECK(bench.count == 1);
    CHECK(bench.server->connection_count() == 0);
    REQUIRE(bench.troubles.size() == 1);
    CHECK(bench.troubles[0].find("dropped a client that sent what is no call: ") == 0);
    CHECK(bench.troubles[0].find("(of user " + std::to_string(geteuid()) + ")") !=
          std::string::npos);
}

TEST_CASE("many that misbehave make one line", "[varlink]")
{
    const Bench bench;
    for (int i = 0; i < 50; i++)
        CHECK(bench.client().send("x\0"s));
    bench.settle();
    CHECK(bench.troubles.size() == 1);
    CHECK(bench.changes == 100);
}

TEST_CASE("a slow reader is told less, and told when there is room", "[varlink]")
{
    Bench bench(with_output(500'000));
    auto client = bench.client();
    client.call("a.b.Keep", ",\"more\":true");
    bench.settle();
    size_t rooms = 0;
    const auto told = fill(bench);
    REQUIRE(told < 100);
    bench.kept().on_room([&] {
        rooms++;
        // as much as ever
        auto much = Json::object();
        much["x"] = std::string(499'000, 'x');
        CHECK(bench.kept().notify(much));
    });
    bench.settle();
    CHECK(bench.settle() == 0);
    CHECK(rooms == 0);
    client.receive(60'000);
    bench.settle();
    CHECK(rooms == 0);
    // so little at a time that the queue empties in steps
    for (int i = 0; i < 200; i++, bench.settle())
        client.receive(20'000);
    CHECK(client.replies().size() == told + 1);
    CHECK(rooms == 1);
    CHECK(bench.troubles.empty());
    CHECK(bench.closes == 0);
}

TEST_CASE("who asks for room is told once all was read, and once", "[varlink]")
{
    Bench bench(with_output(200'000));
    auto client = bench.client();
    client.call("a.b.Keep", ",\"more\":true");
    bench.settle();
    size_t rooms = 0;
    bench.kept().on_room([&] { rooms++; });
    CHECK(rooms == 0);
    bench.settle();
    CHECK(rooms == 1);
    fill(bench);
    bench.kept().on_room([&] { rooms++; });
    bench.settle();
    CHECK(rooms == 1);
    for (int i = 0; i < 100; i++, bench.settle())
        client.receive();
    CHECK(rooms == 2);
    CHECK(bench.settle() == 0);
    CHECK(rooms == 2);
}

TEST_CASE("an answer that does not fit ends the connection", "[varlink]")
{
    Bench bench(with_output(200'000));
    auto client = bench.client();
    client.call("a.b.Keep", ",\"more\":true");
    bench.settle();
    fill(bench);
    bench.kept().reply(big());
    // from the event loop, not out of reply()
    CHECK(bench.server->connection_count() == 1);
    bench.settle();
    CHECK(bench.server->connection_count() == 0);
    CHECK(bench.closes == 0);
    REQUIRE(bench.troubles.size() == 1);
    CHECK(bench.troubles[0].find("dropped a client that does not read its answers") == 0);
}

TEST_CASE("one answer above the limit ends the connection", "[varlink]")
{
    Bench bench({.answer_bytes = 50'000});
    auto client = bench.client();
    client.call("a.b.Keep", ",\"more\":true");
    bench.settle();
    const bool is_last = GENERATE(true, false);
    if (is_last)
        bench.kept().reply(big());
    else
        CHECK_FALSE(bench.kept().notify(big()));
    CHECK_FALSE(bench.kept().is_open());
    bench.settle();
    CHECK(bench.server->connection_count() == 0);
    CHECK(bench.closes == (is_last ? 0 : 1));
    CHECK(bench.troubles.size() == 1);
    CHECK(client.replies().empty());
}

TEST_CASE("what waits for all clients of a user is bounded", "[varlink]")
{
    Bench bench({.output_bytes = 400'000, .output_bytes_per_uid = 350'000});
    auto idle = connected_as(bench, stranger);
    idle.call("a.b.Keep", ",\"more\":true");
    bench.settle();
    fill(bench);
    auto second = connected_as(bench, stranger);
    const bool is_last = GENERATE(true, false);
    second.call("a.b.Keep", ",\"more\":true");
    bench.settle();
    if (is_last)
        bench.kept(1).reply(big());
    else
        CHECK_FALSE(bench.kept(1).notify(big()));
    bench.settle();
    CHECK(second.replies() == Replies{R"({"error":"io.rdmad.TooMuchUnread","parameters":{}})"});
    CHECK(second.is_at_end());
    REQUIRE(bench.troubles.size() == 1);
    CHECK(bench.troubles[0].find(
              "dropped a client that gets no answer, as other clients do not read theirs") == 0);
    const auto is_served = [&](Client client) {
        client.call("a.b.Echo", ",\"parameters\":{\"x\":\"" + big_text() + "\"}");
        bench.settle();
        return client.replies().size() == 1 && !client.is_at_end();
    };
    if (can_be_several_users()) {
        CHECK(is_served(connected_as(bench, stranger - 1)));
        CHECK(is_served(bench.client()));
    }
    CHECK_FALSE(is_served(connected_as(bench, stranger)));
    while (idle.receive() > 0)
        bench.settle();
    CHECK(is_served(connected_as(bench, stranger)));
}

TEST_CASE("what waits for all users but root is bounded, however many there are", "[varlink]")
{
    if (!can_be_several_users())
        return;
    Bench bench({.output_bytes = 400'000, .output_bytes_of_strangers = 350'000});
    auto idle = connected_as(bench, stranger);
    idle.call("a.b.Keep", ",\"more\":true");
    bench.settle();
    fill(bench);
    auto other = connected_as(bench, stranger - 1);
    other.call("a.b.Keep", ",\"more\":true");
    bench.settle();
    bench.kept(1).reply(big());
    bench.settle();
    CHECK(other.replies() == Replies{R"({"error":"io.rdmad.TooMuchUnread","parameters":{}})"});
    auto root = bench.client();
    root.call("a.b.Echo", ",\"parameters\":{\"x\":\"" + big_text() + "\"}");
    bench.settle();
    CHECK(root.replies().size() == 1);
    CHECK_FALSE(root.is_at_end());
}

TEST_CASE("one answer may be longer than what waits for a client otherwise", "[varlink]")
{
    Bench bench(with_output(200'000));
    auto client = bench.client();
    client.call("a.b.Keep", ",\"more\":true");
    bench.settle();
    auto much = Json::object();
    much["x"] = std::string(3'000'000, 'x');
    CHECK(bench.kept().notify(much));
    // and nothing beside it
    CHECK_FALSE(bench.kept().notify(number(1)));
    bench.settle();
    size_t received = 0;
    for (size_t size = 1; size > 0; bench.settle())
        received += size = client.receive();
    CHECK(received > 3'000'000);
    CHECK(bench.kept().notify(much));
    CHECK(bench.troubles.empty());
}

TEST_CASE("after an answer above the limit nothing more is said", "[varlink]")
{
    Bench bench({.answer_bytes = 50'000});
    auto client = bench.client();
    client.call("a.b.Keep", ",\"more\":true");
    bench.settle();
    CHECK_FALSE(bench.kept().notify(big()));
    bench.kept().reply(number(1));
    bench.settle();
    CHECK(client.replies().empty());
    CHECK(client.is_at_end());
}

TEST_CASE("a client that reads nothing for a while is dropped", "[varlink]")
{
    Bench bench({.output_bytes = 500'000, .stall = std::chrono::milliseconds(100)});
    auto client = bench.client();
    client.call("a.b.Keep", ",\"more\":true");
    bench.settle();
    const auto start = std::chrono::steady_clock::now();
    fill(bench);
    CHECK(bench.time_until_connections(0) < std::chrono::seconds(10));
    CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(100));
    CHECK(bench.closes == 1);
    REQUIRE(bench.troubles.size() == 1);
    CHECK(bench.troubles[0].find("dropped a client that does not read its answers") == 0);
}

TEST_CASE("a client that calls and reads nothing is dropped", "[varlink]")
{
    Bench bench({.stall = std::chrono::milliseconds(100)});
    const auto client = bench.client();
    // each answer finds room, and none waits for the client: the next call does
    const auto echo =
        "{\"method\":\"a.b.Echo\",\"parameters\":{\"x\":\"" + std::string(1000, 'x') + "\"}}\0"s;
    while (client.send(echo)) {
    }
    CHECK(bench.time_until_connections(0) < std::chrono::seconds(10));
    REQUIRE(bench.troubles.size() == 1);
    CHECK(bench.troubles[0].find("dropped a client that does not read its answers") == 0);
}

TEST_CASE("a client that reads slowly is not dropped", "[varlink]")
{
    Bench bench({.output_bytes = 5'000'000, .stall = std::chrono::milliseconds(3000)});
    auto client = bench.client();
    client.call("a.b.Keep", ",\"more\":true");
    bench.settle();
    fill(bench);
    for (int i = 0; i < 9; i++) {
        client.receive(200'000);
        bench.run_for(std::chrono::milliseconds(400));
    }
    CHECK(bench.server->connection_count() == 1);
    while (client.receive() > 0)
        bench.settle();
    // all is read: no timer is left, nothing wakes up
    const auto start = std::chrono::steady_clock::now();
    CHECK(sd_event_run(bench.event.get(), 2'000'000) == 0);
    CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(1950));
    CHECK(bench.server->connection_count() == 1);
}

TEST_CASE("a client that reads and leaves much unread has the whole time once more", "[varlink]")
{
    constexpr std::chrono::seconds stall(3);
    Bench bench({.output_bytes = 5'000'000, .stall = stall});
    auto client = bench.client();
    client.call("a.b.Keep", ",\"more\":true");
    bench.settle();
    fill(bench);
    // a full socket is writable again once three quarters are read (unix_writable()); this is half
    CHECK(client.receive(120'000) > 0);
    CHECK(bench.time_until_connections(0) >= stall);
    CHECK(bench.closes == 1);
}

TEST_CASE("what is told in a long burst does not all wait in memory", "[varlink]")
{
    Bench bench;
    auto client = bench.client();
    client.call("a.b.Keep", ",\"more\":true");
    bench.settle();
    size_t read = 0;
    // more than may wait, and no turn of the event loop in between
    for (int i = 0; i < 200; i++) {
        REQUIRE(bench.kept().notify(big()));
        read += client.receive();
    }
    CHECK(read > 1'500'000);
}

TEST_CASE("a client that read in time is not dropped as its turn comes late", "[varlink]")
{
    Bench bench({.output_bytes = 500'000, .stall = std::chrono::milliseconds(500)});
    auto client = bench.client();
    client.call("a.b.Keep", ",\"more\":true");
    bench.settle();
    while (bench.kept().notify(big())) {
    }
    while (client.receive() > 0) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    bench.settle();
    CHECK(bench.server->connection_count() == 1);
    CHECK(bench.troubles.empty());
    CHECK(client.receive() > 0);
}

TEST_CASE("a client that does not read its answers has no further calls run", "[varlink]")
{
    Bench bench;
    const auto client = bench.client();
    const auto echo = "{\"method\":\"a.b.Echo\",\"parameters\":{\"x\":\"" + big_text() + "\"}}\0"s;
    size_t sent = 0;
    while (sent < 1000 && client.send(echo)) {
        sent++;
        bench.settle();
    }
    // its socket and ours are full
    CHECK(sent < 30);
    CHECK(bench.server->connection_count() == 1);
}

TEST_CASE("a call outlives the server", "[varlink]")
{
    Bench bench;
    auto client = bench.client();
    client.call("a.b.Keep", ",\"more\":true");
    bench.settle();
    bench.server.reset();
    CHECK(bench.closes == 1);
    CHECK(client.is_at_end());
    auto& call = bench.kept();
    CHECK_FALSE(call.is_open());
    CHECK_FALSE(call.notify(number(1)));
    const auto token = std::make_shared<int>();
    call.on_room([token] { FAIL("nobody is there"); });
    call.on_close([token] { FAIL("nobody is there"); });
    CHECK(token.use_count() == 1);
    call.reply(number(1));
    call.fail_permission();
    CHECK(call.method() == "a.b.Keep");
    CHECK(bench.settle() == 0);
}

TEST_CASE("a handler may end the server", "[varlink]")
{
    Bench bench;
    const bool is_before = GENERATE(true, false);
    bench.server->add_interface("a.end", "", {{"Now", [&](const auto& call) {
                                                   if (is_before)
                                                       call->reply(number(1));
                                                   bench.server.reset();
                                                   call->reply(number(2));
                                               }}});
    auto client = bench.client();
    client.call("a.end.Now");
    client.call("a.end.Now");
    bench.settle();
    CHECK(client.is_at_end());
}

TEST_CASE("any callback may end the server", "[varlink]")
{
    Bench bench(with_output(200'000));
    const auto end = [&] { bench.server.reset(); };
    SECTION("on_close")
    {
        auto client = bench.client();
        client.call("a.b.Keep");
        bench.settle();
        bench.kept().on_close(end);
        client.hang_up();
        bench.settle();
    }
    SECTION("on_room")
    {
        auto client = bench.client();
        client.call("a.b.Keep", ",\"more\":true");
        bench.settle();
        fill(bench);
        bench.kept().on_room(end);
        for (int i = 0; i < 100; i++, bench.settle())
            client.receive();
    }
    SECTION("on_connections_changed, when one comes")
    {
        bench.server->on_connections_changed(end);
        const auto client = bench.client();
    }
    SECTION("on_connections_changed, when one goes")
    {
        auto client = bench.client();
        bench.server->on_connections_changed(end);
        client.hang_up();
        bench.settle();
    }
    SECTION("on_trouble")
    {
        bench.server->on_trouble([&](const std::string&) { bench.server.reset(); });
        const auto client = bench.client();
        CHECK(client.send("x\0"s));
        bench.settle();
    }
    CHECK_FALSE(bench.server);
}

TEST_CASE("a call may own itself by its callbacks", "[varlink]")
{
    Bench bench(with_output(200'000));
    std::weak_ptr<Call> weak;
    bench.server->add_interface("a.own", "", {{"Own", [&](const std::shared_ptr<Call>& call) {
                                                   weak = call;
                                                   call->on_close([call] { call->reply({}); });
                                               }}});
    auto client = bench.client();
    client.call("a.own.Own", ",\"more\":true");
    bench.settle();
    REQUIRE_FALSE(weak.expired());
    SECTION("until it is answered")
    {
        weak.lock()->reply(number(1));
    }
    SECTION("until the client goes")
    {
        client.hang_up();
    }
    SECTION("until it was answered for that there is room")
    {
        while (weak.lock()->notify(big()))
            bench.settle();
        weak.lock()->on_room([call = weak.lock()] { call->reply({}); });
        for (int i = 0; i < 100; i++, bench.settle())
            client.receive();
    }
    SECTION("until the server ends")
    {
        bench.server.reset();
    }
    bench.settle();
    CHECK(weak.expired());
}

TEST_CASE("no more clients than the limit are served", "[varlink]")
{
    Bench bench({.connections_of_root = 2, .connections_of_strangers = 2});
    auto first = bench.client();
    auto second = bench.client();
    auto third = bench.client();
    CHECK(third.replies() == Replies{turned_away});
    CHECK(third.is_at_end());
    CHECK(bench.server->connection_count() == 2);
    CHECK(bench.changes == 2);
    REQUIRE(bench.troubles.size() == 1);
    CHECK(bench.troubles[0].find("too many connections") == 0);
    first.hang_up();
    bench.settle();
    CHECK(bench.server->connection_count() == 1);
    CHECK(bench.changes == 3);
    auto fourth = bench.client();
    fourth.call("a.b.Count");
    bench.settle();
    CHECK(fourth.replies() == Replies{said(0)});
}

TEST_CASE("who connects does not wait behind a flood of others", "[varlink]")
{
    const Bench bench({.connections_per_uid = 100});
    std::vector<Client> flood;
    for (int i = 0; i < 90; i++)
        flood.emplace_back(bench.place.connected());
    Client client(bench.place.connected());
    client.call("a.b.Count");
    for (int i = 0; i < 3; i++)
        sd_event_run(bench.event.get(), 0);
    CHECK(client.replies() == Replies{said(0)});
}

TEST_CASE("root does not wait behind strangers who call without end", "[varlink]")
{
    if (!can_be_several_users())
        return;
    const Bench bench;
    auto root = bench.client();
    std::vector<Client> strangers;
    for (int i = 0; i < 16; i++)
        strangers.push_back(connected_as(bench, stranger));
    for (const auto& client : strangers)
        client.call("a.b.Count");
    REQUIRE(sd_event_run(bench.event.get(), 0) > 0);
    root.call("a.b.Count");
    REQUIRE(sd_event_run(bench.event.get(), 0) > 0);
    CHECK(root.replies() == Replies{said(1)});
    // neither if it has yet to connect
    Client next(bench.place.connected());
    next.call("a.b.Count");
    for (int i = 0; i < 3; i++)
        REQUIRE(sd_event_run(bench.event.get(), 0) > 0);
    CHECK(next.replies() == Replies{said(2)});
    // nor after the turn of a stranger that came after one of root
    Client last(bench.place.connected());
    last.call("a.b.Echo");
    for (int i = 0; i < 2; i++)
        REQUIRE(sd_event_run(bench.event.get(), 0) > 0);
    CHECK(last.replies().size() == 1);
    bench.settle();
    CHECK(strangers.back().replies().size() == 1);
}

TEST_CASE("strangers do not wait behind those who connect without end", "[varlink]")
{
    const Bench bench({.connections_of_root = 2, .connections_per_uid = 2});
    auto client = connected_as(bench, stranger);
    client.call("a.b.Count");
    for (int i = 0; i < 3; i++) {
        const Client next(bench.place.connected());
        REQUIRE(sd_event_run(bench.event.get(), 0) > 0);
    }
    CHECK(client.replies() == Replies{said(0)});
}

TEST_CASE("who connects does not wait behind root, who calls without end", "[varlink]")
{
    if (!can_be_several_users())
        return;
    const Bench bench;
    const auto root = bench.client();
    Client next(bench.place.connected());
    next.call("a.b.Echo");
    for (int i = 0; i < 40; i++) {
        root.call("a.b.Count");
        REQUIRE(sd_event_run(bench.event.get(), 0) > 0);
    }
    CHECK(next.replies().size() == 1);
}

TEST_CASE("strangers do not wait behind root and those who connect without end", "[varlink]")
{
    if (!can_be_several_users())
        return;
    const Bench bench({.connections_of_root = 2, .connections_per_uid = 2});
    const auto root = bench.client();
    for (int i = 0; i < 20; i++, bench.settle())
        root.call("a.b.Count");
    auto client = connected_as(bench, stranger);
    client.call("a.b.Echo");
    for (int i = 0; i < 10; i++) {
        const Client next(bench.place.connected());
        root.call("a.b.Count");
        for (int turn = 0; turn < 2; turn++)
            REQUIRE(sd_event_run(bench.event.get(), 0) > 0);
    }
    CHECK(client.replies().size() == 1);
}

TEST_CASE("a look after turns of root is short", "[varlink]")
{
    if (!can_be_several_users())
        return;
    const Bench bench;
    const auto root = bench.client();
    for (int i = 0; i < 16; i++, bench.settle())
        root.call("a.b.Count");
    std::vector<Client> flood;
    for (int i = 0; i < 20; i++)
        flood.emplace_back(bench.place.connected());
    REQUIRE(sd_event_run(bench.event.get(), 0) > 0);
    const auto count = bench.server->connection_count();
    CHECK(count > 1);
    CHECK(count <= 9);
    bench.settle();
    CHECK(bench.server->connection_count() == 21);
}

TEST_CASE("a timer does not wait behind clients", "[varlink]")
{
    const Bench bench;
    auto first = bench.client();
    auto second = bench.client();
    first.call("a.b.Count");
    second.call("a.b.Count");
    REQUIRE(sd_event_run(bench.event.get(), 0) > 0);
    bool is_over = false;
    const auto on_time = [](sd_event_source*, uint64_t, void* userdata) {
        *static_cast<bool*>(userdata) = true;
        return 0;
    };
    REQUIRE(sd_event_add_time(bench.event.get(), nullptr, CLOCK_MONOTONIC, 1, 1, on_time,
                              &is_over) >= 0);
    REQUIRE(sd_event_run(bench.event.get(), 0) > 0);
    CHECK(is_over);
    CHECK(first.replies().size() + second.replies().size() == 1);
}

TEST_CASE("who connects may have the place of a client that hung up", "[varlink]")
{
    Bench bench({.connections_of_root = 2, .connections_per_uid = 2});
    const auto first = connected_as(bench, stranger);
    auto second = connected_as(bench, stranger);
    // the turn of a stranger: whoever connects comes next
    second.call("a.b.Keep");
    bench.settle();
    bench.kept().reply({});
    bench.settle();
    SECTION("before the event loop comes to that")
    {
        second.hang_up();
        auto third = connected_as(bench, stranger);
        third.call("a.b.Count");
        bench.settle();
        CHECK(third.replies() == Replies{said(0)});
        CHECK(bench.troubles.empty());
        CHECK(bench.server->connection_count() == 2);
    }
    SECTION("not if calls of it are left")
    {
        second.call("a.b.Count", ",\"oneway\":true");
        second.hang_up();
        auto third = connected_as(bench, stranger);
        CHECK(third.replies() == Replies{turned_away});
        CHECK(bench.count == 1);
        CHECK(bench.server->connection_count() == 1);
    }
    SECTION("not if it only sends no more")
    {
        second.call("a.b.Keep");
        bench.settle();
        second.half_close();
        auto third = connected_as(bench, stranger);
        CHECK(third.replies() == Replies{turned_away});
        CHECK(bench.server->connection_count() == 2);
    }
    SECTION("unless its end ends the server")
    {
        bench.server->on_connections_changed([&] { bench.server->end(); });
        second.hang_up();
        auto third = connected_as(bench, stranger);
        CHECK(third.is_at_end());
    }
}

TEST_CASE("a user has no more clients than its limit, root has", "[varlink]")
{
    Bench bench({.connections_per_uid = 2});
    const auto first = connected_as(bench, stranger);
    const auto second = connected_as(bench, stranger);
    auto third = connected_as(bench, stranger);
    CHECK(third.replies() == Replies{turned_away});
    CHECK(third.is_at_end());
    if (!can_be_several_users())
        return;
    auto other = connected_as(bench, stranger - 1);
    std::vector<Client> clients;
    for (int i = 0; i < 5; i++)
        clients.push_back(bench.client());
    CHECK(other.replies().empty());
    CHECK_FALSE(other.is_at_end());
    CHECK_FALSE(clients.back().is_at_end());
    CHECK(bench.server->connection_count() == 8);
}

TEST_CASE("strangers take no places of root, nor root those of strangers", "[varlink]")
{
    if (!can_be_several_users())
        return;
    Bench bench({.connections_of_root = 3, .connections_of_strangers = 2});
    std::vector<Client> clients;
    for (int i = 0; i < 3; i++)
        clients.push_back(bench.client());
    for (const uid_t user : {stranger, stranger - 1})
        clients.push_back(connected_as(bench, user));
    CHECK(bench.server->connection_count() == 5);
    auto third = connected_as(bench, stranger - 2);
    CHECK(third.replies() == Replies{turned_away});
    auto fourth = bench.client();
    CHECK(fourth.replies() == Replies{turned_away});
}

TEST_CASE("without a file descriptor the server waits for one", "[varlink]")
{
    Bench bench;
    // the client has its own already
    auto client = unix_socket();
    std::vector<UniqueFd> all;
    rlimit old{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &old) == 0);
    const rlimit few{.rlim_cur = 100, .rlim_max = old.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
    while (all.empty() || all.back())
        all.emplace_back(dup(0));
    bench.place.connect(client.get());
    const auto rounds = bench.settle();
    const auto waiting = bench.server->connection_count();
    all.clear();
    setrlimit(RLIMIT_NOFILE, &old);
    CHECK(rounds <= 2);
    CHECK(waiting == 0);
    REQUIRE(bench.troubles.size() == 1);
    CHECK(bench.troubles[0] == "cannot take a connection: "s + strerror(EMFILE));
    const auto time = bench.time_until_connections(1);
    CHECK(time > std::chrono::milliseconds(800));
    CHECK(time < std::chrono::seconds(10));
}

TEST_CASE("a socket that does not listen is refused", "[varlink]")
{
    Bench bench;
    CHECK(error_of(bench.server->listen(unix_socket())) == EINVAL);
    CHECK(error_of(bench.server->listen(UniqueFd(open("/dev/null", O_RDONLY)))) != 0);
    CHECK(error_of(bench.server->listen(UniqueFd())) != 0);
}

TEST_CASE("the server does not wait for a client that thought better of it", "[varlink]")
{
    Bench bench;
    const Place place;
    auto socket = place.listening();
    const UniqueFd same(dup(socket.get()));
    REQUIRE(error_of(bench.server->listen(std::move(socket))) == 0);
    CHECK((fcntl(same.get(), F_GETFL) & O_NONBLOCK) != 0);
    // both sockets serve
    const Client first(place.connected());
    const auto second = bench.client();
    CHECK(bench.server->connection_count() == 2);
}

TEST_CASE("sockets of clients are closed in programs that are started", "[varlink]")
{
    const Bench bench;
    const int before = dup(0);
    close(before);
    auto socket = bench.place.connected();
    bench.settle();
    // the server's end has the next free number
    CHECK((fcntl(before + 1, F_GETFD) & FD_CLOEXEC) != 0);
    CHECK((fcntl(before + 1, F_GETFL) & O_NONBLOCK) != 0);
}

TEST_CASE("an idle server with clients does not wake up", "[varlink]")
{
    Bench bench;
    auto idle = bench.client();
    auto waiting = bench.client();
    waiting.call("a.b.Keep", ",\"more\":true");
    auto half = bench.client();
    CHECK(half.send("{"));
    bench.settle();
    CHECK(sd_event_run(bench.event.get(), 300'000) == 0);
    CHECK(bench.server->connection_count() == 3);
}

TEST_CASE("descriptors that come along are refused with a reason", "[varlink]")
{
    Bench bench;
    const Place place;
    listen_leniently(bench, place);
    Client client(place.connected());
    REQUIRE(client.send_with(unix_socket(), "{\"method\":\"a.b.Count\"}\0"s) == 0);
    bench.settle();
    CHECK(client.replies() == Replies{R"({"error":"io.rdmad.ProtocolError","parameters":{"reason":)"
                                      R"("the message comes with file descriptors"}})"});
    CHECK(client.is_at_end());
    CHECK(bench.count == 0);
    CHECK(bench.server->connection_count() == 0);
}

TEST_CASE("a kernel that can is asked to refuse descriptors", "[varlink]")
{
    const Bench bench;
    constexpr int pass_rights = 83; // SO_PASSRIGHTS
    int is_passed = 0;
    socklen_t size = sizeof is_passed;
    const auto client = bench.client();
    if (getsockopt(unix_socket().get(), SOL_SOCKET, pass_rights, &is_passed, &size) < 0)
        return;
    CHECK(client.send_with(unix_socket(), "x") == EPERM);
}

TEST_CASE("the server does not wait for a descriptor whose close(2) waits", "[varlink]")
{
    Bench bench({.connections_of_root = 1, .connections_of_strangers = 1});
    const Place place;
    listen_leniently(bench, place);
    Lingering lingering;
    auto client = Client(place.connected());
    const auto start = std::chrono::steady_clock::now();
    SECTION("that it receives")
    {
        lingering.give_to(client, "x");
    }
    SECTION("that it does not receive, as the client is dropped before")
    {
        REQUIRE(client.send("\0"s));
        lingering.give_to(client, "x");
    }
    SECTION("of a client that is turned away")
    {
        bench.settle();
        const Client other(place.connected());
        lingering.give_to(other, "x");
    }
    SECTION("of a client that is there when the server ends")
    {
        bench.settle();
        lingering.give_to(client, "x");
        bench.server->end();
    }
    bench.settle();
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

// -- memory ---------------------------------------------------------------------------------------

namespace {

class EchoTrial final : public Trial {
public:
    EchoTrial()
    {
        (void)client_.send(R"({"method":"a.b.Echo","parameters":{"x":[1,{"y":"z"}]}})" + "\0"s);
    }
    void run() override
    {
        for (int i = 0; i < 10; i++)
            sd_event_run(bench_.event.get(), 0);
    }
    bool is_right() override
    {
        return client_.replies() == right;
    }
    bool is_harmless() override
    {
        const auto replies = client_.replies();
        return replies.empty() || replies == right;
    }
    void clean() override
    {
        bench_.place.remove();
    }

private:
    inline static const Replies right = {R"({"parameters":{"x":[1,{"y":"z"}]}})"};
    Bench bench_;
    Client client_ = bench_.client();
};

} // namespace

TEST_CASE("without memory for any part of a call the server ends, and says nothing that is wrong",
          "[varlink]")
{
    check_each_allocation([] { return std::make_unique<EchoTrial>(); }, 2);
}
