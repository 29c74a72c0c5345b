// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Tables for a person. Pure.

namespace rdmad::ctl {

enum class Colour { none, green, yellow, red };

struct Cell {
    std::string text = {};
    Colour colour = Colour::none;
};

/// A column, and what to do with it where the table is wider than the terminal.
struct Column {
    std::string heading;
    bool can_shrink = false;
    int dispensable = 0;  ///< the column with the highest number goes first; 0: it stays
    size_t narrowest = 8; ///< to which it can shrink
};

struct Table {
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows = {}; ///< a cell for each column
};

/// The style of standard output.
struct Style {
    std::optional<size_t> width = {}; ///< nullopt: nothing is cut
    bool has_colour = false;
    bool has_legend = true;
};

[[nodiscard]] std::string layout(const Table& table, const Style& style);

/// Returns characters, not bytes.
[[nodiscard]] size_t width_of(std::string_view text);

[[nodiscard]] std::string coloured(const std::string& text, Colour colour, const Style& style);

} // namespace rdmad::ctl
