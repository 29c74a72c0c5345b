// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/file.hpp"
#include "tests/catch.hpp"
#include "tests/support/fixture_tree.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

using namespace rdmad;
using namespace rdmad::test;

TEST_CASE("a file is read whole, up to 64 KiB", "[file]")
{
    const FixtureTree tree;
    const std::string bytes("a\0\xff\n", 4);
    tree.file("some", bytes);
    tree.file("none", "");
    tree.file("full", std::string(65536, 'x'));
    tree.file("more", std::string(65537, 'x'));
    CHECK(read_file(tree.path("some")).value() == bytes);
    CHECK(read_file(tree.path("none")).value().empty());
    CHECK(read_file(tree.path("full")).value().size() == 65536);
    CHECK(read_file(tree.path("more")).error().code == EFBIG);
}

TEST_CASE("a file of any size is read as it is", "[file]")
{
    const FixtureTree tree;
    const size_t size = GENERATE(1U, 16383U, 16384U, 16385U, 40000U);
    std::string bytes(size, 'x');
    bytes.back() = 'y';
    tree.file("some", bytes);
    CHECK(read_file(tree.path("some")).value() == bytes);
    CHECK(read_file(tree.path("some"), size).value() == bytes);
    CHECK(read_file(tree.path("some"), size - 1).error().code == EFBIG);
}

TEST_CASE("what cannot be read is an error that names it", "[file]")
{
    const FixtureTree tree;
    tree.directory("folder");
    const auto missing = read_file(tree.path("missing"));
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().code == ENOENT);
    CHECK(missing.error().context == tree.path("missing"));
    CHECK(read_file(tree.path("folder")).error().code == EISDIR);
}

TEST_CASE("a FIFO that nobody writes to holds nobody up", "[file]")
{
    const FixtureTree tree;
    REQUIRE(mkfifo(tree.path("fifo").c_str(), 0600) == 0);
    CHECK(read_file(tree.path("fifo")).value().empty());
    const auto replace = [&] { return replace_file(tree.path("file"), tree.path("fifo"), "new"); };
    CHECK(replace().error().code == ENXIO);
    CHECK(replace().has_value());
    CHECK(read_file(tree.path("file")).value() == "new");
}

TEST_CASE("all names of a directory are told, and none where there is none", "[file]")
{
    const FixtureTree tree;
    tree.file("folder/a", "");
    tree.file("folder/.b", "");
    tree.directory("folder/c");
    tree.link("folder/d", "nowhere");
    auto names = names_in(tree.path("folder"));
    std::sort(names.begin(), names.end());
    CHECK(names == std::vector<std::string>{".b", "a", "c", "d"});
    const auto root = tree.root();
    CHECK(names_in("folder", root.fd()).size() == 4);
    CHECK(names_in(tree.path("folder/a")).empty());
    CHECK(names_in(tree.path("missing")).empty());
}

TEST_CASE("a file is replaced whole, and nothing else is left", "[file]")
{
    const auto durable = GENERATE(Durable::no, Durable::yes);
    const FixtureTree tree;
    tree.directory("folder");
    const auto path = tree.path("folder/a");
    const auto mask = umask(077);
    for (const std::string text : {"one", "two and more", ""}) {
        REQUIRE(replace_file(path, tree.path("folder/.new"), text, durable));
        CHECK(read_file(path).value() == text);
    }
    umask(mask);
    struct stat status;
    REQUIRE(stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777U) == 0644);
    CHECK(names_in(tree.path("folder")) == std::vector<std::string>{"a"});
}

TEST_CASE("a file that cannot be replaced stays, and the error names it", "[file]")
{
    const FixtureTree tree;
    tree.file("folder/a/b", "");
    const auto path = tree.path("folder/a");
    const auto refused = replace_file(path, tree.path("folder/.new"), "x");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == EISDIR);
    CHECK(refused.error().context == path);
    CHECK(names_in(tree.path("folder")) == std::vector<std::string>{"a"});
    CHECK(replace_file(tree.path("no/a"), tree.path("no/.new"), "x").error().code == ENOENT);
    tree.link("folder/.new", path + "/b");
    CHECK(replace_file(tree.path("folder/c"), tree.path("folder/.new"), "x").error().code == ELOOP);
    CHECK(read_file(path + "/b").value().empty());
}

TEST_CASE("a file that is to be kept is not replaced", "[file]")
{
    const FixtureTree tree;
    tree.directory("folder");
    const auto path = tree.path("folder/a");
    const auto write = [&](const std::string& text) {
        return replace_file(path, tree.path("folder/.new"), text, Durable::no, Existing::kept);
    };
    REQUIRE(write("one"));
    CHECK(write("two").error().code == EEXIST);
    CHECK(read_file(path).value() == "one");
    CHECK(names_in(tree.path("folder")) == std::vector<std::string>{"a"});
}
