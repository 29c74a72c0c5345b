// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/table.hpp"

#include "core/base/text.hpp"

#include <algorithm>
#include <numeric>

namespace rdmad::ctl {

namespace {

constexpr size_t gap = 2;

/// A column that is shown, and how wide.
struct Shown {
    size_t column;
    size_t width;
};

bool begins_character(char c)
{
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80;
}

/// Returns a cell as one word, or a script would see the columns behind it shifted.
std::string shown_text(const std::string& text)
{
    std::string word;
    for (const char c : text::escape_terminal(text))
        word += c == ' ' ? "\\x20" : std::string(1, c);
    return word.empty() ? "-" : word;
}

std::string shortened(const std::string& text, size_t width)
{
    if (width_of(text) <= width)
        return text;
    size_t end = 0;
    for (size_t count = 0; end < text.size(); end++)
        if (begins_character(text[end]) && ++count == width)
            break;
    return text.substr(0, end) + "…";
}

size_t natural_width(const Table& table, size_t column, const Style& style)
{
    size_t width = style.has_legend ? width_of(table.columns[column].heading) : 1;
    for (const auto& row : table.rows)
        width = std::max(width, width_of(shown_text(row[column].text)));
    return width;
}

size_t total(const std::vector<Shown>& shown)
{
    const auto add = [](size_t sum, const Shown& one) { return sum + one.width; };
    return std::accumulate(shown.begin(), shown.end(), (shown.size() - 1) * gap, add);
}

/// Narrows the widest of the columns that can shrink, until it fits. Returns true if it does.
bool shrink(const Table& table, std::vector<Shown>& shown, size_t width)
{
    for (;;) {
        const auto sum = total(shown);
        if (sum <= width)
            return true;
        Shown* widest = nullptr;
        for (auto& one : shown)
            if (const auto& column = table.columns[one.column];
                column.can_shrink && one.width > column.narrowest &&
                (!widest || one.width > widest->width))
                widest = &one;
        if (!widest)
            return false;
        widest->width--;
    }
}

/// Leaves out the column that is missed least. Returns false if there is none.
bool drop_one(const Table& table, std::vector<Shown>& shown)
{
    const auto goes =
        std::max_element(shown.begin(), shown.end(), [&](const Shown& left, const Shown& right) {
            return table.columns[left.column].dispensable < table.columns[right.column].dispensable;
        });
    if (table.columns[goes->column].dispensable == 0)
        return false;
    shown.erase(goes);
    return true;
}

std::vector<Shown> choose(const Table& table, const Style& style)
{
    std::vector<Shown> natural;
    for (size_t i = 0; i < table.columns.size(); i++)
        natural.push_back({i, natural_width(table, i, style)});
    while (style.width) {
        auto shown = natural;
        if (shrink(table, shown, *style.width) || !drop_one(table, natural))
            return shown;
    }
    return natural;
}

std::string line(const std::vector<Shown>& shown, const std::vector<Cell>& cells,
                 const Style& style)
{
    std::string text;
    for (const auto& one : shown) {
        const auto& cell = cells[one.column];
        const auto words = shortened(shown_text(cell.text), one.width);
        text += coloured(words, cell.colour, style);
        if (&one != &shown.back())
            text.append(one.width - width_of(words) + gap, ' ');
    }
    return text + "\n";
}

} // namespace

size_t width_of(std::string_view text)
{
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string coloured(const std::string& text, Colour colour, const Style& style)
{
    if (!style.has_colour || colour == Colour::none)
        return text;
    const char* code = colour == Colour::green ? "32" : colour == Colour::red ? "31" : "33";
    return std::string("\x1b[") + code + "m" + text + "\x1b[0m";
}

std::string layout(const Table& table, const Style& style)
{
    const auto shown = choose(table, style);
    std::string text;
    if (style.has_legend) {
        std::vector<Cell> headings;
        for (const auto& column : table.columns)
            headings.push_back({column.heading});
        text += line(shown, headings, style);
    }
    for (const auto& row : table.rows)
        text += line(shown, row, style);
    return text;
}

} // namespace rdmad::ctl
