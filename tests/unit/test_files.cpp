// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/unique_fd.hpp"
#include "core/config/files.hpp"
#include "tests/catch.hpp"
#include "tests/support/fixture_tree.hpp"

#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <vector>

using namespace rdmad::config;
using namespace rdmad::test;

namespace {

using Strings = std::vector<std::string>;

constexpr size_t most = 64 * 1024;

std::vector<File> read(const FixtureTree& tree)
{
    return read_files(tree.path(), {"/etc/link.d", "/run/link.d", "/usr/link.d"}, ".link");
}

/// The only one there must be.
File read_one(const FixtureTree& tree)
{
    auto files = read(tree);
    REQUIRE(files.size() == 1);
    return files[0];
}

Strings names(const std::vector<File>& files)
{
    Strings all;
    for (const auto& file : files)
        all.push_back(file.name);
    return all;
}

Strings values(const File& file)
{
    Strings all;
    for (const auto& assignment : file.assignments)
        all.push_back(assignment.value);
    return all;
}

std::string link_file(const std::string& name)
{
    return "[Link]\nName=" + name + "\n";
}

/// As long as it is asked for, with one assignment.
std::string of_size(size_t size)
{
    auto text = link_file("a");
    return text + std::string(size - text.size(), '#');
}

void fifo(const FixtureTree& tree, const std::string& path)
{
    REQUIRE(mkfifo(tree.path(path).c_str(), 0600) == 0);
}

} // namespace

TEST_CASE("files come in the order of their names, whatever folder they are in", "[files]")
{
    const FixtureTree tree;
    tree.file("etc/link.d/30-c.link", link_file("c"));
    tree.file("etc/link.d/05-z.link", link_file("z"));
    tree.file("run/link.d/20-b.link", link_file("b"));
    tree.file("usr/link.d/10-a.link", link_file("a"));
    tree.file("usr/link.d/40-d.link", link_file("d"));
    CHECK(names(read(tree)) ==
          Strings{"05-z.link", "10-a.link", "20-b.link", "30-c.link", "40-d.link"});
}

TEST_CASE("a file knows its name, its path and what it says", "[files]")
{
    const FixtureTree tree;
    tree.file("run/link.d/10-a.link", "[Match]\nHost=h\n\n[Link]\nName=a\nbroken\n");
    const auto file = read_one(tree);
    const auto path = tree.path("run/link.d/10-a.link");
    CHECK(file.name == "10-a.link");
    CHECK(file.path == path);
    CHECK(values(file) == Strings{"h", "a"});
    CHECK(file.assignments[0].section == "Match");
    CHECK(file.assignments[1].key == "Name");
    CHECK(file.assignments[1].file == path);
    CHECK(file.assignments[1].line == 5);
    REQUIRE(file.problems.size() == 1);
    CHECK(file.problems[0].file == path);
    CHECK(file.problems[0].line == 6);
}

TEST_CASE("of two files with one name the one in the earlier folder counts", "[files]")
{
    const FixtureTree tree;
    tree.file("usr/link.d/10-a.link", link_file("usr"));
    tree.file("run/link.d/10-a.link", link_file("run"));
    CHECK(values(read_one(tree)) == Strings{"run"});
    tree.file("etc/link.d/10-a.link", link_file("etc"));
    CHECK(values(read_one(tree)) == Strings{"etc"});
}

TEST_CASE("folders that are not there hold nothing", "[files]")
{
    const FixtureTree tree;
    CHECK(read(tree).empty());
    tree.file("etc/link.d", "a file");
    tree.directory("run/link.d");
    CHECK(read(tree).empty());
    CHECK(read_files(tree.path(), {}, ".link").empty());
}

TEST_CASE("without a root the folders are taken as they are", "[files]")
{
    const FixtureTree tree;
    tree.file("etc/link.d/10-a.link", link_file("a"));
    const auto files = read_files("", {tree.path("etc/link.d")}, ".link");
    REQUIRE(files.size() == 1);
    CHECK(files[0].path == tree.path("etc/link.d/10-a.link"));
}

TEST_CASE("a link to /dev/null hides the others of its name", "[files]")
{
    const FixtureTree tree;
    tree.link("etc/link.d/10-a.link", "/dev/null");
    tree.file("run/link.d/10-a.link", link_file("run"));
    tree.file("usr/link.d/10-a.link", link_file("usr"));
    tree.file("usr/link.d/20-b.link", link_file("b"));
    CHECK(names(read(tree)) == Strings{"20-b.link"});
}

TEST_CASE("an empty file hides the others of its name", "[files]")
{
    const FixtureTree tree;
    tree.file("etc/link.d/10-a.link", "");
    tree.file("usr/link.d/10-a.link", link_file("usr"));
    tree.file("usr/link.d/20-b.link", link_file("b"));
    CHECK(names(read(tree)) == Strings{"20-b.link"});
}

TEST_CASE("what an earlier folder has is not hidden", "[files]")
{
    const FixtureTree tree;
    tree.file("etc/link.d/10-a.link", link_file("etc"));
    tree.link("usr/link.d/10-a.link", "/dev/null");
    CHECK(values(read_one(tree)) == Strings{"etc"});
}

TEST_CASE("a file of blanks or comments hides, too, but is one", "[files]")
{
    const FixtureTree tree;
    tree.file("etc/link.d/10-a.link", GENERATE("\n", "# nothing\n"));
    tree.file("usr/link.d/10-a.link", link_file("usr"));
    const auto file = read_one(tree);
    CHECK(file.assignments.empty());
    CHECK(file.problems.empty());
}

TEST_CASE("a symbolic link to a file is read under its own name", "[files]")
{
    const FixtureTree tree;
    tree.file("usr/share/some", link_file("a"));
    tree.link("etc/link.d/10-a.link", "../../usr/share/some");
    const auto file = read_one(tree);
    CHECK(file.name == "10-a.link");
    CHECK(values(file) == Strings{"a"});
}

TEST_CASE("files that begin with a dot or end otherwise are not for us", "[files]")
{
    const FixtureTree tree;
    for (const auto* name :
         {".10-a.link", ".link", "10-a.link~", "10-a.link.bak", "10-a.conf", "10-a", "10-alink",
          "10-a.LINK", "10-a.link.dpkg-new", "#10-a.link#", "10-a.links"})
        tree.file("etc/link.d/" + std::string(name), link_file("a"));
    CHECK(read(tree).empty());
}

TEST_CASE("drop-ins of all folders count behind their file, by name", "[files]")
{
    const FixtureTree tree;
    tree.file("etc/link.d/10-a.link.d/30.conf", link_file("30"));
    tree.file("run/link.d/10-a.link", link_file("main"));
    tree.file("run/link.d/10-a.link.d/20.conf", link_file("20"));
    tree.file("usr/link.d/10-a.link.d/10.conf", link_file("10"));
    tree.file("usr/link.d/10-a.link.d/40.conf", link_file("40"));
    const auto file = read_one(tree);
    CHECK(file.path == tree.path("run/link.d/10-a.link"));
    CHECK(values(file) == Strings{"main", "10", "20", "30", "40"});
    CHECK(file.assignments[3].file == tree.path("etc/link.d/10-a.link.d/30.conf"));
}

TEST_CASE("a drop-in is for its file only", "[files]")
{
    const FixtureTree tree;
    tree.file("etc/link.d/10-a.link", link_file("a"));
    tree.file("etc/link.d/20-b.link", link_file("b"));
    tree.file("etc/link.d/10-a.link.d/x.conf", link_file("x"));
    const auto files = read(tree);
    REQUIRE(files.size() == 2);
    CHECK(values(files[0]) == Strings{"a", "x"});
    CHECK(values(files[1]) == Strings{"b"});
}

TEST_CASE("of two drop-ins with one name the one in the earlier folder counts", "[files]")
{
    const FixtureTree tree;
    tree.file("usr/link.d/10-a.link", link_file("main"));
    tree.file("usr/link.d/10-a.link.d/x.conf", link_file("usr"));
    tree.file("etc/link.d/10-a.link.d/x.conf", link_file("etc"));
    CHECK(values(read_one(tree)) == Strings{"main", "etc"});
}

TEST_CASE("drop-ins are hidden as files are", "[files]")
{
    const FixtureTree tree;
    tree.file("usr/link.d/10-a.link", link_file("main"));
    tree.file("usr/link.d/10-a.link.d/1.conf", link_file("1"));
    tree.file("usr/link.d/10-a.link.d/2.conf", link_file("2"));
    tree.file("usr/link.d/10-a.link.d/3.conf", link_file("3"));
    tree.link("run/link.d/10-a.link.d/1.conf", "/dev/null");
    tree.file("etc/link.d/10-a.link.d/3.conf", "");
    const auto file = read_one(tree);
    CHECK(values(file) == Strings{"main", "2"});
    CHECK(file.problems.empty());
}

TEST_CASE("the drop-ins of a hidden file do not count, nor those of none", "[files]")
{
    const FixtureTree tree;
    tree.link("etc/link.d/10-a.link", "/dev/null");
    tree.file("usr/link.d/10-a.link", link_file("usr"));
    tree.file("usr/link.d/10-a.link.d/x.conf", link_file("x"));
    tree.file("usr/link.d/20-b.link.d/x.conf", link_file("x"));
    CHECK(read(tree).empty());
}

TEST_CASE("drop-ins that begin with a dot or end otherwise are not for us", "[files]")
{
    const FixtureTree tree;
    tree.file("etc/link.d/10-a.link", link_file("main"));
    for (const auto* name : {".x.conf", ".conf", "x.conf~", "x.link", "x", "x.conf.dpkg-old"})
        tree.file("etc/link.d/10-a.link.d/" + std::string(name), link_file("x"));
    CHECK(values(read_one(tree)) == Strings{"main"});
}

TEST_CASE("no more files are read than the limit, and the first beyond it says so", "[files]")
{
    const FixtureTree tree;
    for (int i = 1000; i < 2026; i++)
        tree.file("etc/link.d/" + std::to_string(i) + ".link", link_file("a"));
    tree.link("run/link.d/1000.link", "/dev/null");
    const auto files = read(tree);
    REQUIRE(files.size() == 1025);
    CHECK(files[1023].problems.empty());
    CHECK(files[1024].name == "2024.link");
    CHECK(files[1024].assignments.empty());
    REQUIRE(files[1024].problems.size() == 1);
    CHECK(files[1024].problems[0].message() ==
          tree.path("etc/link.d/2024.link") +
              ": is not read, nor is any file after it: the limit is 1024 files");
}

TEST_CASE("a file has no more drop-ins than the limit", "[files]")
{
    const FixtureTree tree;
    tree.file("etc/link.d/10-a.link", link_file("main"));
    for (int i = 1000; i < 2026; i++)
        tree.file("etc/link.d/10-a.link.d/" + std::to_string(i) + ".conf", link_file("a"));
    const auto file = read_one(tree);
    CHECK(file.assignments.size() == 1025);
    REQUIRE(file.problems.size() == 1);
    CHECK(file.problems[0].file == tree.path("etc/link.d/10-a.link.d/2024.conf"));
}

TEST_CASE("a file that is too long is named, and others are read", "[files]")
{
    const FixtureTree tree;
    tree.file("etc/link.d/10-a.link", of_size(10'000'000));
    tree.file("etc/link.d/20-b.link", link_file("b"));
    const auto files = read(tree);
    REQUIRE(files.size() == 2);
    CHECK(files[0].assignments.empty());
    REQUIRE(files[0].problems.size() == 1);
    CHECK(files[0].problems[0].message() ==
          tree.path("etc/link.d/10-a.link") + ": is longer than 64 KiB, and not read");
    CHECK(values(files[1]) == Strings{"b"});
}

TEST_CASE("a broken line of a drop-in is a problem of its file", "[files]")
{
    const FixtureTree tree;
    tree.file("etc/link.d/10-a.link", link_file("main"));
    tree.file("usr/link.d/10-a.link.d/x.conf", "[Link]\nName\n");
    const auto file = read_one(tree);
    REQUIRE(file.problems.size() == 1);
    CHECK(file.problems[0].file == tree.path("usr/link.d/10-a.link.d/x.conf"));
    CHECK(file.problems[0].line == 2);
}

TEST_CASE("a drop-in stands in no section at first", "[files]")
{
    const FixtureTree tree;
    tree.file("etc/link.d/10-a.link", link_file("main"));
    tree.file("etc/link.d/10-a.link.d/x.conf", "Name=x\n");
    const auto file = read_one(tree);
    CHECK(values(file) == Strings{"main"});
    CHECK(file.problems.size() == 1);
}

TEST_CASE("a directory in the place of a file is a problem that names it", "[files]")
{
    const FixtureTree tree;
    tree.directory("etc/link.d/10-a.link");
    tree.file("usr/link.d/10-a.link", link_file("usr"));
    const auto file = read_one(tree);
    CHECK(file.assignments.empty());
    REQUIRE(file.problems.size() == 1);
    CHECK(file.problems[0].file == tree.path("etc/link.d/10-a.link"));
    CHECK(file.problems[0].line == 0);
    CHECK_FALSE(file.problems[0].what.empty());
}

TEST_CASE("a link to nothing is a problem that names it", "[files]")
{
    const FixtureTree tree;
    tree.link("etc/link.d/10-a.link", "nothing");
    const auto file = read_one(tree);
    CHECK(file.assignments.empty());
    REQUIRE(file.problems.size() == 1);
    CHECK(file.problems[0].file == tree.path("etc/link.d/10-a.link"));
}

TEST_CASE("a drop-in that cannot be read is a problem of its file, and leaves the rest", "[files]")
{
    const FixtureTree tree;
    tree.file("etc/link.d/10-a.link", link_file("main"));
    tree.directory("etc/link.d/10-a.link.d/1.conf");
    tree.file("etc/link.d/10-a.link.d/2.conf", link_file("2"));
    const auto file = read_one(tree);
    CHECK(values(file) == Strings{"main", "2"});
    REQUIRE(file.problems.size() == 1);
    CHECK(file.problems[0].file == tree.path("etc/link.d/10-a.link.d/1.conf"));
}

TEST_CASE("a file of 64 KiB is read", "[files]")
{
    const FixtureTree tree;
    tree.file("etc/link.d/10-a.link", of_size(most));
    const auto file = read_one(tree);
    CHECK(values(file) == Strings{"a"});
    CHECK(file.problems.empty());
}

TEST_CASE("a longer one is a problem that names it, and nothing of it counts", "[files]")
{
    const FixtureTree tree;
    tree.file("etc/link.d/10-a.link", of_size(GENERATE(most + 1, 3 * most)));
    const auto file = read_one(tree);
    CHECK(file.assignments.empty());
    REQUIRE(file.problems.size() == 1);
    CHECK(file.problems[0].file == tree.path("etc/link.d/10-a.link"));
    CHECK(file.problems[0].line == 0);
}

TEST_CASE("a FIFO does not hold us up", "[files]")
{
    const FixtureTree tree;
    tree.directory("etc/link.d/20-b.link.d");
    fifo(tree, "etc/link.d/10-a.link");
    tree.file("etc/link.d/20-b.link", link_file("b"));
    fifo(tree, "etc/link.d/20-b.link.d/x.conf");
    const auto files = read(tree);
    REQUIRE(files.size() == 2);
    CHECK(files[0].assignments.empty());
    CHECK(values(files[1]) == Strings{"b"});
}

TEST_CASE("a FIFO that somebody may yet write to does not hold us up", "[files]")
{
    const FixtureTree tree;
    tree.directory("etc/link.d");
    fifo(tree, "etc/link.d/10-a.link");
    const rdmad::UniqueFd writer(
        open(tree.path("etc/link.d/10-a.link").c_str(), O_RDWR | O_CLOEXEC));
    REQUIRE(writer);
    const auto file = read_one(tree);
    CHECK(file.assignments.empty());
    REQUIRE(file.problems.size() == 1);
    CHECK(file.problems[0].file == tree.path("etc/link.d/10-a.link"));
}
