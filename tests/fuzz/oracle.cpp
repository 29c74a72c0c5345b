// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/oracle.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace rdmad::fuzz {

namespace {

/// Two or four hexadecimal digits.
std::optional<unsigned> hex(std::string_view digits, size_t count)
{
    unsigned value = 0;
    if (digits.size() < count)
        return std::nullopt;
    const char* end = digits.data() + count;
    const auto [stop, error] = std::from_chars(digits.data(), end, value, 16);
    return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

/// A surrogate would need a partner: the project writes none.
bool append_utf8(std::string& out, unsigned code)
{
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xc0 | code >> 6);
        out += static_cast<char>(0x80 | (code & 0x3f));
    } else if (code < 0xd800 || code > 0xdfff) {
        out += static_cast<char>(0xe0 | code >> 12);
        out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
        out += static_cast<char>(0x80 | (code & 0x3f));
    } else {
        return false;
    }
    return true;
}

class JsonReader {
public:
    explicit JsonReader(std::string_view text) : text_(text) {}

    std::optional<Json> read()
    {
        if (!decode_utf8(text_) || !value(0))
            return std::nullopt;
        if (text_.find_first_not_of(" \n\r\t") != std::string_view::npos)
            return std::nullopt;
        return std::move(json_);
    }

private:
    bool take(std::string_view token)
    {
        const bool found = text_.starts_with(token);
        if (found)
            text_.remove_prefix(token.size());
        return found;
    }

    bool value(int depth)
    {
        if (depth > 8)
            return false;
        if (take("{"))
            return object(depth);
        if (take("["))
            return take("]") || array(depth);
        if (take("null") || take("true") || take("false"))
            return true;
        if (text_.starts_with('"')) {
            auto decoded = string();
            if (decoded)
                json_.strings.push_back(*decoded);
            return decoded.has_value();
        }
        return number();
    }

    bool object(int depth)
    {
        if (take("}"))
            return true;
        do {
            auto key = string();
            if (!key || !take(":") || !value(depth + 1))
                return false;
            if (depth == 0)
                json_.top_level_keys.push_back(*key);
        } while (take(","));
        return take("}");
    }

    bool array(int depth)
    {
        do {
            if (!value(depth + 1))
                return false;
        } while (take(","));
        return take("]");
    }

    /// The project writes no sign, fraction or exponent.
    bool number()
    {
        const size_t digits = std::min(text_.find_first_not_of("0123456789"), text_.size());
        if (digits == 0 || (digits > 1 && text_[0] == '0'))
            return false;
        text_.remove_prefix(digits);
        return true;
    }

    std::optional<std::string> string()
    {
        if (!take("\""))
            return std::nullopt;
        std::string out;
        while (!text_.empty()) {
            const char c = text_[0];
            text_.remove_prefix(1);
            if (c == '"')
                return out;
            if (static_cast<unsigned char>(c) < 0x20)
                return std::nullopt;
            if (c != '\\')
                out += c;
            else if (!escaped(out))
                return std::nullopt;
        }
        return std::nullopt;
    }

    bool escaped(std::string& out)
    {
        constexpr std::string_view letters = "\"\\/bfnrt";
        constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        if (text_.empty())
            return false;
        const char c = text_[0];
        text_.remove_prefix(1);
        if (const size_t i = letters.find(c); i != std::string_view::npos) {
            out += meanings[i];
            return true;
        }
        const auto code = c == 'u' ? hex(text_, 4) : std::nullopt;
        if (!code || !append_utf8(out, *code))
            return false;
        text_.remove_prefix(4);
        return true;
    }

    std::string_view text_;
    Json json_;
};

} // namespace

std::optional<std::u32string> decode_utf8(std::string_view text)
{
    constexpr std::array<char32_t, 4> smallest = {0, 0x80, 0x800, 0x10000};
    std::u32string out;
    for (size_t i = 0; i < text.size();) {
        const auto first = static_cast<unsigned char>(text[i++]);
        if (first >= 0xf8 || (first & 0xc0) == 0x80)
            return std::nullopt;
        const size_t more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
        char32_t code = more == 0 ? first : first & (0x3fU >> more);
        for (size_t j = 0; j < more; j++, i++) {
            if (i == text.size() || (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80)
                return std::nullopt;
            code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fU);
        }
        if (code < smallest[more] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
            return std::nullopt;
        out += code;
    }
    return out;
}

bool has_control_character(const std::u32string& text)
{
    return std::any_of(text.begin(), text.end(),
                       [](char32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); });
}

std::optional<std::string> unescape(std::string_view value)
{
    std::string out;
    while (!value.empty()) {
        if (value[0] != '\\') {
            out += value[0];
            value.remove_prefix(1);
            continue;
        }
        const auto byte = value.starts_with("\\x") ? hex(value.substr(2), 2) : std::nullopt;
        if (!byte)
            return std::nullopt;
        out += static_cast<char>(*byte);
        value.remove_prefix(4);
    }
    return out;
}

std::optional<Json> read_json(std::string_view text)
{
    return JsonReader(text).read();
}

} // namespace rdmad::fuzz
