// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/systemd/anchor.hpp"
#include "tests/catch.hpp"

#include <set>
#include <vector>

using namespace rdmad::systemd;
using namespace std::string_literals;

namespace {

/// slice_name_is_valid() and unit_name_is_valid() of systemd, as far as our names go: a slice below
/// "rdmad.slice", whose own part has no "-".
bool is_slice_below_rdmad(const std::string& name)
{
    constexpr std::string_view prefix = "rdmad-";
    constexpr std::string_view suffix = ".slice";
    if (name.size() > 255 || !name.starts_with(prefix) || !name.ends_with(suffix))
        return false;
    const auto part = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    return !part.empty() &&
           part.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789:_.\\") == std::string::npos;
}

/// Each "\" begins "\xNN".
bool has_whole_escapes(const std::string& name)
{
    for (size_t at = name.find('\\'); at != std::string::npos; at = name.find('\\', at + 1))
        if (name.size() < at + 4 || name[at + 1] != 'x' ||
            name.find_first_not_of("0123456789abcdef", at + 2) < at + 4)
            return false;
    return true;
}

/// Names of units, some of which would be one if something were left out or escaped twice.
std::vector<std::string> units()
{
    std::vector<std::string> units = {"a.service",
                                      "a.target",
                                      "-.slice",
                                      "-.mount",
                                      "a-b.service",
                                      "a\\x2db.service",
                                      "a\\x5cx2db.service",
                                      "a--b.service",
                                      "ab.service",
                                      "a_b.service",
                                      "a@b.service",
                                      "a@.b.service",
                                      "a@b@c.service",
                                      "a:1.service",
                                      "a:1:umad0.service",
                                      "a.service:1.service",
                                      ".service.service",
                                      "A.service",
                                      "a\\.service",
                                      "srp@mlx5_0:1.service"};
    // as long as a unit's name may be, of plain letters, of such that are escaped, and of both
    for (const auto letter : {'a', '-', '\\', '@'})
        for (const size_t size : {200U, 220U, 246U, 247U})
            units.push_back(std::string(size, letter) + ".service");
    for (size_t plain = 200; plain < 240; plain++) {
        units.push_back(std::string(plain, 'a') + std::string(247 - plain, '-') + ".service");
        units.push_back(std::string(plain, 'b') + "-" + std::string(246 - plain, 'b') + ".service");
    }
    return units;
}

} // namespace

TEST_CASE("the name of an anchor is that of what it ties", "[anchor]")
{
    CHECK(anchor_name("srp_daemon.service", {7, "uverbs0", 23456789}) ==
          "rdmad-srp_daemon.service:7.23456789:uverbs0.slice");
    CHECK(anchor_name("srp-daemon@mlx5_0:1.service", {12, "umad3"}) ==
          "rdmad-srp\\x2ddaemon\\x40mlx5_0:1.service:12:umad3.slice");
    CHECK(anchor_name("a\\x2db.service", {0, "issm0"}, "50-a.binding") ==
          "rdmad-a\\x5cx2db.service:0:issm0:50\\x2da.binding.slice");
    CHECK(group_name("a.service", "50-a.binding") == "rdmad-a.service:any:50\\x2da.binding.slice");
}

TEST_CASE("a unit that is just short enough is kept, and of a longer one the end is a hash",
          "[anchor]")
{
    // 255 bytes less "rdmad-" and ".slice", less ".service:7:uverbs0"
    const std::string fits(255 - 12 - 18, 'a');
    CHECK(anchor_name(fits + ".service", {7, "uverbs0"}) ==
          "rdmad-" + fits + ".service:7:uverbs0.slice");
    const auto longer = anchor_name(fits + "a.service", {7, "uverbs0"});
    CHECK(longer.size() == 255);
    // ":" and 16 digits take the place of the unit's end
    const std::string tail = ":7:uverbs0.slice";
    CHECK(longer.starts_with("rdmad-" + fits.substr(0, 255 - 6 - 17 - tail.size())));
    CHECK(longer.ends_with(tail));
    const auto hash = longer.substr(255 - tail.size() - 17, 17);
    CHECK(hash[0] == ':');
    CHECK(hash.find_first_not_of("0123456789abcdef", 1) == std::string::npos);
}

TEST_CASE("the name of an anchor is one of a slice, and no other anchor's", "[anchor]")
{
    std::set<std::string> seen;
    const auto check = [&](const std::string& name) {
        CAPTURE(name);
        CHECK(is_slice_below_rdmad(name));
        CHECK(has_whole_escapes(name));
        CHECK(seen.insert(name).second);
    };
    for (const auto& unit : units()) {
        for (const uint32_t index : {0U, 1U, 11U, 4294967295U})
            for (const auto* node : {"uverbs0", "uverbs1", "umad1", "issm11"})
                for (const uint64_t born : {UINT64_C(0), UINT64_C(1), UINT64_MAX})
                    for (const auto* group : {"", "50-a.binding", "50_a.binding"})
                        check(anchor_name(unit, {index, node, born}, group));
        for (const auto* binding : {"50-a.binding", "50_a.binding"})
            check(group_name(unit, binding));
    }
}

TEST_CASE("any bytes make a name of a slice", "[anchor]")
{
    for (int byte = 0; byte < 256; byte++) {
        const auto name = anchor_name("a"s + static_cast<char>(byte) + "b", {1, "uverbs0"});
        CAPTURE(byte, name);
        CHECK(is_slice_below_rdmad(name));
        CHECK(has_whole_escapes(name));
    }
}

TEST_CASE("an anchor's name tells its node and its group, whatever the unit is called", "[anchor]")
{
    const std::string unit = GENERATE("a.service", "a:any:b.service", "x:7:uverbs0.service",
                                      "a-b@c\\x2dd.service", ":umad3:.service");
    const rdmad::NodeId one = {12, "uverbs3",
                               GENERATE(UINT64_C(0), UINT64_C(23456789), UINT64_MAX)};
    const auto plain = parse_anchor_name(anchor_name(unit, one));
    REQUIRE(plain);
    CHECK(plain->node == one);
    CHECK(plain->group.empty());
    const rdmad::NodeId other = {4, "umad0", one.born};
    const auto member = parse_anchor_name(anchor_name(unit, other, "50-a.binding"));
    REQUIRE(member);
    CHECK(member->node == other);
    CHECK(member->group == group_name(unit, "50-a.binding"));
}

TEST_CASE("names of groups and keepers are those of no node", "[anchor]")
{
    CHECK_FALSE(parse_anchor_name(group_name("a.service", "50-a.binding")));
    CHECK_FALSE(parse_anchor_name(keeper_name("a.service")));
    CHECK_FALSE(parse_anchor_name("rdmad-.slice"));
    CHECK_FALSE(parse_anchor_name("rdmad-a:b:uverbs0.slice"));
    CHECK_FALSE(parse_anchor_name("a:1:uverbs0.slice"));
    for (const auto* part : {"1.", ".1", "1.x", "1.2.3", "1.-2", "1.18446744073709551616"})
        CHECK_FALSE(parse_anchor_name("rdmad-a:"s + part + ":uverbs0.slice"));
    CHECK(keeper_name("a.service").ends_with(keeper_suffix));
}
