// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/text.hpp"
#include "tests/catch.hpp"

#include <cstdio>
#include <cstring>
#include <string>

using namespace rdmad;
using namespace std::string_literals;

namespace {

bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string hex_escape(int byte)
{
    char text[5];
    snprintf(text, sizeof text, "\\x%02x", static_cast<unsigned>(byte));
    return text;
}

} // namespace

TEST_CASE("a decimal number is taken whole or not at all", "[text]")
{
    CHECK(text::parse_u32("0") == 0U);
    CHECK(text::parse_u32("17") == 17U);
    CHECK(text::parse_u32("4294967295") == 4294967295U);

    const auto* bad = GENERATE("", " ", "-1", "+1", " 1", "1 ", "1\n", "4294967296",
                               "99999999999999999999", "0x1", "1a", "a");
    CAPTURE(bad);
    CHECK_FALSE(text::parse_u32(bad).has_value());
}

TEST_CASE("a number with an embedded NUL is none", "[text]")
{
    CHECK_FALSE(text::parse_u32("1\0"s).has_value());
    CHECK_FALSE(text::parse_hex_u64("1\0"s).has_value());
}

TEST_CASE("a hexadecimal number has no prefix, sign or blank", "[text]")
{
    CHECK(text::parse_hex_u64("0") == 0U);
    CHECK(text::parse_hex_u64("0002c90300000a01") == UINT64_C(0x0002c90300000a01));
    CHECK(text::parse_hex_u64("ffffffffffffffff") == ~UINT64_C(0));
    CHECK(text::parse_hex_u64("FF") == 255U);

    const auto* bad = GENERATE("", "0x1", "-1", "+1", " 1", "1 ", "g", "10000000000000000",
                               "00000000000000001", "0002:c903");
    CAPTURE(bad);
    CHECK_FALSE(text::parse_hex_u64(bad).has_value());
}

TEST_CASE("a GUID is printed with 16 lower-case digits", "[text]")
{
    CHECK(text::format_guid(0) == "0000000000000000");
    CHECK(text::format_guid(UINT64_C(0x0002c90300000a01)) == "0002c90300000a01");
    CHECK(text::format_guid(UINT64_C(0x506B4B0300A1B2C3)) == "506b4b0300a1b2c3");
    CHECK(text::format_guid(~UINT64_C(0)) == "ffffffffffffffff");
}

TEST_CASE("UTF-8 of RFC 3629 is recognised", "[text]")
{
    // the borders of the table in section 4
    const auto good = GENERATE(""s, "a"s, "\0"s, "\x7f"s, "\xc2\x80"s, "\xdf\xbf"s, "\xe0\xa0\x80"s,
                               "\xed\x9f\xbf"s, "\xee\x80\x80"s, "\xef\xbf\xbf"s,
                               "\xf0\x90\x80\x80"s, "\xf4\x8f\xbf\xbf"s,
                               "a\xe2\x82\xac"
                               "b"s);
    CAPTURE(good);
    CHECK(text::is_utf8(good));
}

TEST_CASE("what is not UTF-8 is told apart", "[text]")
{
    // lone tail, overlong forms, surrogate, beyond U+10FFFF, cut off
    const auto bad =
        GENERATE("\x80"s, "\xbf"s, "\xc0\x80"s, "\xc1\xbf"s, "\xe0\x80\x80"s, "\xe0\x9f\xbf"s,
                 "\xed\xa0\x80"s, "\xed\xbf\xbf"s, "\xf0\x80\x80\x80"s, "\xf0\x8f\xbf\xbf"s,
                 "\xf4\x90\x80\x80"s, "\xf5\x80\x80\x80"s, "\xff"s, "\xfe"s, "\xc2"s, "\xe2\x82"s,
                 "\xf0\x90\x80"s,
                 "\xc2"
                 "a"s,
                 "\xe2\x82"
                 "a"s,
                 "ok\xff"s);
    CAPTURE(bad);
    CHECK_FALSE(text::is_utf8(bad));
}

TEST_CASE("white space is trimmed at both ends only", "[text]")
{
    CHECK(text::trim("4: ACTIVE\n") == "4: ACTIVE");
    CHECK(text::trim(" \t\r\nx y\r\n ") == "x y");
    CHECK(text::trim("").empty());
    CHECK(text::trim(" \n").empty());
}

TEST_CASE("splitting gives the words without the empty ones", "[text]")
{
    using Words = std::vector<std::string_view>;
    CHECK(text::split("17 1 umad0", ' ') == Words{"17", "1", "umad0"});
    CHECK(text::split("  a   b ", ' ') == Words{"a", "b"});
    CHECK(text::split("", ' ').empty());
    CHECK(text::split("   ", ' ').empty());
    CHECK(text::split("one", ' ') == Words{"one"});
}

TEST_CASE("each single byte of a property is safe or escaped", "[text]")
{
    for (int byte = 0; byte < 256; byte++) {
        const std::string value(1, static_cast<char>(byte));
        const bool is_safe =
            byte != 0 && (is_plain(value[0]) || strchr("#+-.:=@_/", byte) != nullptr);
        CAPTURE(byte);
        CHECK(text::escape_property(value) == (is_safe ? value : hex_escape(byte)));
    }
}

TEST_CASE("a property keeps valid UTF-8 and escapes each byte of the rest", "[text]")
{
    CHECK(text::escape_property("\xe2\x82\xac") == "\xe2\x82\xac");
    CHECK(text::escape_property("\xc3\xa4\xff\xc3") == "\xc3\xa4\\xff\\xc3");
    // NEL, a line break to some
    CHECK(text::escape_property("\xc2\x85") == "\\xc2\\x85");
    // an overlong line break
    CHECK(text::escape_property("\xc0\x8a") == "\\xc0\\x8a");
    CHECK(text::escape_property("a b\n") == "a\\x20b\\x0a");
    CHECK(text::escape_property("").empty());
}

TEST_CASE("text that looks escaped is escaped again", "[text]")
{
    CHECK(text::escape_property("\\x20") == "\\x5cx20");
}

TEST_CASE("a terminal gets no control character", "[text]")
{
    CHECK(text::escape_terminal("\x1b[31mred\r\n") == "\\x1b[31mred\\x0d\\x0a");
    CHECK(text::escape_terminal("\xc2\x9b"
                                "31m") == "\\xc2\\x9b31m");
    CHECK(text::escape_terminal("\x7f") == "\\x7f");
    CHECK(text::escape_terminal("node 1 \xe2\x82\xac '\"") == "node 1 \xe2\x82\xac '\"");
    CHECK(text::escape_terminal("\xff") == "\\xff");
    CHECK(text::escape_terminal("\0"s) == "\\x00");
}

TEST_CASE("no character turns a line round or breaks it", "[text]")
{
    // LRM, RLM, LINE and PARAGRAPH SEPARATOR, the embeddings, the isolates
    const auto* character =
        GENERATE("\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202e", "\u2066", "\u2069");
    const auto escaped = text::escape_terminal(character);
    CHECK(escaped.size() == 12);
    CHECK(escaped.starts_with("\\xe2\\x8"));
    CHECK(text::escape_property(character) == escaped);
    for (const auto* neighbour :
         {"\u061b", "\u061d", "\u200d", "\u2010", "\u2027", "\u202f", "\u2065", "\u206a"}) {
        CHECK(text::escape_terminal(neighbour) == neighbour);
        CHECK(text::quote_json(neighbour) == "\"" + std::string(neighbour) + "\"");
    }
    // ALM
    CHECK(text::escape_terminal("\u061c") == "\\xd8\\x9c");
}

TEST_CASE("a JSON string escapes what RFC 8259 wants escaped", "[text]")
{
    CHECK(text::quote_json("") == "\"\"");
    CHECK(text::quote_json("mlx5_0") == "\"mlx5_0\"");
    CHECK(text::quote_json("a\"b\\c") == "\"a\\\"b\\\\c\"");
    CHECK(text::quote_json("\n\x1f\0"s) == "\"\\u000a\\u001f\\u0000\"");
    CHECK(text::quote_json("\xe2\x82\xac") == "\"\xe2\x82\xac\"");
    // CSI of C1, and what turns a line round
    CHECK(text::quote_json("\xc2\x9b\x7f\u202e\u061c") == R"("\u009b\u007f\u202e\u061c")");
}

TEST_CASE("a JSON string is always UTF-8", "[text]")
{
    CHECK(text::quote_json("a\xff"
                           "b") == "\"a\xef\xbf\xbd"
                                   "b\"");
    for (int first = 0; first < 256; first++)
        for (int second = 0; second < 256; second += 5)
            if (!text::is_utf8(text::quote_json(
                    std::string{static_cast<char>(first), static_cast<char>(second)})))
                FAIL_CHECK("not UTF-8: " << first << " " << second);
}

TEST_CASE("a hash is FNV-1a, in every build", "[text]")
{
    // from the tables of the specification's authors
    CHECK(text::stable_hash("") == UINT64_C(0xcbf29ce484222325));
    CHECK(text::stable_hash("a") == UINT64_C(0xaf63dc4c8601ec8c));
    CHECK(text::stable_hash("foobar") == UINT64_C(0x85944171f73967e8));
    // by the rule: each byte is xored, then multiplied by the prime, as a number without a sign
    CHECK(text::stable_hash("\xff") ==
          (UINT64_C(0xcbf29ce484222325) ^ 0xff) * UINT64_C(0x100000001b3));
}

TEST_CASE("words are joined", "[text]")
{
    using List = std::vector<std::string>;
    CHECK(text::join(List{}, ", ").empty());
    CHECK(text::join(List{"a"}, ", ") == "a");
    CHECK(text::join(List{"a", "b", "c"}, ", ") == "a, b, c");
}

TEST_CASE("an enumerator is found by its whole name", "[text]")
{
    enum class Colour { red, green };
    constexpr std::array<std::string_view, 2> names = {"red", "green"};
    CHECK(text::find_name<Colour>(names, "red") == Colour::red);
    CHECK(text::find_name<Colour>(names, "green") == Colour::green);
    for (const auto* other : {"", "re", "redgreen", "Red"})
        CHECK_FALSE(text::find_name<Colour>(names, other).has_value());
}
