// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/state_link.hpp"
#include "core/device/name_records.hpp"
#include "core/sysfs/rdma_device.hpp"
#include "tests/catch.hpp"
#include "tests/support/fixture_tree.hpp"

#include <cerrno>

using namespace rdmad;
using namespace rdmad::test;
using namespace std::string_literals;

namespace {

using List = std::vector<std::string>;

bool is_first(uint32_t index)
{
    return index == 0;
}

struct Bench {
    FixtureTree run;
    NameRecords records{run.path("rdmad")};

    /// "mlx5_0 is ibp1s0", or "nothing".
    [[nodiscard]] std::string of(uint32_t index) const
    {
        const auto record = records.find({index, 0});
        return record ? record->original + " is " + record->given.value_or("undecided") : "nothing";
    }
};

} // namespace

TEST_CASE("a name is recorded by the index of the device", "[name_records]")
{
    const Bench bench;
    CHECK(bench.of(0) == "nothing");
    bench.records.write({0, 0}, {"mlx5_0", "ibp1s0"});
    bench.records.write({4294967295, 0}, {"mlx5_1", "ibp2s0"});
    CHECK(bench.of(0) == "mlx5_0 is ibp1s0");
    CHECK(bench.of(4294967295) == "mlx5_1 is ibp2s0");
    CHECK(bench.of(1) == "nothing");
    CHECK(bench.run.list("rdmad/names") == List{"0-0", "4294967295-0"});
}

TEST_CASE("others read what one recorded", "[name_records]")
{
    const Bench bench;
    bench.records.write({3, 0}, {"mlx5_0", "ibp1s0"});
    const NameRecords others(bench.run.path("rdmad"));
    REQUIRE(others.find({3, 0}).has_value());
    CHECK(others.find({3, 0})->given == "ibp1s0");
    CHECK_FALSE(NameRecords(bench.run.path("elsewhere")).find({3, 0}).has_value());
}

TEST_CASE("a new name replaces the one that was known", "[name_records]")
{
    const Bench bench;
    bench.records.write({0, 0}, {"mlx5_0", "ibp1s0"});
    bench.records.write({0, 0}, {"mlx5_0", "storage"});
    CHECK(bench.of(0) == "mlx5_0 is storage");
    CHECK(bench.run.list("rdmad/names") == List{"0-0"});
}

TEST_CASE("what is gone is forgotten, and the rest is known", "[name_records]")
{
    const Bench bench;
    const FixtureTree sys;
    for (const auto* name : {"ibp1s0", "mlx5_1"})
        sys.directory(std::string("class/infiniband/") + name);
    const auto root = sys.root();
    const auto there = rdmad::sysfs::RdmaDevice::inode(root, "ibp1s0").value();
    const auto kept = rdmad::sysfs::RdmaDevice::inode(root, "mlx5_1").value();
    // of index 0: two that are there, by either name; one that has gone; one that is another by now
    bench.records.write({0, there}, {"mlx5_0", "ibp1s0"});
    bench.records.write({0, kept}, {"mlx5_1", "renamed"});
    bench.records.write({0, 1}, {"mlx5_2", "ibp2s0"});
    bench.records.write({0, 2}, {"mlx5_3", "ibp1s0"});
    bench.records.write({10, 1}, {"mlx5_4", "ibp3s0"});
    bench.records.forget_gone(root, is_first);
    CHECK(bench.records.find({0, there}).has_value());
    CHECK(bench.records.find({0, kept}).has_value());
    CHECK_FALSE(bench.records.find({0, 1}).has_value());
    CHECK_FALSE(bench.records.find({0, 2}).has_value());
    CHECK(bench.records.find({10, 1}).has_value());
}

TEST_CASE("a name that is not decided is read as such", "[name_records]")
{
    const Bench bench;
    bench.records.write({0, 0}, {"mlx5_0"});
    CHECK(bench.of(0) == "mlx5_0 is undecided");
    bench.records.write({0, 0}, {"mlx5_0", "mlx5_0"});
    CHECK(bench.of(0) == "mlx5_0 is mlx5_0");
}

TEST_CASE("another device with the same index is another one", "[name_records]")
{
    const Bench bench;
    bench.records.write({0, 7}, {"mlx5_0", "ibp1s0"});
    CHECK_FALSE(bench.records.find({0, 8}).has_value());
}

TEST_CASE("the longest names are recorded", "[name_records]")
{
    const Bench bench;
    const std::string original(63, 'a');
    const std::string given(63, 'b');
    bench.records.write({0, 0}, {original, given});
    CHECK(bench.of(0) == original + " is " + given);
}

TEST_CASE("names that are not safe are not recorded", "[name_records]")
{
    const Bench bench;
    const auto name = GENERATE(""s, "."s, ".."s, "a/b"s, "../0"s, "a b"s, "a\nb"s, "\xc3\xa4"s,
                               "a\0b"s, std::string(64, 'a'));
    CAPTURE(name);
    bench.records.write({0, 0}, {name, "ibp1s0"});
    CHECK(bench.of(0) == "nothing");
    bench.records.write({0, 0}, {"mlx5_0", name});
    CHECK(bench.of(0) == "nothing");
}

TEST_CASE("a name is not recorded without its blank", "[name_records]")
{
    const Bench bench;
    bench.records.write({0, 0}, {"mlx5_0 ", "ibp1s0"});
    bench.records.write({1, 0}, {"mlx5_0", " ibp1s0"});
    bench.records.write({2, 0}, {"", "mlx5_0 ibp1s0"});
    for (const uint32_t index : {0U, 1U, 2U})
        CHECK(bench.of(index) == "nothing");
}

TEST_CASE("a record that is none is not known", "[name_records]")
{
    const Bench bench;
    SECTION("a link to something else")
    {
        bench.run.link("rdmad/names/0-0", GENERATE("/etc/passwd", "..", "a b c", "a/b c"));
    }
    SECTION("a file")
    {
        bench.run.file("rdmad/names/0-0", "mlx5_0 ibp1s0");
    }
    SECTION("a directory")
    {
        bench.run.directory("rdmad/names/0-0");
    }
    CHECK(bench.of(0) == "nothing");
}

TEST_CASE("where nothing can be written nothing is recorded", "[name_records]")
{
    const Bench bench;
    bench.run.file("rdmad", "not a directory");
    bench.records.write({0, 0}, {"mlx5_0", "ibp1s0"});
    bench.records.forget_gone(FixtureTree().root(), is_first);
    CHECK(bench.of(0) == "nothing");
    CHECK(bench.run.read("rdmad") == "not a directory");
}

TEST_CASE("a name record is two safe words, one while nothing is decided", "[name_records]")
{
    const auto record = parse_name_record("mlx5_0 ibp1s0");
    REQUIRE(record.has_value());
    CHECK(record->original == "mlx5_0");
    CHECK(record->given == "ibp1s0");
    const auto undecided = parse_name_record("mlx5_0");
    REQUIRE(undecided.has_value());
    CHECK(undecided->original == "mlx5_0");
    CHECK_FALSE(undecided->given.has_value());

    const auto bad = GENERATE(""s, " "s, "a b c"s, "a/b c"s, "a b/c"s, ". b"s, "a .."s, "a\tb"s,
                              "a\nb"s, "a\n b"s, "a\0 b"s, "a \xff"s, std::string(64, 'a') + " b",
                              "a " + std::string(64, 'b'));
    CAPTURE(bad);
    CHECK_FALSE(parse_name_record(bad).has_value());
}

TEST_CASE("a link is read back as it was made", "[name_records]")
{
    const FixtureTree run;
    const auto path = run.path("claim");
    const auto target = GENERATE("0 1 umad0"s, "x"s, "/etc/passwd"s, std::string(254, 'x'));
    CHECK(replace_link(target, path) == 0);
    CHECK(read_link(path) == target);
    CHECK(run.target("claim") == target);
}

TEST_CASE("what is no link reads as none", "[name_records]")
{
    const FixtureTree run;
    run.file("file", "text");
    run.directory("directory");
    CHECK_FALSE(read_link(run.path("file")).has_value());
    CHECK_FALSE(read_link(run.path("directory")).has_value());
    CHECK_FALSE(read_link(run.path("nothing")).has_value());
    CHECK_FALSE(read_link(run.path("file/below")).has_value());
}

TEST_CASE("of a link no more than 254 bytes are read", "[name_records]")
{
    const FixtureTree run;
    run.link("long", std::string(GENERATE(255U, 300U), 'x'));
    CHECK(read_link(run.path("long")).value_or("").size() <= 254);
}

TEST_CASE("a link is put in place of another", "[name_records]")
{
    const FixtureTree run;
    CHECK(replace_link("first", run.path("claims/a")) == 0);
    CHECK(replace_link("second", run.path("claims/a")) == 0);
    CHECK(replace_link("other", run.path("claims/b")) == 0);
    CHECK(run.target("claims/a") == "second");
    CHECK(run.list("claims") == List{"a", "b"});
}

TEST_CASE("what a link pointed to stays when it is replaced", "[name_records]")
{
    const FixtureTree run;
    run.file("victim", "text");
    run.link("record", "victim");
    CHECK(replace_link("new", run.path("record")) == 0);
    CHECK(run.read("victim") == "text");
}

TEST_CASE("the directories of a link are made", "[name_records]")
{
    const FixtureTree run;
    CHECK(replace_link("target", run.path("rdmad/names/0-0")) == 0);
    CHECK(run.target("rdmad/names/0-0") == "target");
}

TEST_CASE("what an update that broke off has left does not stop the next", "[name_records]")
{
    const FixtureTree run;
    run.link("names/0.new", "left over");
    CHECK(replace_link("target", run.path("names/0")) == 0);
    CHECK(run.target("names/0") == "target");
    CHECK(run.list("names") == List{"0"});
}

TEST_CASE("a link that cannot be made is an error", "[name_records]")
{
    const FixtureTree run;
    run.file("file", "text");
    run.directory("directory");
    CHECK(replace_link("target", run.path("file/link")) != 0);
    CHECK(replace_link("target", run.path("directory")) == EISDIR);
    CHECK(run.read("file") == "text");
}
