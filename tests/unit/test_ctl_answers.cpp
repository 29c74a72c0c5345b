// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/answers.hpp"
#include "tests/catch.hpp"

using namespace rdmad::ctl;

namespace {

const Json port = {{"number", 1},     {"guid", "0002c90300000a01"}, {"linkType", "infiniband"},
                   {"state", "down"}, {"isReady", false},           {"netdev", nullptr},
                   {"umad", "umad0"}};
const Json device = {{"name", "mlx5_0"},
                     {"index", 3},
                     {"driver", "mlx5_core"},
                     {"nodeGuid", "0002c90300000a00"},
                     {"sysImageGuid", "0002c90300000a00"},
                     {"protocol", "ib"},
                     {"ports", Json::array({port})},
                     {"units", Json::array({"a.service"})}};
const Json unit = {{"unit", "a.service"},
                   {"isWanted", true},
                   {"reason", "why"},
                   {"bindings", Json::array()},
                   {"ports", Json::array()}};

Json devices_of(Json one)
{
    return {{"devices", Json::array({std::move(one)})}};
}

/// What is wrong with a device that has one member changed.
std::string wrong_device(const char* member, Json value)
{
    auto changed = device;
    changed[member] = std::move(value);
    const auto devices = read_devices(devices_of(changed));
    REQUIRE_FALSE(devices.has_value());
    CHECK(devices.error().kind == Complaint::Kind::broken);
    return devices.error().text;
}

std::string wrong_message(std::string_view bytes)
{
    const auto message = parse_message(bytes);
    return message ? "" : message.error().text;
}

} // namespace

TEST_CASE("a device is read with its ports", "[answers]")
{
    const auto devices = read_devices(devices_of(device));
    REQUIRE(devices.has_value());
    REQUIRE(devices->size() == 1);
    const auto& one = devices->front();
    CHECK(one.name == "mlx5_0");
    CHECK(one.index == 3);
    CHECK(one.driver == "mlx5_core");
    CHECK_FALSE(one.path.has_value());
    CHECK(one.units == std::vector<std::string>{"a.service"});
    REQUIRE(one.ports.size() == 1);
    CHECK(one.ports[0].guid == "0002c90300000a01");
    CHECK_FALSE(one.ports[0].netdev.has_value());
    CHECK_FALSE(one.ports[0].issm.has_value());
    CHECK(one.ports[0].umad == "umad0");
}

TEST_CASE("what is wrong with an answer is told with its place", "[answers]")
{
    const std::string prefix = "rdmad's answer is wrong: devices[0].";
    CHECK(wrong_device("name", nullptr) == prefix + "name is missing");
    CHECK(wrong_device("name", 7) == prefix + "name is no string");
    CHECK(wrong_device("index", "3") == prefix + "index is no whole number from 0 on");
    CHECK(wrong_device("index", -1) == prefix + "index is no whole number from 0 on");
    CHECK(wrong_device("index", 1e3) == prefix + "index is no whole number from 0 on");
    CHECK(wrong_device("index", uint64_t{1} << 32U) == prefix + "index is too large");
    CHECK(wrong_device("nodeGuid", "0002C90300000A00") == prefix + "nodeGuid is no GUID");
    CHECK(wrong_device("nodeGuid", "2c90300000a00") == prefix + "nodeGuid is no GUID");
    CHECK(wrong_device("nodeGuid", nullptr) == prefix + "nodeGuid is missing");
    CHECK(wrong_device("units", nullptr) == prefix + "units is no list");
    CHECK(wrong_device("units", Json::array({"a", 7})) == prefix + "units[1] is no string");
    CHECK(wrong_device("ports", Json::array({port, 7})) == prefix + "ports[1] is no object");
    auto broken = port;
    broken["isReady"] = 1;
    CHECK(wrong_device("ports", Json::array({broken})) ==
          prefix + "ports[0].isReady is neither true nor false");
}

TEST_CASE("a unit may have stopped, and need not", "[answers]")
{
    auto stopped = unit;
    stopped["stop"] = {{"cause", "unplug"}, {"timestamp", 5}, {"port", 1}};
    const auto read =
        read_bindings({{"bindings", Json::array()}, {"units", Json::array({unit, stopped})}});
    REQUIRE(read.has_value());
    REQUIRE(read->units.size() == 2);
    CHECK_FALSE(read->units[0].stop.has_value());
    REQUIRE(read->units[1].stop.has_value());
    CHECK(read->units[1].stop->port == 1U);
    CHECK_FALSE(read->units[1].stop->device.has_value());
}

TEST_CASE("an event has the members of its kind", "[answers]")
{
    const auto event = read_event(
        {{"sequence", 2}, {"timestamp", 5}, {"event", "add"}, {"device", device}, {"new", 1}});
    REQUIRE(event.has_value());
    CHECK(event->device.has_value());
    CHECK_FALSE(event->devices.has_value());
    CHECK_FALSE(read_event({{"sequence", 2}, {"timestamp", 5}}).has_value());
    CHECK_FALSE(read_event({{"sequence", 2}, {"timestamp", -5}, {"event", "x"}}).has_value());
    CHECK_FALSE(read_event({{"sequence", 2}, {"timestamp", 5}, {"event", "x"}, {"device", 7}}));
}

TEST_CASE("a message is an object with parameters, or an error", "[answers]")
{
    const auto message = parse_message(R"({"parameters":{"a":1},"continues":true})");
    REQUIRE(message.has_value());
    CHECK(message->continues);
    CHECK(message->error.empty());
    CHECK(message->parameters == Json{{"a", 1}});
    CHECK(parse_message("{}")->parameters == Json::object());
    CHECK(parse_message(R"({"error":"a.B"})")->error == "a.B");
    for (const auto* wrong : {"", "x", "[]", "7", "null", "{", "{}{}", R"({"parameters":[]})",
                              R"({"error":1})", R"({"error":""})", R"({"continues":"yes"})",
                              "{\"a\":\"\xff\"}", R"({"a":"\ud800"})", "{\"a\":\"\n\"}"})
        CHECK(wrong_message(wrong).starts_with("rdmad's answer is wrong: "));
}

TEST_CASE("every truncation of a message is refused", "[answers]")
{
    const auto whole = Json{{"parameters", devices_of(device)}, {"continues", true}}.dump();
    CHECK(wrong_message(whole).empty());
    for (size_t size = 0; size < whole.size(); size++)
        CHECK_FALSE(wrong_message(whole.substr(0, size)).empty());
}

TEST_CASE("a message that nests deeper than any of rdmad's is refused before it is read",
          "[answers]")
{
    const auto nested = [](size_t depth) {
        return R"({"parameters":{"a":)" + std::string(depth, '[') + std::string(depth, ']') + "}}";
    };
    CHECK(wrong_message(nested(30)).empty());
    CHECK(wrong_message(nested(31)) == "rdmad's answer is wrong: it nests too deep");
    CHECK(wrong_message(nested(10'000'000)) == "rdmad's answer is wrong: it nests too deep");
    // brackets that follow each other, or stand in a string, are not deep
    CHECK(wrong_message(R"({"parameters":{"a":")" + std::string(100, '[') + R"(\")" +
                        std::string(100, '[') + R"(","b":[)" +
                        "[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],"
                        "[],[],[],[],[],[],[],[],[],[],[],[]]}}")
              .empty());
}
