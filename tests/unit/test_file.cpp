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
