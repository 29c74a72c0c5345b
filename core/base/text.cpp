// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace rdmad::text {

namespace {

constexpr char hex_digits[] = "0123456789abcdef";

template <typename T>
std::optional<T> parse_all(std::string_view text, int base)
{
    T value;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

/// Returns the length in bytes of the UTF-8 sequence that the text starts with, 0 if it is not
/// valid. Overlong forms, surrogates and what lies beyond U+10FFFF are not (RFC 3629, section 4).
size_t utf8_length(std::string_view text)
{
    const auto byte = [&](size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const auto between = [&](size_t i, unsigned low, unsigned high) {
        return byte(i) >= low && byte(i) <= high;
    };
    const auto tail = [&](size_t i) { return between(i, 0x80, 0xbf); };

    const unsigned first = byte(0);
    if (first < 0x80)
        return text.empty() ? 0 : 1;
    if (first >= 0xc2 && first <= 0xdf)
        return tail(1) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) {
        const unsigned low = first == 0xe0 ? 0xa0 : 0x80;
        const unsigned high = first == 0xed ? 0x9f : 0xbf;
        return between(1, low, high) && tail(2) ? 3 : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        const unsigned low = first == 0xf0 ? 0x90 : 0x80;
        const unsigned high = first == 0xf4 ? 0x8f : 0xbf;
        return between(1, low, high) && tail(2) && tail(3) ? 4 : 0;
    }
    return 0;
}

/// Returns the code point of a character of valid UTF-8.
char32_t code_point(std::string_view character)
{
    constexpr std::array<unsigned char, 5> masks = {0, 0x7f, 0x1f, 0x0f, 0x07};
    char32_t code = static_cast<unsigned char>(character[0]) & masks.at(character.size());
    for (const char c : character.substr(1))
        code = code << 6 | (static_cast<unsigned char>(c) & 0x3fU);
    return code;
}

/// Returns false for controls, also C1 (U+0080 to U+009F), which a terminal may obey, and for what
/// breaks or turns round a line.
bool is_printable(std::string_view character)
{
    const auto code = code_point(character);
    const auto between = [code](char32_t first, char32_t last) {
        return code >= first && code <= last;
    };
    return !between(0, 0x1f) && !between(0x7f, 0x9f) && code != 0x61c && !between(0x200e, 0x200f) &&
           !between(0x2028, 0x202e) && !between(0x2066, 0x2069);
}

void append_hex(std::string& out, char c)
{
    const auto byte = static_cast<unsigned char>(c);
    out += "\\x";
    out += hex_digits[byte >> 4];
    out += hex_digits[byte & 0xf];
}

/// Copies the characters that pass; every byte of the others becomes \xNN.
template <typename Passes>
std::string escape(std::string_view value, Passes passes)
{
    std::string out;
    out.reserve(value.size());
    while (!value.empty()) {
        const size_t length = utf8_length(value);
        const auto character = value.substr(0, std::max<size_t>(length, 1));
        if (length > 0 && passes(character))
            out += character;
        else
            for (const char c : character)
                append_hex(out, c);
        value.remove_prefix(character.size());
    }
    return out;
}

} // namespace

std::optional<uint32_t> parse_u32(std::string_view text)
{
    return parse_all<uint32_t>(text, 10);
}

std::optional<uint64_t> parse_u64(std::string_view text)
{
    return parse_all<uint64_t>(text, 10);
}

std::optional<uint64_t> parse_hex_u64(std::string_view text)
{
    // from_chars() takes any number of leading zeroes
    return text.size() <= 16 ? parse_all<uint64_t>(text, 16) : std::nullopt;
}

std::string format_guid(uint64_t guid)
{
    std::string out(16, '0');
    for (size_t i = 16; i-- > 0; guid >>= 4)
        out[i] = hex_digits[guid & 0xf];
    return out;
}

bool is_utf8(std::string_view text)
{
    while (!text.empty()) {
        const size_t length = utf8_length(text);
        if (length == 0)
            return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string_view trim(std::string_view text)
{
    constexpr std::string_view blanks = " \t\r\n";
    const size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator)
{
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const auto word = text.substr(0, text.find(separator));
        if (!word.empty())
            words.push_back(word);
        text.remove_prefix(std::min(word.size() + 1, text.size()));
    }
    return words;
}

std::string escape_property(std::string_view value)
{
    return escape(value, [](std::string_view character) {
        const char c = character[0];
        return (character.size() > 1 && is_printable(character)) || (c >= '0' && c <= '9') ||
               (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               (c != '\0' && strchr("#+-.:=@_/", c));
    });
}

std::string escape_terminal(std::string_view value)
{
    return escape(value, is_printable);
}

std::string quote_json(std::string_view value)
{
    std::string out = "\"";
    while (!value.empty()) {
        const size_t length = utf8_length(value);
        const auto character = value.substr(0, std::max<size_t>(length, 1));
        const char c = character[0];
        if (length == 0) {
            out += "\xef\xbf\xbd";
        } else if (!is_printable(character)) {
            // none is beyond U+FFFF
            const auto code = code_point(character);
            out += "\\u";
            for (const int shift : {12, 8, 4, 0})
                out += hex_digits[code >> shift & 0xf];
        } else {
            if (c == '"' || c == '\\')
                out += '\\';
            out += character;
        }
        value.remove_prefix(character.size());
    }
    return out += '"';
}

uint64_t stable_hash(std::string_view text)
{
    uint64_t value = 14695981039346656037ULL;
    for (const char c : text)
        value = (value ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return value;
}

} // namespace rdmad::text
