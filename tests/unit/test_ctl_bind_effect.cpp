// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/bind_effect.hpp"
#include "tests/catch.hpp"

using namespace rdmad::ctl;
using Words = std::vector<std::string>;

namespace {

constexpr char ours[] = "50-a.binding";

Unit unit(const char* state, const char* reason, bool is_wanted = true)
{
    return {.name = "a.service",
            .active_state = state,
            .load_state = "loaded",
            .is_wanted = is_wanted,
            .reason = reason,
            .bindings = {ours}};
}

Bound bound(Unit one, Words matches = {"mlx5_0/1"})
{
    return {.unit = "a.service",
            .file = {ours, "/etc/a"},
            .effect = Effect{.matches = std::move(matches), .units = {std::move(one)}}};
}

std::string told(const Bound& bound)
{
    return text_of(bound, {});
}

BindRequest request(size_t key, std::string value)
{
    BindRequest asked{.unit = "a.service"};
    asked.values[key] = std::move(value);
    return asked;
}

} // namespace

TEST_CASE("what a file brings about is picked from what rdmad says", "[bind_effect]")
{
    const Unit both = {.name = "a.service", .bindings = {"10-x.binding", ours}};
    const Unit foreign = {.name = "b.service", .bindings = {"20-y.binding"}};
    const Bindings all = {
        .bindings = {{.name = "10-x.binding", .path = "/etc/x"},
                     {.name = "20-y.binding", .path = "/etc/y"},
                     {.name = ours, .path = "/run/x", .matches = {"m/1"}, .missing = {"g"}}},
        .units = {both, foreign}};
    const auto effect = effect_of(all, ours);
    CHECK(effect.matches == Words{"m/1"});
    CHECK(effect.missing == Words{"g"});
    REQUIRE(effect.units.size() == 1);
    CHECK(effect.units[0].name == "a.service");
    CHECK(effect.others == Words{"/etc/x"});
    CHECK(effect_of(all, "none").units.empty());
    CHECK(problem_of(effect, "/run/x") == "");
    CHECK(problem_of(effect, "/root/run/x") == "");
    CHECK(problem_of(effect, "/etc/x") == "rdmad reads /run/x in its place");
    CHECK(problem_of(effect_of(all, "none"), "/etc/none") ==
          "rdmad does not use it: an empty file or a link to /dev/null of that name masks it");
}

TEST_CASE("a file that binds nothing for a mistake is told with it", "[bind_effect]")
{
    const Bindings all = {
        .bindings = {{.name = ours, .path = "/etc/x", .problems = {"/etc/x.d/a.conf:1: no", "b"}}}};
    CHECK(problem_of(effect_of(all, ours), "/etc/x") == "it binds nothing: /etc/x.d/a.conf:1: no");
}

TEST_CASE("rdmad needs a moment for what it is about to do", "[bind_effect]")
{
    const auto moves = [](Unit one) { return is_under_way({.units = {std::move(one)}}); };
    CHECK(moves({.reason = "systemd has not answered yet"}));
    CHECK(moves(unit("inactive", "is being tied to its ports")));
    CHECK(moves(unit("inactive", "is being started")));
    CHECK_FALSE(moves(unit("active", "runs")));
    CHECK_FALSE(moves(unit("inactive", "waits for port x")));
    CHECK_FALSE(is_under_way({}));
}

TEST_CASE("of a unit that runs it is told what it lives with", "[bind_effect]")
{
    auto done = bound(unit("active", "runs"));
    CHECK(told(done) == "a.service now lives with mlx5_0/1 (/etc/a)\n");
    done.is_started = false;
    CHECK(told(done) ==
          "a.service now lives with mlx5_0/1 (/etc/a); rdmad never starts it: --restart=no\n");
    done.is_new = false;
    CHECK(told(done).starts_with("it was bound that way already: a.service lives with mlx5_0/1 ("));
}

TEST_CASE("of a unit that does not run it is told why", "[bind_effect]")
{
    CHECK(told(bound(unit("inactive", "waits for port 7"))) ==
          "a.service now lives with mlx5_0/1 (/etc/a)\n"
          "a.service waiting (inactive): waits for port 7\n");
    auto lost = bound(unit("inactive", "is left alone: systemd cannot load it: not-found", false));
    lost.effect->units[0].load_state = "not-found";
    CHECK(told(lost) == "a.service is now bound to mlx5_0/1 (/etc/a)\n"
                        "a.service left alone (inactive): systemd cannot load it: not-found\n"
                        "  when it has a file: systemctl daemon-reload\n");
    auto masked = bound(unit("inactive", "is left alone: it is masked", false));
    masked.effect->units[0].load_state = "masked";
    CHECK(told(masked) == "a.service is now bound to mlx5_0/1 (/etc/a)\n"
                          "a.service left alone (inactive): it is masked\n"
                          "  to have it follow its ports: systemctl unmask a.service\n");
    auto stopped = bound(unit("inactive", "is left alone: it failed", false));
    CHECK(told(stopped) == "a.service is now bound to mlx5_0/1 (/etc/a)\n"
                           "a.service left alone (inactive): it failed\n"
                           "  to have it follow its ports: systemctl start a.service\n");
    stopped.is_new = false;
    CHECK(told(stopped).starts_with("it was bound that way already: a.service is bound to "));
}

TEST_CASE("a unit that rdmad is never to start is left alone, which is right", "[bind_effect]")
{
    auto done = bound(unit("inactive", "is left alone: Restart=no", false));
    done.is_started = false;
    CHECK(told(done) ==
          "a.service now lives with mlx5_0/1 (/etc/a); rdmad never starts it: --restart=no\n");
}

TEST_CASE("where no port matches there is nothing to wait for but a port", "[bind_effect]")
{
    auto done = bound(unit("inactive", "waits for a port that matches"), {});
    CHECK(told(done) == "no port matches now; a.service starts when one appears (/etc/a)\n");
    done.is_started = false;
    CHECK(told(done) == "no port matches now (/etc/a); rdmad never starts it: --restart=no\n");
    const auto stopped = bound(unit("inactive", "is left alone: it failed", false), {});
    CHECK(told(stopped).starts_with("no port matches now (/etc/a)\na.service left alone"));
    auto unasked = done;
    unasked.effect.reset();
    CHECK(told(unasked).starts_with("a.service will live with the ports that match when rdmad"));
}

TEST_CASE("a GUID of the wrong kind is told where some device has it", "[bind_effect]")
{
    const std::vector<Device> devices = {
        {.name = "m", .node_guid = "node", .ports = {{.number = 1, .guid = "port"}}},
        {.name = "n", .node_guid = "same", .ports = {{.number = 1, .guid = "same"}}}};
    CHECK(mixed_up(request(0, "port node same none"), devices) ==
          Words{"node is the node GUID of m: unbind a.service, and bind it by --node-guid"});
    CHECK(mixed_up(request(1, "port node same none"), devices) ==
          Words{"port is the port GUID of m/1: unbind a.service, and bind it by --port-guid"});
    CHECK(mixed_up(request(4, "node"), devices).empty());
}
