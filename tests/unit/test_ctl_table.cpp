// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/text.hpp"
#include "ctl/table.hpp"
#include "tests/catch.hpp"

#include <algorithm>

using namespace rdmad::ctl;
using rdmad::text::split;

namespace {

Table example()
{
    return {.columns = {{"NAME"}, {"PATH", true, 2}, {"DRIVER", true, 1}, {"UNITS", true}},
            .rows = {{{"mlx5_0"}, {"pci-0000:c1:00.0"}, {"mlx5_core"}, {"a.service,b.service"}},
                     {{"siw0"}, {}, {}, {}}}};
}

size_t widest(const std::string& text)
{
    size_t width = 0;
    for (const auto line : split(text, '\n'))
        width = std::max(width, width_of(line));
    return width;
}

} // namespace

TEST_CASE("columns are as wide as what is in them, and nothing stands behind the last", "[table]")
{
    CHECK(layout(example(), {}) == "NAME    PATH              DRIVER     UNITS\n"
                                   "mlx5_0  pci-0000:c1:00.0  mlx5_core  a.service,b.service\n"
                                   "siw0    -                 -          -\n");
    CHECK(layout(example(), {.has_legend = false}).starts_with("mlx5_0  pci-"));
}

TEST_CASE("a table that fits its terminal stays as it is", "[table]")
{
    CHECK(layout(example(), {.width = 56}) == layout(example(), {}));
}

TEST_CASE("the widest column shrinks first", "[table]")
{
    CHECK(layout(example(), {.width = 50}) == "NAME    PATH            DRIVER     UNITS\n"
                                              "mlx5_0  pci-0000:c1:0…  mlx5_core  a.service,b.se…\n"
                                              "siw0    -               -          -\n");
}

TEST_CASE("a column that is missed least goes where shrinking is not enough", "[table]")
{
    CHECK(layout(example(), {.width = 30}) == "NAME    DRIVER     UNITS\n"
                                              "mlx5_0  mlx5_core  a.service,…\n"
                                              "siw0    -          -\n");
    CHECK(layout(example(), {.width = 20}) == "NAME    UNITS\n"
                                              "mlx5_0  a.service,b…\n"
                                              "siw0    -\n");
}

TEST_CASE("no width is too small, and none is overrun if it can be helped", "[table]")
{
    for (size_t width = 0; width < 70; width++) {
        const auto text = layout(example(), {.width = width});
        CHECK(split(text, '\n').size() == 3);
        CHECK(text.find("mlx5_0") != std::string::npos);
        CHECK(widest(text) <= std::max<size_t>(width, 16));
    }
}

TEST_CASE("a table without rows has headings, or nothing", "[table]")
{
    auto table = example();
    table.rows.clear();
    CHECK(layout(table, {}) == "NAME  PATH  DRIVER  UNITS\n");
    CHECK(layout(table, {.has_legend = false}).empty());
}

TEST_CASE("characters count, not bytes, and none is cut apart", "[table]")
{
    Table table{.columns = {{"A", true}, {"B"}},
                .rows = {{{"ééééééééééééé"}, {"b"}}, {{"x"}, {"b"}}}};
    CHECK(layout(table, {.has_legend = false}) == "ééééééééééééé  b\nx              b\n");
    CHECK(layout(table, {.width = 13, .has_legend = false}) == "ééééééééé…  b\nx           b\n");
}

TEST_CASE("what steers a terminal is escaped before it is measured", "[table]")
{
    Table table{.columns = {{"A"}, {"B"}}, .rows = {{{"\x1b["}, {"b"}}, {{"12345"}, {"b"}}}};
    CHECK(layout(table, {.has_legend = false}) == "\\x1b[  b\n12345  b\n");
}

TEST_CASE("a cell is one word", "[table]")
{
    Table table{.columns = {{"A"}, {"B"}}, .rows = {{{"a b"}, {""}}}};
    CHECK(layout(table, {.has_legend = false}) == "a\\x20b  -\n");
}

TEST_CASE("colour is around the text, not the blanks", "[table]")
{
    Table table{.columns = {{"A"}, {"B"}}, .rows = {{{"up", Colour::green}, {"b", Colour::red}}}};
    CHECK(layout(table, {.has_colour = true, .has_legend = false}) ==
          "\x1b[32mup\x1b[0m  \x1b[31mb\x1b[0m\n");
    CHECK(layout(table, {.has_legend = false}) == "up  b\n");
}

TEST_CASE("a column goes before another one becomes too narrow to be told", "[table]")
{
    auto table = example();
    table.columns[3].narrowest = 16;
    CHECK(layout(table, {.width = 42}) == "NAME    DRIVER     UNITS\n"
                                          "mlx5_0  mlx5_core  a.service,b.service\n"
                                          "siw0    -          -\n");
    CHECK(widest(layout(table, {.width = 24})) == 24);
}
