// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/image.hpp"
#include "tests/catch.hpp"
#include "tests/support/fixture_tree.hpp"

#include <filesystem>

using namespace rdmad;
using namespace rdmad::ctl;
using namespace rdmad::test;
using namespace std::string_literals;
namespace fs = std::filesystem;

namespace {

std::string refusal(const std::string& root)
{
    const auto checked = check_image(root);
    return checked ? "" : checked.error().text;
}

} // namespace

TEST_CASE("an image is used if its folders are in it, or not yet there", "[image]")
{
    FixtureTree tree;
    CHECK(refusal("").empty());
    // whatever else this machine has there
    CHECK(refusal("/").find("leads out") == std::string::npos);
    CHECK(refusal(tree.path("")).empty());
    tree.directory("usr/lib/rdmad");
    tree.directory("etc");
    tree.link("etc/rdmad", "../usr/lib/rdmad");
    CHECK(refusal(tree.path("")).empty());
}

TEST_CASE("an image that leads elsewhere or is none is refused", "[image]")
{
    FixtureTree tree;
    tree.directory("image/etc");
    tree.directory("image-b/binding.d");
    tree.file("file", "");
    const auto image = tree.path("image");
    CHECK(refusal(tree.path("none")) ==
          "--root=" + tree.path("none") + ": No such file or directory");
    CHECK(refusal(tree.path("file")) == "--root=" + tree.path("file") + ": Not a directory");
    // the other one begins with the name of the image
    tree.link("image/etc/rdmad", tree.path("image-b"));
    CHECK(refusal(image) == "--root=" + image +
                                ": /etc/rdmad/binding.d leads out of the image, to " +
                                fs::canonical(tree.path("image-b/binding.d")).string());
    tree.remove("image/etc/rdmad");
    tree.link("image/etc/rdmad", "rdmad");
    CHECK(refusal(image) ==
          "--root=" + image + ": /etc/rdmad/binding.d: Too many levels of symbolic links");
    // what leads nowhere from here may lead to something in the image
    const auto dead =
        "--root=" + image + ": /etc/rdmad is a symbolic link that leads nowhere from here";
    tree.remove("image/etc/rdmad");
    tree.link("image/etc/rdmad", "../../opt/only-in-the-image");
    CHECK(refusal(image) == dead);
    tree.remove("image/etc/rdmad");
    tree.directory("image/opt/only-in-the-image/binding.d");
    tree.link("image/etc/rdmad", "/opt/only-in-the-image");
    CHECK(refusal(image) == dead);
    tree.remove("image/etc/rdmad");
    tree.link("image/etc/rdmad", "../opt/only-in-the-image");
    CHECK(refusal(image).empty());
}

TEST_CASE("an image is refused if a link that stays in it names a way that does not", "[image]")
{
    FixtureTree tree;
    tree.directory("image/etc");
    const auto image = tree.path("image");
    tree.link("image/etc/rdmad", "../etc/there/.");
    tree.link("image/etc/there", "/opt/only-in-the-image");
    CHECK(refusal(image) ==
          "--root=" + image + ": /etc/there is a symbolic link that leads nowhere from here");
    tree.remove("image/etc/there");
    tree.directory("image/opt/later");
    tree.link("image/etc/there", "../opt/later");
    CHECK(refusal(image).empty());
    tree.remove("image/etc/there");
    tree.link("image/etc/there", "../opt/not-yet");
    CHECK(refusal(image).empty());
}

TEST_CASE("an image is refused if a file in it is a link to one of this machine", "[image]")
{
    FixtureTree tree;
    tree.file("secret", "root:x:");
    tree.directory("elsewhere");
    tree.file("elsewhere/a.conf", "root:x:");
    tree.file("image/etc/rdmad/real.binding", "");
    const auto image = tree.path("image");
    const auto leads_out = [&](const std::string& entry, const std::string& target) {
        return "--root=" + image + ": /etc/rdmad/binding.d/" + entry +
               " leads out of the image, to " + fs::canonical(tree.path(target)).string();
    };
    tree.directory("image/etc/rdmad/binding.d/d.binding.d");
    const auto* within = "image/etc/rdmad/binding.d/";
    // one that hides, one that stays, and one that leads nowhere
    tree.link(within + "a.binding"s, "/dev/null");
    tree.link(within + "b.binding"s, "../real.binding");
    tree.link(within + "c.binding"s, "/opt/only-in-the-image");
    CHECK(refusal(image).empty());
    tree.link(within + "d.binding.d/x.conf"s, tree.path("secret"));
    CHECK(refusal(image) == leads_out("d.binding.d/x.conf", "secret"));
    tree.remove(within + "d.binding.d/x.conf"s);
    tree.link(within + "d.binding"s, tree.path("secret"));
    CHECK(refusal(image) == leads_out("d.binding", "secret"));
    tree.remove(within + "d.binding"s);
    tree.link(within + "e.binding.d"s, tree.path("elsewhere"));
    CHECK(refusal(image) == leads_out("e.binding.d", "elsewhere"));
}

TEST_CASE("an image is used though a link in it waits for the first boot", "[image]")
{
    FixtureTree tree;
    // as OSTree has it
    tree.directory("image/var");
    tree.link("image/usr/local", "../var/usrlocal");
    CHECK(refusal(tree.path("image")).empty());
}
