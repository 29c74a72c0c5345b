// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/ini.hpp"
#include "tests/catch.hpp"

#include <string>
#include <vector>

using namespace rdmad::config;
using namespace std::string_literals;

namespace {

using Words = std::vector<std::string>;

Ini parse(std::string_view text)
{
    return parse_ini(text, "a.link");
}

/// "[Section] Key=value" each, for short expectations.
Words assignments(const Ini& ini)
{
    Words all;
    for (const auto& assignment : ini.assignments)
        all.push_back("[" + assignment.section + "] " + assignment.key + "=" + assignment.value);
    return all;
}

/// Of a text without problems.
Words clean(std::string_view text)
{
    const auto ini = parse(text);
    CHECK(ini.problems.empty());
    return assignments(ini);
}

/// The only one there must be.
Problem problem(std::string_view text)
{
    auto ini = parse(text);
    REQUIRE(ini.problems.size() == 1);
    return ini.problems[0];
}

/// Of a list that splits.
Words words(std::string_view value)
{
    Words all;
    CHECK(split_words(value, all));
    return all;
}

} // namespace

TEST_CASE("assignments are read in their order, with their sections", "[ini]")
{
    CHECK(clean("[Match]\nDriver=mlx5_core\nHost=a\n\n[Link]\nName=storage\n[Match]\nHost=b\n") ==
          Words{"[Match] Driver=mlx5_core", "[Match] Host=a", "[Link] Name=storage",
                "[Match] Host=b"});
}

TEST_CASE("an assignment knows its place", "[ini]")
{
    const auto ini = parse_ini("\n# head\n[Link]\n\nName=storage\n", "/etc/rdmad/link.d/1.link");
    REQUIRE(ini.assignments.size() == 1);
    CHECK(ini.assignments[0].file == "/etc/rdmad/link.d/1.link");
    CHECK(ini.assignments[0].line == 5);
}

TEST_CASE("nothing gives nothing", "[ini]")
{
    const auto text = GENERATE(""s, "\n"s, "\n\n\n"s, " \t\n"s, "# only\n;comments"s, "[Link]"s,
                               "[Link]\n"s, "\\"s, "\\\n"s, "\\\n\\\n"s);
    CAPTURE(text);
    CHECK(clean(text).empty());
}

TEST_CASE("white space around a line, a key and a value is no part of them", "[ini]")
{
    CHECK(clean(" \t[Link] \n \tName \t=\t  a  b \t\n") == Words{"[Link] Name=a  b"});
}

TEST_CASE("a value begins behind the first =", "[ini]")
{
    CHECK(clean("[Match]\nProperty=A=B=C\n") == Words{"[Match] Property=A=B=C"});
}

TEST_CASE("a value may be empty", "[ini]")
{
    CHECK(clean("[Link]\nName=\nNamePolicy= \t \n") == Words{"[Link] Name=", "[Link] NamePolicy="});
    CHECK(clean("[Link]\nName=") == Words{"[Link] Name="});
}

TEST_CASE("a line that begins with # or ; is a comment", "[ini]")
{
    CHECK(clean("#[Match]\n[Link]\n;Name=a\n # Name=b\n\t;Name=c\n#\n;\nName=d\n") ==
          Words{"[Link] Name=d"});
}

TEST_CASE("a comment does not go on, and may hold any bytes", "[ini]")
{
    CHECK(clean("[Link]\n# one \\\nName=a\n# \xff \n;\0\nName=b\n"s) ==
          Words{"[Link] Name=a", "[Link] Name=b"});
    CHECK(clean("[Link]\n# \xff\0\xfe\nName=a\n"s) == Words{"[Link] Name=a"});
}

TEST_CASE("# and ; within a line begin no comment", "[ini]")
{
    CHECK(clean("[Match]\nHost=a # b ; c\n") == Words{"[Match] Host=a # b ; c"});
}

TEST_CASE("a backslash at the end of a line continues it, as a blank", "[ini]")
{
    CHECK(clean("[Link]\nNamePolicy=slot\\\npath\n") == Words{"[Link] NamePolicy=slot path"});
    CHECK(clean("[Link]\nNamePolicy=a\\\nb\\\nc\nName=d\n") ==
          Words{"[Link] NamePolicy=a b c", "[Link] Name=d"});
    CHECK(clean("[Link]\nNamePolicy=\\\nslot\n") == Words{"[Link] NamePolicy=slot"});
    CHECK(clean("[Link]\nNamePolicy\\\n=slot\n") == Words{"[Link] NamePolicy=slot"});
}

TEST_CASE("an empty line ends a continued one", "[ini]")
{
    CHECK(clean("[Link]\nNamePolicy=slot\\\n\nName=a\n") ==
          Words{"[Link] NamePolicy=slot", "[Link] Name=a"});
}

TEST_CASE("the end of the text ends a continued line", "[ini]")
{
    CHECK(clean("[Link]\nName=a\\") == Words{"[Link] Name=a"});
    CHECK(clean("[Link]\nName=a\\\n") == Words{"[Link] Name=a"});
    CHECK(clean("[Link]\nName=a\\\n# comment") == Words{"[Link] Name=a"});
}

TEST_CASE("a backslash within a line stays", "[ini]")
{
    CHECK(clean("[Match]\nHost=a\\b \\c\n") == Words{"[Match] Host=a\\b \\c"});
}

TEST_CASE("comments may stand between the parts of a continued line", "[ini]")
{
    // the example of systemd.syntax(7)
    const auto ini = parse("[Section C]\n"
                           "KeyThree=value 3\\\n"
                           "# this line is ignored\n"
                           "; this line is ignored too\n"
                           "       value 3 continued\n"
                           "After=x\n");
    CHECK(ini.problems.empty());
    CHECK(assignments(ini) ==
          Words{"[Section C] KeyThree=value 3 value 3 continued", "[Section C] After=x"});
    CHECK(ini.assignments[0].line == 2);
    CHECK(ini.assignments[1].line == 6);
}

TEST_CASE("a comment between continued lines does not go on itself", "[ini]")
{
    CHECK(clean("[Link]\nNamePolicy=slot\\\n# note \\\npath\nName=a\n") ==
          Words{"[Link] NamePolicy=slot path", "[Link] Name=a"});
}

TEST_CASE("a continued line has the number of its first", "[ini]")
{
    const auto ini = parse("[Link]\n\\\nNamePolicy=\\\n\\\nslot\nName=a\n");
    REQUIRE(ini.assignments.size() == 2);
    CHECK(ini.assignments[0].line == 2);
    CHECK(ini.assignments[1].line == 6);
    CHECK(problem("[Link]\nName \\\n\\\n a\n").line == 2);
}

TEST_CASE("a section whose name begins with X- is left out", "[ini]")
{
    CHECK(clean("[X-Site]\nName=a\nany text\nmy_key=b\n[Link]\nName=c\n[X-]\nName=d\n") ==
          Words{"[Link] Name=c"});
}

TEST_CASE("a key that begins with X- is left out", "[ini]")
{
    CHECK(clean("[Link]\nX-Owner=storage team\nName=a\nX-=b\n") == Words{"[Link] Name=a"});
}

TEST_CASE("a foreign key is left out however others spell it", "[ini]")
{
    CHECK(clean("[Link]\nX-Ticket_No=4711\n").empty());
}

TEST_CASE("only a capital X and a dash make a name foreign", "[ini]")
{
    CHECK(clean("[x-Site]\nx-Owner=a\nXOwner=b\n") ==
          Words{"[x-Site] x-Owner=a", "[x-Site] XOwner=b"});
}

TEST_CASE("a broken section header is a problem", "[ini]")
{
    const auto* header = GENERATE("[Match", "[", "[]", "[Match] x", "[Match]]x");
    CAPTURE(header);
    const auto found = problem("\n"s + header + "\n");
    CHECK(found.file == "a.link");
    CHECK(found.line == 2);
    CHECK(found.what.find(header) != std::string::npos);
}

TEST_CASE("what follows a broken header belongs to no section", "[ini]")
{
    const auto ini = parse("[Match]\nHost=a\n[Link\nName=b\n[Link]\nName=c\n");
    CHECK(assignments(ini) == Words{"[Match] Host=a", "[Link] Name=c"});
    REQUIRE(ini.problems.size() == 2);
    CHECK(ini.problems[0].line == 3);
    CHECK(ini.problems[1].line == 4);
    CHECK(ini.problems[1].key == "Name");
}

TEST_CASE("what follows a broken header within a foreign section is not foreign", "[ini]")
{
    CHECK(parse("[X-Site]\n[Link\nName=b\n").problems.size() == 2);
}

TEST_CASE("a key without a section is a problem", "[ini]")
{
    const auto found = problem("Name=a\n[Link]\n");
    CHECK(found.line == 1);
    CHECK(found.key == "Name");
    CHECK_FALSE(found.what.empty());
}

TEST_CASE("a line that is no assignment is a problem", "[ini]")
{
    const auto* line =
        GENERATE("Name", "=a", " = ", "Na me=a", "Na_me=a", "N\xc3\xa4me=a", "Name.x=a", "!Name=a");
    CAPTURE(line);
    const auto ini = parse("[Link]\nName=a\n"s + line + "\nName=b\n");
    CHECK(assignments(ini) == Words{"[Link] Name=a", "[Link] Name=b"});
    REQUIRE(ini.problems.size() == 1);
    CHECK(ini.problems[0].line == 3);
}

TEST_CASE("bytes that are not UTF-8 are a problem", "[ini]")
{
    const auto line = GENERATE("Name=\xff"s, "Name=a\xc3"s, "Name=\xc0\xaf"s, "Name=\xed\xa0\x80"s,
                               "\xff=a"s, "[Link\xff]"s);
    CAPTURE(line);
    const auto ini = parse("[Link]\n" + line + "\nName=b\n");
    CHECK(assignments(ini) == Words{"[Link] Name=b"});
    REQUIRE(ini.problems.size() == 1);
    CHECK(ini.problems[0].line == 2);
}

TEST_CASE("UTF-8 is taken as it is", "[ini]")
{
    CHECK(clean("[Link]\nDescription=B\xc3\xbcro \xe2\x82\xac\n") ==
          Words{"[Link] Description=B\xc3\xbcro \xe2\x82\xac"});
}

TEST_CASE("a NUL is a problem", "[ini]")
{
    const auto line = GENERATE("Name=a\0b"s, "\0"s, "Name=a\0"s, "\0Name=a"s, "[Li\0nk]"s);
    CAPTURE(line);
    const auto ini = parse("[Link]\n" + line + "\nName=b\n");
    CHECK(assignments(ini) == Words{"[Link] Name=b"});
    REQUIRE(ini.problems.size() == 1);
    CHECK(ini.problems[0].line == 2);
}

TEST_CASE("a message shows no control character", "[ini]")
{
    for (const auto* text : {"[Link]\n\x1b[31m\n", "[\x1b", "[Link]\n\xc2\x9b=1\n"}) {
        const auto what = problem(text).what;
        CAPTURE(what);
        CHECK(what.find('\x1b') == std::string::npos);
        CHECK(what.find('\x9b') == std::string::npos);
    }
}

TEST_CASE("lines may end as on Windows", "[ini]")
{
    const auto ini = parse("[Link]\r\n# comment\r\nNamePolicy=slot\\\r\npath\r\n\r\nName=\r\n");
    CHECK(ini.problems.empty());
    CHECK(assignments(ini) == Words{"[Link] NamePolicy=slot path", "[Link] Name="});
    CHECK(ini.assignments[1].line == 6);
}

TEST_CASE("the last line needs no end", "[ini]")
{
    CHECK(clean("[Link]\nName=a") == Words{"[Link] Name=a"});
    CHECK(problem("[Link]\nName").line == 2);
}

TEST_CASE("a text cut off anywhere still gives the lines before", "[ini]")
{
    const auto text = "[Match]\nHost=a\n# note\nDriver=b \\\n c\n[Link]\nName=d\n"s;
    for (size_t size = text.find('#'); size < text.size(); size++) {
        const auto ini = parse(text.substr(0, size));
        REQUIRE_FALSE(ini.assignments.empty());
        CHECK(assignments(ini)[0] == "[Match] Host=a");
        for (const auto& found : ini.problems)
            CHECK(found.line >= 4);
    }
}

TEST_CASE("blanks separate words", "[ini]")
{
    CHECK(words("slot path guid") == Words{"slot", "path", "guid"});
    CHECK(words("  slot \t  path\t") == Words{"slot", "path"});
    CHECK(words("one") == Words{"one"});
    CHECK(words("").empty());
    CHECK(words(" \t ").empty());
}

TEST_CASE("a quoted word may hold blanks", "[ini]")
{
    CHECK(words(R"("a b" 'c d' e)") == Words{"a b", "c d", "e"});
    CHECK(words(R"("  ")") == Words{"  "});
    CHECK(words(R"("" '')") == Words{"", ""});
}

TEST_CASE("a quote of one kind holds those of the other", "[ini]")
{
    CHECK(words(R"("it's" 'say "x"')") == Words{"it's", R"(say "x")"});
}

TEST_CASE("a backslash takes the next character as it is", "[ini]")
{
    CHECK(words(R"(a\ b c)") == Words{"a b", "c"});
    CHECK(words(R"(\"a \'b \\c)") == Words{"\"a", "'b", "\\c"});
    CHECK(words(R"("a\"b" 'c\'d')") == Words{"a\"b", "c'd"});
    CHECK(words(R"(\n)") == Words{"n"});
    // of systemd.link(5)
    CHECK(words(R"(ID_MODEL_ID=9999 "VENDOR=vendor name" "KEY=with \"quotation\"")") ==
          Words{"ID_MODEL_ID=9999", "VENDOR=vendor name", "KEY=with \"quotation\""});
}

TEST_CASE("a quote that does not end is told", "[ini]")
{
    const auto* value = GENERATE("\"", "'", "\"a", "a 'b c", R"("a\")", R"("a'b)", R"(a "b" ")");
    CAPTURE(value);
    Words ignored;
    CHECK_FALSE(split_words(value, ignored));
}

TEST_CASE("words are added to those that are there", "[ini]")
{
    Words all{"a"};
    CHECK(split_words("b c", all));
    CHECK(all == Words{"a", "b", "c"});
}

TEST_CASE("a problem's message names what is known of its place", "[ini]")
{
    CHECK(Problem{"/etc/rdmad/link.d/10-storage.link", 7, "Link", "NamePolicy",
                  "'pth' is not a naming policy"}
              .message() ==
          "/etc/rdmad/link.d/10-storage.link:7: NamePolicy: 'pth' is not a naming policy");
    CHECK(Problem{.file = "a.link", .line = 7, .what = "is broken"}.message() ==
          "a.link:7: is broken");
    CHECK(Problem{.file = "a.link", .key = "Name", .what = "is broken"}.message() ==
          "a.link: Name: is broken");
    CHECK(Problem{.file = "a.link", .what = "is broken"}.message() == "a.link: is broken");
}
