// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/recovery/configfs.hpp"
#include "tests/catch.hpp"
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"

#include <cerrno>
#include <filesystem>
#include <set>

using namespace rdmad;
using namespace rdmad::test;
using namespace rdmad::recovery;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr auto read_only = fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read;

/// A target as configfs shows it. In plain directories the attributes do not come and go with
/// them, and a link may be made before its target: that order is seen in VMs alone.
struct Target {
    FixtureTree tree;
    std::string folder = tree.path("target");

    Target()
    {
        tree.directory("backstore");
        attribute("enable", "1\n");
        attribute("attrib/authentication", "0\n");
        attribute("attrib/empty", "");
        attribute("alua/state", "TG Port Alias: default_tg_pt_gp\nTG Port Group ID: 0\n");
        attribute("cpus", "2\n");
        fs::permissions(folder + "/cpus", read_only);
        tree.link("target/lun/lun_0/disk", tree.path("backstore"));
        tree.link("target/acls/a/lun_0/port", tree.path("target/lun/lun_0"));
    }
    void attribute(const std::string& path, const std::string& value) const
    {
        tree.file("target/" + path, value);
    }
    /// Drops what the kernel would with the directories, so that these can go.
    void drop_attributes() const
    {
        for (const auto* name : {"enable", "attrib", "alua", "cpus"})
            fs::remove_all(folder + "/" + name);
    }
    [[nodiscard]] std::string read(const std::string& path) const
    {
        return tree.read("target/" + path);
    }
};

} // namespace

TEST_CASE("a target is written down with what an administrator can set", "[configfs]")
{
    const Target target;
    const auto snapshot = must(configfs::snapshot(target.folder));
    CHECK(snapshot["values"] == Json{{"enable", "1"},
                                     {"attrib/authentication", "0"},
                                     {"alua/state", "default_tg_pt_gp"}});
    CHECK(snapshot["links"] == Json{{"lun/lun_0/disk", target.tree.path("backstore")},
                                    {"acls/a/lun_0/port", target.tree.path("target/lun/lun_0")}});
    auto directories = snapshot["directories"].get<std::set<std::string>>();
    CHECK(directories == std::set<std::string>{"", "acls", "acls/a", "acls/a/lun_0", "alua",
                                               "attrib", "lun", "lun/lun_0"});
    const auto missing = configfs::snapshot(target.tree.path("nothing"));
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().code == ENOENT);
}

TEST_CASE("a target that was taken away is put back as it was", "[configfs]")
{
    const Target target;
    const auto before = must(configfs::snapshot(target.folder));
    target.drop_attributes();
    must(configfs::remove_tree(target.folder));
    CHECK_FALSE(configfs::exists(target.folder));
    CHECK(configfs::exists(target.tree.path("backstore"))); // what a link led to stays

    // the kernel makes the attributes with the directories, and gives them its own values
    target.attribute("enable", "0\n");
    target.attribute("attrib/authentication", "1\n");
    target.attribute("alua/state", "TG Port Alias: other\nTG Port Group ID: 1\n");
    must(configfs::rebuild(target.folder, before));
    CHECK(target.read("enable").starts_with("1"));
    CHECK(target.read("attrib/authentication").starts_with("0"));
    CHECK(target.read("alua/state").starts_with("default_tg_pt_gp"));
    CHECK(target.tree.target("target/lun/lun_0/disk") == target.tree.path("backstore"));
    CHECK(target.tree.target("target/acls/a/lun_0/port") == target.tree.path("target/lun/lun_0"));
    // once more, as another run might
    must(configfs::rebuild(target.folder, before));
}

TEST_CASE("a target that refuses a value is told with the file", "[configfs]")
{
    const Target target;
    auto snapshot = must(configfs::snapshot(target.folder));
    snapshot["values"]["param/gone"] = "7";
    target.attribute("enable", "0\n");
    const auto refused = configfs::rebuild(target.folder, snapshot);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == ENOENT);
    CHECK(refused.error().context == target.folder + "/param/gone");
    CHECK(target.read("enable") == "0\n"); // it is switched on when all else is as it was
    CHECK(error_of(configfs::remove_tree(target.folder)) == ENOTEMPTY);
    CHECK(error_of(configfs::remove_tree(target.tree.path("nothing"))) == ENOENT);
}

TEST_CASE("a record that is no snapshot makes nothing", "[configfs]")
{
    const Target target;
    const auto whole = must(configfs::snapshot(target.folder));
    const auto other = target.tree.path("other");
    const auto refuses = [&](const Json& snapshot) {
        const auto outcome = configfs::rebuild(other, snapshot);
        return error_of(outcome) == EBADMSG && !configfs::exists(other);
    };
    for (const auto* part : {"directories", "links", "values"}) {
        auto lacking = whole;
        lacking.erase(part);
        CHECK(refuses(lacking));
        for (const auto& odd : {Json(7), Json{{"a", 7}}, Json::array({7}), Json(nullptr)}) {
            auto damaged = whole;
            damaged[part] = odd;
            CHECK(refuses(damaged));
        }
    }
    CHECK(refuses(Json::object()));
    CHECK(refuses(Json::array()));
}

TEST_CASE("attributes are read, written and linked one by one", "[configfs]")
{
    const Target target;
    CHECK(configfs::read(target.folder + "/enable") == "1");
    CHECK(configfs::read(target.folder + "/nothing").empty());
    CHECK(configfs::inode_of(target.folder) != 0);
    CHECK(configfs::inode_of(target.folder) != configfs::inode_of(target.folder + "/lun"));
    CHECK(configfs::inode_of(target.folder + "/nothing") == 0);
    const auto link = target.folder + "/link";
    must(configfs::link(target.folder + "/lun", link));
    must(configfs::link(target.folder + "/lun", link)); // it is there
    CHECK(error_of(configfs::link(target.folder + "/lun", target.folder + "/no/link")) == ENOENT);
    must(configfs::unlink(link));
    must(configfs::unlink(link)); // it is gone
    CHECK(error_of(configfs::unlink(target.folder + "/lun")) == EISDIR);
}
