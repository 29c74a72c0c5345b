// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/sysfs/directory.hpp"
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

using namespace rdmad;
using namespace rdmad::sysfs;
using namespace rdmad::test;
using namespace std::string_literals;
using State = Attribute::State;

TEST_CASE("an attribute is its text without the line break", "[directory]")
{
    const FixtureTree tree;
    tree.file("ports/1/state", "4: ACTIVE\n");
    const auto attribute = tree.root().read("ports/1/state");
    CHECK(attribute);
    CHECK(attribute.text == "4: ACTIVE");
}

TEST_CASE("a directory knows where it is, also after a rename", "[directory]")
{
    const FixtureTree tree;
    tree.directory("a/b");
    tree.link("link", "a/b");
    const auto root = tree.root();
    CHECK(root.path() == tree.path());
    const auto directory = must_find(root.open_below("link"));
    CHECK(directory.path() == tree.path("a/b"));
    tree.rename("a", "c");
    CHECK(directory.path() == tree.path("c/b"));
}

TEST_CASE("a missing attribute is a value", "[directory]")
{
    const FixtureTree tree;
    tree.file("file", "x");
    CHECK(tree.root().read("nothing").state == State::missing);
    CHECK(tree.root().read("no/such/path").state == State::missing);
    CHECK(tree.root().read("file/below").state == State::missing);
    CHECK_FALSE(tree.root().read("nothing"));
}

TEST_CASE("an empty attribute is there", "[directory]")
{
    const FixtureTree tree;
    tree.file("empty", GENERATE("", "\n"));
    const auto attribute = tree.root().read("empty");
    CHECK(attribute.state == State::present);
    CHECK(attribute.text.empty());
}

TEST_CASE("an attribute may fill a page but no more", "[directory]")
{
    const FixtureTree tree;
    tree.file("page", std::string(4096, 'x'));
    tree.file("longer", std::string(4097, 'x'));
    tree.file("endless", std::string(100000, 'x'));
    CHECK(tree.root().read("page").text == std::string(4096, 'x'));
    CHECK(tree.root().read("longer").state == State::too_long);
    CHECK(tree.root().read("longer").text.empty());
    CHECK(tree.root().read("endless").state == State::too_long);
}

TEST_CASE("an attribute may hold any bytes", "[directory]")
{
    const FixtureTree tree;
    const auto bytes = GENERATE("\xff\xfe node"s, "a\0b"s, "\x1b[31m"s, "two\nlines"s);
    tree.file("node_desc", bytes + "\n");
    CHECK(tree.root().read("node_desc").text == bytes);
}

TEST_CASE("what cannot be read is told apart from what is missing", "[directory]")
{
    const FixtureTree tree;
    tree.directory("directory");
    CHECK(tree.root().read("directory").state == State::unreadable);
}

TEST_CASE("a FIFO in the place of an attribute does not block", "[directory]")
{
    const FixtureTree tree;
    REQUIRE(mkfifo(tree.path("fifo").c_str(), 0600) == 0);
    CHECK_FALSE(tree.root().read("fifo"));
}

TEST_CASE("an attribute that was never opened is no value", "[directory]")
{
    const FixtureTree tree;
    CHECK_FALSE(Directory::read(tree.root().open_attribute("nothing")));
}

TEST_CASE("an open attribute gives its value anew", "[directory]")
{
    const FixtureTree tree;
    tree.file("ibdev", "mlx5_0\n");
    const auto attribute = tree.root().open_attribute("ibdev");
    CHECK(Directory::read(attribute).text == "mlx5_0");
    tree.file("ibdev", "ibp1s0\n");
    CHECK(Directory::read(attribute).text == "ibp1s0");
}

TEST_CASE("a missing directory is none, another trouble is an error", "[directory]")
{
    const FixtureTree tree;
    tree.file("file", "");
    tree.link("loop", "loop");
    CHECK(is_none(Directory::open(tree.path("nothing"))));
    CHECK(is_none(tree.root().open_below("nothing")));
    CHECK(is_none(tree.root().open_below("file")));
    CHECK(error_of(tree.root().open_below("loop")) == ELOOP);
}

TEST_CASE("a directory is held over a rename", "[directory]")
{
    const FixtureTree tree;
    tree.file("class/infiniband/mlx5_0/node_type", "1: CA\n");
    const auto directory = must_find(tree.root().open_below("class/infiniband/mlx5_0"));
    const auto inode = directory.inode();
    tree.rename("class/infiniband/mlx5_0", "class/infiniband/ibp1s0");
    tree.file("class/infiniband/mlx5_0/node_type", "4: RNIC\n");
    CHECK(directory.read("node_type").text == "1: CA");
    CHECK(directory.inode() == inode);
    CHECK(tree.root().inode("class/infiniband/ibp1s0") == inode);
    CHECK(tree.root().inode("class/infiniband/mlx5_0") != inode);
}

TEST_CASE("a directory that has gone has no attributes", "[directory]")
{
    const FixtureTree tree;
    tree.file("device/node_type", "1: CA\n");
    const auto directory = must_find(tree.root().open_below("device"));
    tree.remove("device");
    CHECK(directory.read("node_type").state == State::missing);
}

TEST_CASE("descriptors are not inherited", "[directory]")
{
    const FixtureTree tree;
    tree.file("file", "");
    const auto root = tree.root();
    CHECK((fcntl(root.fd(), F_GETFD) & FD_CLOEXEC) != 0);
    const auto attribute = root.open_attribute("file");
    CHECK((fcntl(attribute.get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("of a symbolic link the last part of its target counts", "[directory]")
{
    const FixtureTree tree;
    tree.link("device/driver", "../../../bus/pci/drivers/mlx5_core");
    tree.link("short", "mlx5_core");
    tree.file("file", "");
    CHECK(tree.root().link_name("device/driver") == std::optional<std::string>("mlx5_core"));
    CHECK(tree.root().link_name("short") == std::optional<std::string>("mlx5_core"));
    CHECK_FALSE(tree.root().link_name("file").has_value());
    CHECK_FALSE(tree.root().link_name("nothing").has_value());
}

TEST_CASE("contains tells of files and directories", "[directory]")
{
    const FixtureTree tree;
    tree.directory("class/infiniband_mad");
    CHECK(tree.root().contains("class/infiniband_mad"));
    CHECK_FALSE(tree.root().contains("class/infiniband_verbs"));
    CHECK_FALSE(tree.root().inode("class/infiniband_verbs").has_value());
}

TEST_CASE("the last component is what follows the last slash", "[directory]")
{
    CHECK(last_component("/sys/class/infiniband/mlx5_0") == "mlx5_0");
    CHECK(last_component("mlx5_0") == "mlx5_0");
    CHECK(last_component("mlx5_0/").empty());
    CHECK(last_component("").empty());
}
