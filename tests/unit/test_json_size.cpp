// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/json_size.hpp"
#include "tests/catch.hpp"

#include <string>

using namespace rdmad;

TEST_CASE("the size of JSON is known before a tree is made of it", "[json_size]")
{
    struct Row {
        std::string text;
        size_t depth;
        size_t values;
    };
    const auto row = GENERATE(values<Row>({
        {"", 0, 0},
        {"7", 0, 0},
        {"[]", 1, 1},
        {"[1,2,3]", 1, 3},
        {R"({"a":[1,{"b":2}],"c":3})", 3, 5},
        // an empty list might have had a value
        {"[[],[[]]]", 3, 5},
        // in a string nothing counts, and a quote may be escaped
        {R"("[[,")", 0, 0},
        {R"(["\"[[,","\\"])", 1, 2},
        {R"(["\\",[)", 2, 3},
        // what is no JSON
        {"]]]][[", 2, 2},
        {"[}[", 1, 2},
        {std::string(1000, '['), 1000, 1000},
    }));
    INFO(row.text);
    const auto size = size_of_json(row.text);
    CHECK(size.depth == row.depth);
    CHECK(size.values == row.values);
}
