// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/link_file.hpp"
#include "tests/catch.hpp"
#include "tests/support/fixture_tree.hpp"

#include <string>
#include <vector>

using namespace rdmad::config;
using namespace rdmad::naming;
using namespace std::string_literals;

namespace {

using Policies = std::vector<Policy>;

const std::string path = "/etc/rdmad/link.d/10-storage.link";
const std::string match_all = "[Match]\nOriginalName=*\n";

/// A file and its drop-ins, as read_files() gives them.
LinkFile parse(const std::string& text, const std::vector<std::string>& drop_ins = {})
{
    File file{.name = "10-storage.link", .path = path};
    const auto add = [&](const std::string& content, const std::string& where) {
        const auto ini = parse_ini(content, where);
        file.assignments.insert(file.assignments.end(), ini.assignments.begin(),
                                ini.assignments.end());
        file.problems.insert(file.problems.end(), ini.problems.begin(), ini.problems.end());
    };
    add(text, path);
    for (const auto& drop_in : drop_ins)
        add(drop_in, path + ".d/x.conf");
    return parse_link(file);
}

/// With a [Match] for all devices; lines stand in [Link], from line 4 on.
LinkFile parse_lines(const std::string& lines)
{
    return parse(match_all + "[Link]\n" + lines);
}

/// Of a file that is sound but for this.
Problem problem(const std::string& lines)
{
    const auto link = parse_lines(lines);
    CHECK(link.is_match_sound);
    REQUIRE(link.problems.size() == 1);
    return link.problems[0];
}

const Specifiers all_told{.original_name = "mlx5_0",
                          .driver = "mlx5_core",
                          .prefix = "ib",
                          .link_type = "infiniband",
                          .node_guid = "506b4b0300a1b2c3",
                          .port_guid = "506b4b0300a1b2c4",
                          .netdev = "ibs1",
                          .port_label = "p0"};

} // namespace

TEST_CASE("a file with all keys of [Link] is understood", "[link_file]")
{
    const auto link = parse_lines("Description=all that there is\n"
                                  "NamePolicy=keep kernel netdev onboard slot path guid\n"
                                  "Name=storage-%k\n"
                                  "NamingScheme=v1\n"
                                  "PortLabel=yes\n"
                                  "IPoIBName=yes\n");
    CHECK(link.problems.empty());
    CHECK(link.is_match_sound);
    CHECK(link.path == path);
    CHECK(link.policies == Policies{Policy::keep, Policy::kernel, Policy::netdev, Policy::onboard,
                                    Policy::slot, Policy::path, Policy::guid});
    CHECK(link.name == "storage-%k");
    CHECK(link.scheme == Scheme::v1);
    CHECK(link.port_label);
    CHECK(link.ipoib_name);
}

TEST_CASE("what a file does not say is off", "[link_file]")
{
    const auto link = parse(match_all);
    CHECK(link.problems.empty());
    CHECK(link.is_match_sound);
    CHECK(link.policies.empty());
    CHECK(link.name.empty());
    CHECK_FALSE(link.scheme.has_value());
    CHECK_FALSE(link.port_label);
    CHECK_FALSE(link.ipoib_name);
}

TEST_CASE("the [Match] section is the file's", "[link_file]")
{
    const auto link = parse("[Match]\nDriver=mlx5_core\nHost=node*\n[Link]\nName=a\n");
    CHECK(link.problems.empty());
    CHECK(link.match.why_not({.driver = "mlx5_core", .host = "node1"}).empty());
    CHECK_FALSE(link.match.why_not({.driver = "siw", .host = "node1"}).empty());
    CHECK_FALSE(link.match.why_not({.driver = "mlx5_core", .host = "other"}).empty());
}

TEST_CASE("each scheme may be asked for", "[link_file]")
{
    CHECK(parse_lines("NamingScheme=rdma-core\n").scheme == Scheme::rdma_core);
    CHECK(parse_lines("NamingScheme=v1\n").scheme == Scheme::v1);
}

TEST_CASE("a boolean may be taken back", "[link_file]")
{
    const auto link = parse_lines("PortLabel=yes\nPortLabel=no\n");
    CHECK(link.problems.empty());
    CHECK_FALSE(link.port_label);
}

TEST_CASE("policies of two assignments are one list", "[link_file]")
{
    CHECK(parse_lines("NamePolicy=slot\nNamePolicy=path guid\n").policies ==
          Policies{Policy::slot, Policy::path, Policy::guid});
}

TEST_CASE("an empty value forgets what the key of [Link] had", "[link_file]")
{
    const auto link = parse_lines("NamePolicy=slot\nName=a\nNamingScheme=v1\n"
                                  "NamePolicy=\nName=\nNamingScheme=\nDescription=\n");
    CHECK(link.problems.empty());
    CHECK(link.policies.empty());
    CHECK(link.name.empty());
    CHECK_FALSE(link.scheme.has_value());
    CHECK(parse_lines("NamePolicy=slot\nNamePolicy=\nNamePolicy=guid\n").policies ==
          Policies{Policy::guid});
}

TEST_CASE("the last name and the last scheme count", "[link_file]")
{
    const auto link = parse_lines("Name=a\nName=b\nNamingScheme=v1\nNamingScheme=rdma-core\n");
    CHECK(link.problems.empty());
    CHECK(link.name == "b");
    CHECK(link.scheme == Scheme::rdma_core);
}

TEST_CASE("a drop-in overrides its file", "[link_file]")
{
    const auto link = parse("[Match]\nDriver=siw\n[Link]\nName=a\nNamePolicy=slot\nPortLabel=no\n",
                            {"[Link]\nName=b\n[Match]\nDriver=\nDriver=mlx5_core\n",
                             "[Link]\nNamePolicy=\nNamePolicy=path\nPortLabel=yes\n"});
    CHECK(link.problems.empty());
    CHECK(link.is_match_sound);
    CHECK(link.name == "b");
    CHECK(link.policies == Policies{Policy::path});
    CHECK(link.port_label);
    CHECK(link.match.why_not({.driver = "mlx5_core"}).empty());
    CHECK_FALSE(link.match.why_not({.driver = "siw"}).empty());
}

TEST_CASE("a drop-in adds to the lists of its file", "[link_file]")
{
    const auto link = parse("[Match]\nDriver=siw\n[Link]\nNamePolicy=slot\n",
                            {"[Match]\nDriver=mlx5_core\n[Link]\nNamePolicy=path\n"});
    CHECK(link.policies == Policies{Policy::slot, Policy::path});
    CHECK(link.match.why_not({.driver = "mlx5_core"}).empty());
    CHECK(link.match.why_not({.driver = "siw"}).empty());
}

TEST_CASE("a problem in a drop-in names the drop-in", "[link_file]")
{
    const auto link = parse(match_all, {"[Link]\nNamePolicy=pth\n"});
    REQUIRE(link.problems.size() == 1);
    CHECK(link.problems[0].file == path + ".d/x.conf");
    CHECK(link.problems[0].line == 2);
}

TEST_CASE("an unknown policy is a problem, told with its place", "[link_file]")
{
    CHECK(problem("\n\n\nNamePolicy=slot pth\n").message() ==
          "/etc/rdmad/link.d/10-storage.link:7: NamePolicy: 'pth' is not a naming policy");
    const auto* value = GENERATE("Slot", "slot,path", "database", "mac", "\"\"", "slot ''");
    CAPTURE(value);
    CHECK(problem("NamePolicy="s + value + "\n").key == "NamePolicy");
}

TEST_CASE("an unknown scheme is a problem", "[link_file]")
{
    const auto* value = GENERATE("v0", "v2", "V1", "latest", "v1 v1", "rdma_core");
    CAPTURE(value);
    const auto found = problem("NamingScheme="s + value + "\n");
    CHECK(found.key == "NamingScheme");
    CHECK(found.line == 4);
    CHECK(found.what.find(value) != std::string::npos);
}

TEST_CASE("what is no boolean is a problem", "[link_file]")
{
    const auto found = problem("PortLabel=maybe\n");
    CHECK(found.key == "PortLabel");
    CHECK(found.what.find("maybe") != std::string::npos);
}

TEST_CASE("an unknown key of [Link] is a problem, and leaves the match sound", "[link_file]")
{
    const auto* key = GENERATE("MACAddressPolicy", "name", "Driver", "OriginalName");
    CAPTURE(key);
    const auto found = problem(key + "=a\n"s);
    CHECK(found.key == key);
    CHECK(found.line == 4);
}

TEST_CASE("a quote that does not end is a problem of NamePolicy=", "[link_file]")
{
    CHECK(problem("NamePolicy='slot\n").key == "NamePolicy");
}

TEST_CASE("each problem of a file is told, in its order", "[link_file]")
{
    const auto link = parse_lines("Name=a/b\nNamePolicy=pth\nPortLabel=maybe\nFoo=1\n");
    CHECK(link.is_match_sound);
    REQUIRE(link.problems.size() == 4);
    for (uint32_t i = 0; i < 4; i++)
        CHECK(link.problems[i].line == i + 4);
}

TEST_CASE("an unknown section may be a [Match] misspelt: the file matches nothing", "[link_file]")
{
    const auto* section = GENERATE("Mach", "match", " Match", "Network", "link");
    CAPTURE(section);
    const auto link = parse(match_all + "["s + section + "]\nDriver=siw\n[Link]\nName=a\n");
    CHECK_FALSE(link.is_match_sound);
    REQUIRE(link.problems.size() == 1);
    CHECK(link.problems[0].line == 4);
    CHECK(link.problems[0].what.find(section) != std::string::npos);
}

TEST_CASE("an unknown key of [Match] makes it unsound", "[link_file]")
{
    const auto* line = GENERATE("Name=a", "Drivr=siw", "driver=siw", "Property=A", "Driver=\"a",
                                "Virtualization=vm container");
    CAPTURE(line);
    const auto link = parse(match_all + line + "\n[Link]\nName=a\n");
    CHECK_FALSE(link.is_match_sound);
    REQUIRE(link.problems.size() == 1);
    CHECK(link.problems[0].line == 3);
    CHECK(link.problems[0].file == path);
}

TEST_CASE("a [Match] that became unsound stays so", "[link_file]")
{
    CHECK_FALSE(parse("[Match]\nDrivr=siw\n" + match_all, {match_all}).is_match_sound);
}

TEST_CASE("a drop-in makes a [Match] unsound as well", "[link_file]")
{
    CHECK_FALSE(parse(match_all, {"[Match]\nDrivr=siw\n"}).is_match_sound);
}

TEST_CASE("a broken line that may be of [Match] makes it unsound", "[link_file]")
{
    const auto* text = GENERATE("[Match]\nOriginalName=*\nDriver\n[Link]\nName=a\n",
                                "[Match\nOriginalName=*\n[Link]\nName=a\n",
                                "[Match]\nOriginalName=*\nDriver=\xff\n[Link]\nName=a\n",
                                "Driver=siw\n[Match]\nOriginalName=*\n[Link]\nName=a\n");
    const auto link = parse(text);
    CHECK_FALSE(link.is_match_sound);
    CHECK_FALSE(link.problems.empty());
}

// the header: with a sound [Match] the devices keep their names. Now the file matches none
TEST_CASE("a broken line of [Link] leaves the match sound", "[link_file]")
{
    const auto link = parse_lines("NamePolicy\n");
    CHECK(link.problems.size() == 1);
    CHECK(link.is_match_sound);
}

TEST_CASE("a file that could not be read is not sound, and keeps that problem", "[link_file]")
{
    File file{.name = "10-storage.link", .path = path};
    file.problems.push_back({.file = path, .what = "is a directory"});
    const auto link = parse_link(file);
    CHECK_FALSE(link.is_match_sound);
    REQUIRE(link.problems.size() == 1);
    CHECK(link.problems[0].what == "is a directory");
    CHECK(link.path == path);
}

TEST_CASE("a file without a [Match] key matches nothing", "[link_file]")
{
    const auto* text = GENERATE("", "[Link]\nName=a\n", "[Match]\n[Link]\nName=a\n",
                                "[Match]\nDriver=\n[Link]\nName=a\n",
                                "[Match]\nDriver=siw\nDriver=\n", "[Match]\nX-Driver=siw\n");
    CAPTURE(text);
    const auto link = parse(text);
    CHECK_FALSE(link.is_match_sound);
    REQUIRE(link.problems.size() == 1);
    CHECK(link.problems[0].file == path);
    CHECK(link.problems[0].line == 0);
}

TEST_CASE("a drop-in may give the [Match], or take it away", "[link_file]")
{
    CHECK(parse("[Link]\nName=a\n", {match_all}).is_match_sound);
    CHECK_FALSE(parse(match_all, {"[Match]\nOriginalName=\n"}).is_match_sound);
}

TEST_CASE("a name that no device may have is a problem", "[link_file]")
{
    const auto value =
        GENERATE("a/b"s, "/"s, "."s, ".."s, "17"s, "0"s, "a b"s, "\"a\""s, "b\xc3\xbcro"s, "a:b"s,
                 std::string(64, 'a'), std::string(63, 'a') + "%k", "%k/%n"s);
    CAPTURE(value);
    const auto found = problem("Name=" + value + "\n");
    CHECK(found.key == "Name");
    CHECK(found.line == 4);
    CHECK_FALSE(found.what.empty());
}

TEST_CASE("a name with a % that starts no specifier is a problem", "[link_file]")
{
    const auto* value = GENERATE("%", "a%", "%%", "a%%b", "%z", "%K", "%d", "a% k", "%k%");
    CAPTURE(value);
    const auto found = problem("Name="s + value + "\n");
    CHECK(found.key == "Name");
    CHECK(found.what.find('%') != std::string::npos);
}

TEST_CASE("a name that a device may have is none", "[link_file]")
{
    const auto value = GENERATE("storage"s, "a.b-c_D0"s, "1a"s, ".a"s, "17%k"s, "%k"s,
                                "%k%D%x%t%n%g%N%l"s, "x%g"s, std::string(63, 'a'));
    CAPTURE(value);
    const auto link = parse_lines("Name=" + value + "\n");
    CHECK(link.problems.empty());
    CHECK(link.name == value);
}

TEST_CASE("a message about a file shows no control character", "[link_file]")
{
    const auto* line = GENERATE("[\x1b]\nA=1", "[Link]\nName=\x1b", "[Link]\nNamePolicy=\x1b",
                                "[Link]\nNamingScheme=\x1b", "[Link]\nPortLabel=\x1b",
                                "[Match]\nProperty=\x1b", "[Link]\nName=%\x1b");
    const auto link = parse(match_all + line + "\n");
    REQUIRE(link.problems.size() == 1);
    CAPTURE(link.problems[0].what);
    CHECK(link.problems[0].what.find('\x1b') == std::string::npos);
}

TEST_CASE("a name without specifiers is itself", "[link_file]")
{
    const auto composed = expand_name("storage", {});
    CHECK(composed.name == "storage");
    CHECK(composed.why_not.empty());
}

TEST_CASE("each specifier stands for its value", "[link_file]")
{
    struct Row {
        const char* specifier;
        std::string Specifiers::*member;
        const char* value;
    };
    const auto row =
        GENERATE(Row{"%k", &Specifiers::original_name, "mlx5_0"},
                 Row{"%D", &Specifiers::driver, "mlx5_core"}, Row{"%x", &Specifiers::prefix, "ib"},
                 Row{"%t", &Specifiers::link_type, "infiniband"},
                 Row{"%n", &Specifiers::node_guid, "506b4b0300a1b2c3"},
                 Row{"%g", &Specifiers::port_guid, "506b4b0300a1b2c4"},
                 Row{"%N", &Specifiers::netdev, "ibs1"}, Row{"%l", &Specifiers::port_label, "p0"});
    CAPTURE(row.specifier);
    CHECK(expand_name(row.specifier, all_told).name == row.value);
    CHECK(expand_name("a-"s + row.specifier + "-b", all_told).name == "a-"s + row.value + "-b");
    CHECK(expand_name(row.specifier + "."s + row.specifier, all_told).name ==
          row.value + "."s + row.value);

    auto others = all_told;
    (others.*row.member).clear();
    const auto missing = expand_name("a-"s + row.specifier, others);
    CHECK(missing.name.empty());
    CHECK(missing.why_not.find(row.specifier) != std::string::npos);

    Specifiers alone;
    alone.*row.member = "v";
    CHECK(expand_name("a-"s + row.specifier, alone).name == "a-v");
}

TEST_CASE("a value is not expanded again", "[link_file]")
{
    const auto composed = expand_name("a%N", {.driver = "d", .netdev = "%D"});
    CHECK(composed.name.empty());
    CHECK_FALSE(composed.why_not.empty());
}

TEST_CASE("a % that starts no specifier gives no name", "[link_file]")
{
    const auto text = GENERATE("%"s, "a%"s, "%%"s, "%k%"s, "%z"s, "% "s, "%\0"s, "%\xff"s);
    CAPTURE(text);
    const auto composed = expand_name(text, all_told);
    CHECK(composed.name.empty());
    CHECK_FALSE(composed.why_not.empty());
}

TEST_CASE("what stands behind the end of a name is no specifier", "[link_file]")
{
    CHECK(expand_name(std::string_view("a%k", 2), all_told).name.empty());
}

TEST_CASE("a name that is refused once it is expanded gives none", "[link_file]")
{
    struct Row {
        const char* name;
        Specifiers specifiers;
    };
    const auto row = GENERATE(
        Row{"", {}}, Row{"%N", {.netdev = "a/b"}}, Row{"%N", {.netdev = ".."}},
        Row{"%N", {.netdev = "17"}}, Row{"1%N", {.netdev = "7"}}, Row{"%N", {.netdev = "a b"}},
        Row{"a%N", {.netdev = std::string(63, 'n')}}, Row{"%N", {.netdev = temporary_name(1)}});
    CAPTURE(row.name);
    const auto composed = expand_name(row.name, row.specifiers);
    CHECK(composed.name.empty());
    CHECK_FALSE(composed.why_not.empty());
}

TEST_CASE("63 bytes are not too many once the name is expanded", "[link_file]")
{
    CHECK(expand_name("a%N", {.netdev = std::string(62, 'n')}).name == "a" + std::string(62, 'n'));
}

TEST_CASE("a refused name is shown without control characters", "[link_file]")
{
    CHECK(expand_name("%N", {.netdev = "a\x1b"}).why_not.find('\x1b') == std::string::npos);
}

TEST_CASE("any name expands to a name or a reason", "[link_file]")
{
    for (int first = 0; first < 256; first++)
        for (int second = 0; second < 256; second++) {
            const std::string text{'a', static_cast<char>(first), static_cast<char>(second)};
            const auto composed = expand_name(text, all_told);
            if (composed.name.empty() == composed.why_not.empty() ||
                (!composed.name.empty() && !refusal(composed.name).empty()))
                FAIL_CHECK("neither or both: " << first << " " << second);
        }
}

TEST_CASE("of two files with one name that of the administrator counts", "[link_file]")
{
    const rdmad::test::FixtureTree tree;
    for (const auto* folder : {"etc/rdmad/link.d", "run/rdmad/link.d", "usr/local/lib/rdmad/link.d",
                               "usr/lib/rdmad/link.d"})
        tree.file(std::string(folder) + "/10-a.link", "[Match]\nDriver=mlx5_core\n");
    tree.file("usr/lib/rdmad/link.d/05-b.link", "[Match]\nDriver=mlx5_core\n");
    for (const auto* first : {"etc", "run", "usr/local/lib", "usr/lib"}) {
        const auto links = read_link_files(tree.path());
        REQUIRE(links.size() == 2);
        CHECK(links[0].path.ends_with("/usr/lib/rdmad/link.d/05-b.link"));
        CHECK(links[1].path == tree.path(std::string(first) + "/rdmad/link.d/10-a.link"));
        tree.remove(std::string(first) + "/rdmad/link.d/10-a.link");
    }
}
