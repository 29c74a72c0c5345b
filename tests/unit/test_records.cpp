// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/removal_note.hpp"
#include "daemon/known_guids.hpp"
#include "daemon/supervisor/departures.hpp"
#include "daemon/supervisor/memory_file.hpp"
#include "daemon/supervisor/removals.hpp"
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

using namespace rdmad;
using namespace rdmad::test;
using namespace std::string_literals;
using Json = nlohmann::json;

namespace {

using List = std::vector<std::string>;

Member member(const std::string& guid)
{
    return {.binding = "50-a.binding",
            .device = "mlx5_0",
            .index = 4294967295,
            .port = 2,
            .guid = guid,
            .node_guid = "0002c90300000a00",
            .path = "pci-0000:c1:00.0",
            .node = "uverbs0",
            .syspath = "/sys/devices/virtual/infiniband_verbs/uverbs0",
            .anchor = "rdmad-a.service:3:umad0.slice",
            .is_unused = true,
            .removed = 0};
}

/// A record in which no field is as it is by itself.
UnitRecord full()
{
    return {.memory = {.is_known = true,
                       .was_up = true,
                       .is_wanted = false,
                       .is_asked = true,
                       .eviction = Eviction{member("0002c90300000a01"), 17},
                       .began = UINT64_MAX,
                       .file_state = "enabled",
                       .stop = Stop{.cause = Stop::Cause::unplug,
                                    .went_down = 12,
                                    .timestamp = 1700000000000000,
                                    .lost = member("0002c90300000a01"),
                                    .window = {1, 2, 3}}},
            .members = {member("0002c90300000a01"), member("")}};
}

std::string full_text()
{
    return format_record("a.service", full());
}

/// A record with one value in place of another.
Result<UnitRecord> parse_with(const Json::json_pointer& where, const Json& value)
{
    auto json = Json::parse(full_text());
    json.at(where) = value;
    return parse_record(json.dump());
}

} // namespace

// -- a unit's record ------------------------------------------------------------------------------

TEST_CASE("a record is read as it was written", "[records]")
{
    CHECK(must(parse_record(full_text())) == full());
    CHECK(must(parse_record(format_record("a.service", {}))) == UnitRecord());
    CHECK(Json::parse(full_text()).at("unit") == "a.service");
}

TEST_CASE("each cause of a stop is read as it was written", "[records]")
{
    auto record = full();
    record.memory.stop->cause = GENERATE(Stop::Cause::failure, Stop::Cause::dependency,
                                         Stop::Cause::condition, Stop::Cause::other);
    record.memory.stop->lost = {};
    CHECK(must(parse_record(format_record("a.service", record))) == record);
}

TEST_CASE("a stop that an older rdmad requested has no time", "[records]")
{
    auto json = Json::parse(full_text());
    json.at("evictedFrom").erase("since");
    const auto eviction = must(parse_record(json.dump())).memory.eviction;
    CHECK(eviction == Eviction{member("0002c90300000a01"), 0});
}

TEST_CASE("a cause that is not known is as another one", "[records]")
{
    const auto cause = [](const char* text) {
        return must(parse_with("/stop/cause"_json_pointer, text)).memory.stop->cause;
    };
    // of every rdmad there was
    CHECK(cause("failure") == Stop::Cause::failure);
    CHECK(cause("unplug") == Stop::Cause::unplug);
    // of one that is yet to come
    CHECK(cause("boredom") == Stop::Cause::other);
}

TEST_CASE("names that are no UTF-8 do not stop a record from being written", "[records]")
{
    auto record = full();
    record.members[0].device = "mlx\xff";
    CHECK(must(parse_record(format_record("a.service", record))).members[0].device ==
          "mlx\xef\xbf\xbd");
}

TEST_CASE("the GUIDs that an earlier rdmad knew are those of its records", "[records]")
{
    const FixtureTree run;
    const auto known = [&] { return read_known_guids(run.path("units"), run.path("ready")); };
    CHECK(known().empty());
    const auto of = [](uint32_t index, const std::string& guid) {
        auto one = member(guid);
        one.index = index;
        return one;
    };
    run.directory("units");
    const UnitRecords records(run.path("units"));
    must(records.write("a.service", {{}, {of(1, "0002c90300000a01"), of(2, "")}}));
    must(records.write("b.service", {{}, {of(1, "0002c90300000a02")}}));
    run.file("units/c.service", "{");
    run.file("ready/0002c90300000b01", "3 uverbs3 17");
    run.file("ready/.leave-0002c90300000b02", "");
    run.file("ready/0002c90300000b03", "x");
    run.file("ready/other", "3 uverbs3 17");
    CHECK(known() ==
          KnownGuids{{1, {0x0002c90300000a01, 0x0002c90300000a02}}, {3, {0x0002c90300000b01}}});
}

TEST_CASE("a record that is cut off anywhere is refused", "[records]")
{
    const auto text = full_text();
    // the line break at the end is for people
    for (size_t size = 0; size + 1 < text.size(); size++) {
        CAPTURE(size);
        CHECK(error_of(parse_record(std::string_view(text).substr(0, size))) == EBADMSG);
    }
    CHECK(must(parse_record(std::string_view(text).substr(0, text.size() - 1))) == full());
}

TEST_CASE("what is no record is refused", "[records]")
{
    const auto text = GENERATE("null"s, "1"s, "\"a\""s, "[]"s, "{}"s, "{} {}"s, "{\"version\":1,}"s,
                               std::string(65536, '['), "\xff"s, "\0"s);
    CHECK(error_of(parse_record(text)) == EBADMSG);
}

TEST_CASE("a record that would take much memory or a deep stack is refused", "[records]")
{
    const auto with_members = [](size_t count, const std::string& member) {
        std::string text = "{\"version\":1,\"members\":[" + member;
        for (size_t i = 1; i < count; i++)
            text += "," + member;
        return text + "]}";
    };
    CHECK(must(parse_record(with_members(1000, "{}"))).members.size() == 1000);
    CHECK(error_of(parse_record(with_members(1'000'000, "{}"))) == EBADMSG);
    CHECK(error_of(parse_record(with_members(1'000'000, "0"))) == EBADMSG);
    const auto deep = std::string(100'000, '[') + std::string(100'000, ']');
    CHECK(error_of(parse_record(with_members(1, deep))) == EBADMSG);
}

TEST_CASE("a record of another version is refused", "[records]")
{
    const auto version = GENERATE(Json(0), Json(2), Json(-1), Json(UINT64_C(4294967297)), Json("1"),
                                  Json(1.0), Json(true), Json(nullptr), Json::array({1}));
    CAPTURE(version.dump());
    CHECK(error_of(parse_with("/version"_json_pointer, version)) == EBADMSG);
}

TEST_CASE("a value of another type is as none", "[records]")
{
    const auto fallback = must(parse_record("{\"version\": 1}"));
    CHECK(fallback == UnitRecord());
    const auto whole = Json::parse(full_text());
    for (const auto& [key, value] : whole.items()) {
        if (key == "version")
            continue;
        for (const auto& wrong : {Json(nullptr), Json(-1), Json(1.5), Json("x"), Json(true),
                                  Json(7U), Json::array({1, "x"}), Json::object({{"x", 1}})}) {
            if (wrong.type() == value.type())
                continue;
            CAPTURE(key, wrong.dump());
            auto expected = full();
            if (key == "isKnown")
                expected.memory.is_known = false;
            else if (key == "wasUp")
                expected.memory.was_up = false;
            else if (key == "isWanted")
                expected.memory.is_wanted = true;
            else if (key == "isAsked")
                expected.memory.is_asked = false;
            else if (key == "began")
                expected.memory.began = 0;
            else if (key == "fileState")
                expected.memory.file_state.clear();
            else if (key == "stop")
                expected.memory.stop.reset();
            else if (key == "evictedFrom")
                expected.memory.eviction.reset();
            else if (key == "members")
                expected.members.clear();
            CHECK(must(parse_with(Json::json_pointer("/" + key), wrong)) == expected);
        }
    }
}

TEST_CASE("a value of another type inside of a record is as none", "[records]")
{
    const auto* where = GENERATE("/stop/cause", "/stop/wentDown", "/stop/timestamp", "/stop/lost",
                                 "/stop/lost/index", "/members/0", "/members/1/binding",
                                 "/members/1/port", "/members/0/portGuid");
    for (const auto& wrong : {Json(nullptr), Json(-1), Json(true), Json::array({1}),
                              Json(UINT64_C(4294967296000000))}) {
        CAPTURE(where, wrong.dump());
        const auto record = must(parse_with(Json::json_pointer(where), wrong));
        CHECK(record.memory.stop.has_value());
        CHECK(record.members.size() == 2);
    }
    CHECK(
        must(parse_with("/members/0/index"_json_pointer, UINT64_C(4294967297))).members[0].index ==
        0);
    CHECK(must(parse_with("/stop/cause"_json_pointer, "magic")).memory.stop->cause ==
          Stop::Cause::other);
}

// -- the files ------------------------------------------------------------------------------------

TEST_CASE("records of units are files that are called like them", "[records]")
{
    const FixtureTree run;
    const UnitRecords records(run.path("units"));
    const auto unit = GENERATE("a.service"s, "srp_daemon_port@mlx5_0:1.service"s,
                               std::string(247, 'a') + ".service");
    CHECK(must(records.read(unit)) == UnitRecord());
    REQUIRE(records.write(unit, full()));
    CHECK(run.list("units") == List{unit});
    CHECK(must(records.read(unit)) == full());
}

TEST_CASE("a record of a unit with as many devices as there can be is read", "[records]")
{
    const FixtureTree run;
    const UnitRecords records(run.path("units"));
    UnitRecord record;
    for (int i = 0; i < 256; i++)
        record.members.push_back(member("0002c90300000a01"));
    must(records.write("a.service", record));
    REQUIRE(run.read("units/a.service").size() > 65536);
    CHECK(must(records.read("a.service")) == record);
}

TEST_CASE("a record is replaced in one step", "[records]")
{
    const FixtureTree run;
    const UnitRecords records(run.path("units"));
    REQUIRE(records.write("a.service", full()));
    std::filesystem::create_hard_link(run.path("units/a.service"), run.path("before"));
    // what a write that broke off has left
    run.file("units/.new", std::string(100000, 'x'));
    REQUIRE(records.write("a.service", {}));
    CHECK(run.read("before") == full_text());
    CHECK(must(records.read("a.service")) == UnitRecord());
    CHECK(run.list("units") == List{"a.service"});
}

TEST_CASE("a record that cannot be read is an error that names it", "[records]")
{
    const FixtureTree run;
    const UnitRecords records(run.path("units"));
    run.directory("units/folder.service");
    run.file("units/empty.service", "");
    run.file("units/large.service", full_text() + std::string(4 << 20, ' '));
    const auto [unit, code] = GENERATE(table<std::string, int>(
        {{"folder.service", EISDIR}, {"empty.service", EBADMSG}, {"large.service", EFBIG}}));
    const auto record = records.read(unit);
    REQUIRE(error_of(record) == code);
    CHECK(record.error().context.find(run.path("units/" + unit)) == 0);
}

TEST_CASE("a record that cannot be written is an error that names it", "[records]")
{
    const FixtureTree run;
    run.file("file", "");
    run.directory("units/a.service/full");
    const auto nowhere = UnitRecords(run.path("missing/units")).write("a.service", full());
    REQUIRE(error_of(nowhere) == ENOENT);
    CHECK(nowhere.error().context == run.path("missing/units"));
    CHECK(error_of(UnitRecords(run.path("file")).write("a.service", full())) == ENOTDIR);
    const auto blocked = UnitRecords(run.path("units")).write("a.service", full());
    REQUIRE_FALSE(blocked);
    CHECK(blocked.error().context == run.path("units/a.service"));
}

// -- notes of removals ----------------------------------------------------------------------------

TEST_CASE("removals are noted for the devices that somebody expects them of", "[removals]")
{
    const FixtureTree run;
    const Removals removals(run.path("bound"));
    CHECK(removals.expected().empty());
    must(removals.expect(7));
    must(removals.expect(7));
    must(removals.expect(4294967295));
    run.directory("bound/x");
    run.directory("bound/4294967296");
    auto expected = removals.expected();
    std::sort(expected.begin(), expected.end());
    CHECK(expected == std::vector<uint32_t>{7, 4294967295});
    CHECK(run.exists("bound/7"));
}

TEST_CASE("removals that cannot be noted are an error, and tried again", "[removals]")
{
    const FixtureTree run;
    run.file("bound", "");
    Departures departures(Removals(run.path("bound")));
    const auto outcome = departures.expect(7);
    REQUIRE(error_of(outcome) == ENOTDIR);
    CHECK(outcome.error().context == run.path("bound/7"));
    CHECK(error_of(departures.expect(7)) == ENOTDIR);
    run.remove("bound");
    must(departures.expect(7));
    CHECK(run.list("bound") == List{"7"});
}

TEST_CASE("the time of a removal is what its link points to", "[removals]")
{
    const FixtureTree run;
    const Removals removals(run.path("bound"));
    run.link("bound/7/uverbs0.23456789", "123456789012345");
    run.link("bound/7/umad0", "18446744073709551615");
    CHECK(removals.when({7, "uverbs0", 23456789}) == UINT64_C(123456789012345));
    CHECK(removals.when({7, "umad0"}) == UINT64_MAX);
    // one that came later
    CHECK_FALSE(removals.when({7, "uverbs0", 23456790}).has_value());
    // udev gave it another birth meanwhile
    CHECK(removals.when({7, "uverbs0", 23456788}) == UINT64_C(123456789012345));
    // an earlier rdmad did not know when it was born
    CHECK(removals.when({7, "uverbs0"}) == UINT64_C(123456789012345));
    run.link("bound/7/uverbs0.23456790", "12");
    CHECK(removals.when({7, "uverbs0"}) == 12);
    run.link("bound/7/uverbs0", "11");
    CHECK(removals.when({7, "uverbs0"}) == 11);
    CHECK_FALSE(removals.when({7, "uverbs"}).has_value());
    run.remove("bound/7/uverbs0.23456790");
    CHECK_FALSE(removals.when({7, "uverbs1", 23456789}).has_value());
    CHECK_FALSE(removals.when({8, "uverbs0", 23456789}).has_value());
}

TEST_CASE("the name of a note of a removal tells when the node was born", "[removals]")
{
    CHECK(note_name({"uverbs0", 23456789}) == "uverbs0.23456789");
    CHECK(note_name({"umad0"}) == "umad0");
    CHECK(parse_note_name("uverbs0.23456789") == RemovalNote{"uverbs0", 23456789});
    CHECK(parse_note_name("umad0") == RemovalNote{"umad0"});
    CHECK(parse_note_name("umad0.") == RemovalNote{"umad0"});
    CHECK(parse_note_name("umad0.12x") == RemovalNote{"umad0"});
    CHECK(parse_note_name("") == RemovalNote{""});
}

TEST_CASE("what is no time is none", "[removals]")
{
    const FixtureTree run;
    const Removals removals(run.path("bound"));
    run.link("bound/7/node",
             GENERATE("x"s, "-1"s, "12x"s, " 12"s, "0x12"s, "/etc/passwd"s, "18446744073709551616"s,
                      std::string(33, '1'), std::string(200, '1')));
    run.file("bound/7/file", "12");
    CHECK_FALSE(removals.when({7, "node"}).has_value());
    CHECK_FALSE(removals.when({7, "file"}).has_value());
}

TEST_CASE("notes of a device go with it", "[removals]")
{
    const FixtureTree run;
    const Removals removals(run.path("bound"));
    must(removals.expect(7));
    must(removals.expect(8));
    run.link("bound/7/uverbs0", "12");
    run.link("bound/7/umad0", "13");
    removals.forget(7);
    removals.forget(9);
    CHECK(run.list("bound") == List{"8"});
}

TEST_CASE("notes of nodes that nobody asks for go, however often nodes are made anew", "[removals]")
{
    const FixtureTree run;
    Departures departures(Removals(run.path("bound")));
    must(departures.expect(7));
    for (uint64_t born = 1; born < 99; born++)
        run.link("bound/7/uverbs0." + std::to_string(born), "12");
    run.link("bound/7/umad0", "13");
    must(departures.expect(8));
    run.link("bound/8/uverbs0.5", "12");
    departures.keep_only(7, {{7, "uverbs0", 98}, {7, "umad0"}});
    CHECK(run.list("bound/7") == List{"umad0", "uverbs0.98"});
    run.link("bound/7/umad0.5", "14");
    departures.see({7, "uverbs1"}, 15);
    departures.keep_only(7, {{7, "uverbs0", 98}, {7, "umad0"}});
    CHECK(run.list("bound/7") == List{"umad0", "umad0.5", "uverbs0.98"});
    CHECK(departures.when({7, "uverbs1"}) == 0);
    CHECK(departures.when({7, "uverbs0", 98}) == 12);
    departures.see({7, "uverbs0", 98}, 11);
    departures.see({8, "uverbs0", 5}, 11);
    departures.keep_only(7, {{7, "uverbs0", 98}});
    CHECK(departures.when({7, "uverbs0", 98}) == 11);
    CHECK(departures.when({8, "uverbs0", 5}) == 11);
    departures.forget(7);
    CHECK(run.list("bound") == List{"8"});
    CHECK(run.list("bound/8") == List{"uverbs0.5"});
    CHECK(departures.when({7, "uverbs0", 98}) == 0);
}
