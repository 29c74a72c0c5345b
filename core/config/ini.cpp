// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/ini.hpp"

#include "core/base/text.hpp"

#include <algorithm>
#include <utility>

namespace rdmad::config {

namespace {

constexpr std::string_view blanks = " \t\r";

bool is_comment(std::string_view line)
{
    return line.starts_with('#') || line.starts_with(';');
}

bool is_foreign(std::string_view name)
{
    return name.starts_with("X-");
}

bool is_key(std::string_view key)
{
    return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               c == '-';
    });
}

class Parser {
public:
    explicit Parser(const std::string& file) : file_(file) {}

    void take(std::string_view line)
    {
        number_++;
        line = text::trim(line);
        // a comment may stand between the parts of a continued line
        if (is_comment(line))
            return;
        if (logical_.empty())
            first_ = number_;
        const bool goes_on = line.ends_with('\\');
        logical_ += goes_on ? line.substr(0, line.size() - 1) : line;
        if (goes_on)
            logical_ += ' ';
        else
            finish();
    }

    Ini end()
    {
        finish();
        return std::move(ini_);
    }

private:
    void finish()
    {
        const std::string line = std::exchange(logical_, {});
        const auto text = text::trim(line);
        if (text.empty())
            return;
        if (is_foreign(section_) && !text.starts_with('['))
            return;
        if (text.find('\0') != std::string_view::npos || !text::is_utf8(text))
            return report({}, "holds bytes that are not UTF-8 text");
        if (text.starts_with('['))
            return take_section(text);
        take_assignment(text);
    }

    void take_section(std::string_view text)
    {
        // what follows a broken header belongs to no section
        section_.clear();
        if (!text.ends_with(']') || text.size() < 3)
            return report({}, "'" + text::escape_terminal(text) + "' is not a [Section] header");
        section_ = text.substr(1, text.size() - 2);
    }

    void take_assignment(std::string_view text)
    {
        if (is_foreign(text))
            return;
        const auto equals = text.find('=');
        const auto key = text::trim(text.substr(0, equals));
        if (equals == std::string_view::npos || !is_key(key))
            return report({}, "'" + text::escape_terminal(text) + "' is not Key=Value");
        if (section_.empty())
            return report(key, "comes before any [Section]");
        ini_.assignments.push_back({.section = section_,
                                    .key = std::string(key),
                                    .value = std::string(text::trim(text.substr(equals + 1))),
                                    .file = file_,
                                    .line = first_});
    }

    void report(std::string_view key, std::string what)
    {
        ini_.problems.push_back({.file = file_,
                                 .line = first_,
                                 .section = section_,
                                 .key = std::string(key),
                                 .what = std::move(what)});
    }

    const std::string& file_;
    Ini ini_;
    std::string section_;
    std::string logical_;
    uint32_t number_ = 0;
    uint32_t first_ = 0;
};

} // namespace

std::string Problem::message() const
{
    return file + (line > 0 ? ":" + std::to_string(line) : "") + ": " +
           (key.empty() ? "" : key + ": ") + what;
}

Ini parse_ini(std::string_view text, const std::string& file)
{
    // as systemd's parser skips it
    if (constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
        text.starts_with(byte_order_mark))
        text.remove_prefix(byte_order_mark.size());
    Parser parser(file);
    while (!text.empty()) {
        const auto end = text.find('\n');
        parser.take(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return parser.end();
}

bool split_words(std::string_view value, std::vector<std::string>& words)
{
    std::string word;
    bool in_word = false;
    char quote = 0;
    for (size_t i = 0; i < value.size(); i++) {
        const char c = value[i];
        if (c == '\\' && i + 1 < value.size()) {
            word += value[++i];
            in_word = true;
        } else if (quote != 0 ? c == quote : (c == '"' || c == '\'')) {
            quote = quote != 0 ? '\0' : c;
            in_word = true;
        } else if (quote == 0 && blanks.find(c) != std::string_view::npos) {
            if (in_word)
                words.push_back(std::exchange(word, {}));
            in_word = false;
        } else {
            word += c;
            in_word = true;
        }
    }
    if (in_word)
        words.push_back(std::move(word));
    return quote == 0;
}

std::string quote_word(std::string_view text)
{
    std::string word;
    for (const char c : text) {
        if (std::string_view("\\\"' \t").find(c) != std::string_view::npos)
            word += '\\';
        word += c;
    }
    return word;
}

} // namespace rdmad::config
