// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/text.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/oracle.hpp"

#include <algorithm>
#include <cctype>

// The input is any text, and given to all of core/base/text.hpp.

namespace rdmad::fuzz {

namespace {

void check_numbers(std::string_view input)
{
    const bool is_decimal = !input.empty() && std::all_of(input.begin(), input.end(), [](char c) {
        return isdigit(static_cast<unsigned char>(c));
    });
    uint64_t value = 0;
    for (const char c : input)
        if (is_decimal && value <= UINT32_MAX)
            value = value * 10 + static_cast<uint64_t>(c - '0');
    const auto decimal = text::parse_u32(input);
    require(decimal.has_value() == (is_decimal && value <= UINT32_MAX),
            "decimal digits up to 2^32 - 1 are a number, and nothing else");
    require(!decimal || *decimal == value, "the value of the decimal digits");

    const auto large = text::parse_u64(input);
    require(!decimal || large == *decimal, "what fits into 32 bits is the same number in 64");
    if (large) {
        const auto digits = input.find_first_not_of('0');
        const auto plain = digits == std::string_view::npos ? "0" : input.substr(digits);
        require(is_decimal && std::to_string(*large) == plain, "a number is its digits");
    }

    const bool is_hex = !input.empty() && input.size() <= 16 &&
                        std::all_of(input.begin(), input.end(),
                                    [](char c) { return isxdigit(static_cast<unsigned char>(c)); });
    const auto number = text::parse_hex_u64(input);
    require(number.has_value() == is_hex,
            "1 to 16 hexadecimal digits are a number, and nothing else");
    if (number) {
        const auto guid = text::format_guid(*number);
        require(guid.size() == 16 && text::parse_hex_u64(guid) == number, "a GUID reads back");
    }
}

void check_property(std::string_view input)
{
    constexpr std::string_view signs = "#+-.:=@_/\\";
    const auto escaped = text::escape_property(input);
    const auto characters = decode_utf8(escaped);
    require(characters && !has_control_character(*characters), "a property is printable UTF-8");
    require(std::all_of(escaped.begin(), escaped.end(),
                        [&](char c) {
                            return isalnum(static_cast<unsigned char>(c)) ||
                                   static_cast<unsigned char>(c) >= 0x80 ||
                                   signs.find(c) != std::string_view::npos;
                        }),
            "a property has no blank, line break or quote");
    require(unescape(escaped) == input, "an escaped property is the value in other words");
}

void check_terminal(std::string_view input)
{
    const auto escaped = text::escape_terminal(input);
    const auto characters = decode_utf8(escaped);
    require(characters && !has_control_character(*characters), "a terminal gets printable UTF-8");
    require(text::escape_terminal(escaped) == escaped, "what is printable is left as it is");
}

void check_json(std::string_view input)
{
    const auto json = read_json(text::quote_json(input));
    require(json && json->strings.size() == 1, "a quoted text is one JSON string");
    if (decode_utf8(input))
        require(json->strings[0] == input, "a JSON string is the text in other words");
}

void check_words(std::string_view input, char separator)
{
    const auto words = text::split(input, separator);
    std::string letters;
    const char* end = input.data();
    for (const auto word : words) {
        require(!word.empty() && word.find(separator) == std::string_view::npos,
                "words are not empty and hold no separator");
        require(word.data() >= end, "words come in order and are parts of the text");
        end = word.data() + word.size();
        letters += word;
    }
    std::string expected(input);
    expected.erase(std::remove(expected.begin(), expected.end(), separator), expected.end());
    require(letters == expected, "words are all of the text but the separators");
}

void check_trim(std::string_view input)
{
    const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    auto expected = input;
    while (!expected.empty() && is_blank(expected.front()))
        expected.remove_prefix(1);
    while (!expected.empty() && is_blank(expected.back()))
        expected.remove_suffix(1);
    require(text::trim(input) == expected, "trim() takes blanks off both ends");
}

} // namespace

void run_one(std::string_view input)
{
    require(text::is_utf8(input) == decode_utf8(input).has_value(), "UTF-8 is UTF-8");
    check_numbers(input);
    check_property(input);
    check_terminal(input);
    check_json(input);
    for (const char separator : {' ', '\n', input.empty() ? '\0' : input.front()})
        check_words(input, separator);
    check_trim(input);
}

} // namespace rdmad::fuzz
