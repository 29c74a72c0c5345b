// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/index_hints.hpp"
#include "tests/catch.hpp"
#include "tests/support/fixture_tree.hpp"

using namespace rdmad;
using namespace rdmad::test;

TEST_CASE("a hint is found again, by another process as well", "[index_hints]")
{
    const FixtureTree run;
    IndexHints hints(run.path("rdmad"), true);
    hints.remember(4711, 17);
    CHECK(hints.find(4711) == 17U);
    IndexHints other(run.path("rdmad"), false);
    CHECK(other.find(4711) == 17U);
    CHECK(other.last() == 17U);
}

TEST_CASE("without a hint there is none", "[index_hints]")
{
    const FixtureTree run;
    IndexHints hints(run.path("rdmad"), true);
    CHECK_FALSE(hints.find(0).has_value());
    CHECK_FALSE(hints.find(4711).has_value());
    CHECK_FALSE(hints.last().has_value());
    hints.remember(1, 1);
    CHECK_FALSE(hints.find(2).has_value());
}

TEST_CASE("the last hint is the highest one", "[index_hints]")
{
    const FixtureTree run;
    IndexHints hints(run.path(), true);
    hints.remember(1, 5);
    hints.remember(2, 3);
    CHECK(hints.last() == 5U);
    hints.remember(3, 6);
    CHECK(hints.last() == 6U);
    CHECK(hints.find(2) == 3U);
}

TEST_CASE("index 0 is one", "[index_hints]")
{
    const FixtureTree run;
    IndexHints hints(run.path(), true);
    hints.remember(1, 0);
    CHECK(hints.find(1) == 0U);
    CHECK(hints.last() == 0U);
}

TEST_CASE("a newer hint replaces an older one", "[index_hints]")
{
    const FixtureTree run;
    IndexHints hints(run.path(), true);
    hints.remember(1, 5);
    hints.remember(1, 9);
    CHECK(hints.find(1) == 9U);
}

TEST_CASE("many hints never give a wrong answer, and few are lost", "[index_hints]")
{
    const FixtureTree run;
    IndexHints hints(run.path(), true);
    constexpr uint32_t devices = 2000;
    // kernfs gives each device's directories and files numbers in a row
    const auto inode = [](uint32_t i) { return uint64_t{30000} + uint64_t{i} * 57; };
    for (uint32_t i = 0; i < devices; i++)
        hints.remember(inode(i), i);
    uint32_t lost = 0;
    for (uint32_t i = 0; i < devices; i++) {
        const auto found = hints.find(inode(i));
        if (!found)
            lost++;
        else
            REQUIRE(*found == i);
    }
    // each second device may have had to give way to a neighbour at the very worst
    CHECK(lost < devices / 2);
    CHECK(hints.last() == devices - 1);
}

TEST_CASE("the file does not grow with the number of devices", "[index_hints]")
{
    const FixtureTree run;
    IndexHints hints(run.path(), true);
    for (uint64_t i = 0; i < 50000; i++)
        hints.remember(i * i * 7919, static_cast<uint32_t>(i));
    CHECK(run.read("index-hints").size() <= 256 * 1024);
}

TEST_CASE("a reader makes nothing", "[index_hints]")
{
    const FixtureTree run;
    IndexHints hints(run.path("rdmad"), false);
    hints.remember(1, 5);
    CHECK_FALSE(hints.find(1).has_value());
    CHECK_FALSE(run.exists("rdmad"));
}

TEST_CASE("a reader changes nothing", "[index_hints]")
{
    const FixtureTree run;
    IndexHints(run.path(), true).remember(1, 5);
    const auto before = run.read("index-hints");
    IndexHints(run.path(), false).remember(1, 6);
    CHECK(run.read("index-hints") == before);
}

TEST_CASE("a hint that is cut anywhere, or of another inode, is none", "[index_hints]")
{
    const FixtureTree run;
    IndexHints(run.path(), true).remember(4711, 17);
    const auto file = run.read("index-hints");
    const auto at = file.find(std::string("\x67\x12\0\0\0\0\0\0\x11\0\0\0", 12));
    REQUIRE(at != std::string::npos);
    const auto hint = file.substr(at, 16);
    CHECK(parse_hint(hint, 4711) == 17U);
    CHECK_FALSE(parse_hint(hint, 4712).has_value());
    CHECK_FALSE(parse_hint(hint + "x", 4711).has_value());
    for (size_t size = 0; size < hint.size(); size++)
        CHECK_FALSE(parse_hint(hint.substr(0, size), 4711).has_value());
}

TEST_CASE("a foreign file holds no hints", "[index_hints]")
{
    const FixtureTree run;
    run.file("index-hints",
             GENERATE(std::string(), std::string("text\n"), std::string(200000, '\0'),
                      std::string(200000, '\xff'), std::string(200000, 'x')));
    IndexHints hints(run.path(), true);
    CHECK_FALSE(hints.last().has_value());
    for (uint64_t inode = 0; inode < 1000; inode++)
        CHECK_FALSE(hints.find(inode).has_value());
    // and it is put to use
    hints.remember(1, 5);
    CHECK(hints.find(1) == 5U);
}

TEST_CASE("a spoiled entry is no hint", "[index_hints]")
{
    const FixtureTree run;
    IndexHints(run.path(), true).remember(4711, 17);
    auto bytes = run.read("index-hints");
    for (auto& byte : bytes)
        if (byte == 17)
            byte = 18;
    run.file("index-hints", bytes);
    CHECK_FALSE(IndexHints(run.path(), true).find(4711).has_value());
    CHECK_FALSE(IndexHints(run.path(), true).last().has_value());
}

TEST_CASE("a link in the place of the file is not followed", "[index_hints]")
{
    const FixtureTree run;
    run.file("victim", "");
    run.link("rdmad/index-hints", "../victim");
    IndexHints hints(run.path("rdmad"), true);
    hints.remember(1, 5);
    CHECK(run.read("victim").empty());
}
