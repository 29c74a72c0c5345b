// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/support/fixture_tree.hpp"
#include "tests/support/must.hpp"
#include "udev-helpers/rdma_id/naming/naming_switch.hpp"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace rdmad;
using namespace rdmad::rdma_id;
using namespace rdmad::test;
using namespace std::string_literals;

namespace {

using List = std::vector<std::string>;

constexpr char file_name[] = "60-rdma-persistent-naming.rules";
const std::string ours = "etc/udev/rules.d/"s + file_name;
const std::string in_run = "run/udev/rules.d/"s + file_name;
const std::string in_local = "usr/local/lib/udev/rules.d/"s + file_name;
const std::string stock = "usr/lib/udev/rules.d/"s + file_name;
const std::string stock_rule = "# Rename modes:\n"
                               "ACTION==\"add\", SUBSYSTEM==\"infiniband\", KERNEL!=\"hfi1*\", "
                               "PROGRAM=\"rdma_rename %k NAME_FALLBACK\"\n";
// neither a line break at the end nor text only
const std::string administrators = "# mine\r\n\0\xff rdma_rename"s;
constexpr char sound_link[] = "[Match]\nOriginalName=*\n[Link]\nNamePolicy=path\n";

/// The image of a system with rdma-core.
struct Bench {
    FixtureTree tree;
    NamingSwitch naming{tree.path()};

    Bench()
    {
        tree.directory("etc/udev/rules.d");
        tree.file(stock, stock_rule);
    }
    /// As on a disk that has no room for more bytes of a file.
    [[nodiscard]] Result<std::string> enable_where_only_fit(rlim_t bytes) const
    {
        rlimit limit{};
        REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
        const rlimit full{bytes, limit.rlim_max};
        const auto handler = signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &full);
        auto enabled = naming.enable();
        setrlimit(RLIMIT_FSIZE, &limit);
        signal(SIGXFSZ, handler);
        return enabled;
    }
    [[nodiscard]] bool says(const std::string& text) const
    {
        return naming.status().find(text) != std::string::npos;
    }
    /// Whether status() says that another file renames, too.
    [[nodiscard]] bool is_in_the_way(const std::string& path) const
    {
        return says(tree.path(path) + " renames RDMA devices");
    }
};

} // namespace

TEST_CASE("enable puts a file in place of rdma-core's", "[naming_switch]")
{
    const Bench bench;
    CHECK_FALSE(bench.naming.is_on());
    const auto told = must(bench.naming.enable());
    CHECK(told.find(bench.tree.path(ours)) != std::string::npos);
    CHECK(bench.naming.is_on());
    CHECK(bench.tree.list("etc/udev/rules.d") == List{file_name});
    CHECK(bench.tree.read(stock) == stock_rule);
}

TEST_CASE("the file that enable writes has no rule but for when rdmad is gone", "[naming_switch]")
{
    const Bench bench;
    REQUIRE(bench.naming.enable().has_value());
    const auto text = bench.tree.read(ours);
    CHECK(text.ends_with('\n'));
    std::istringstream lines(text);
    size_t rules = 0;
    for (std::string line; std::getline(lines, line);) {
        const bool is_rule = !line.starts_with('#');
        rules += is_rule ? 1 : 0;
        CHECK((!is_rule || line.starts_with("TEST!=\"/usr/lib/udev/rdma_id\", ")));
    }
    CHECK(rules == 1);
}

TEST_CASE("everybody may read the file that enable writes", "[naming_switch]")
{
    const Bench bench;
    const auto mask = umask(077);
    const auto enabled = bench.naming.enable();
    umask(mask);
    REQUIRE(enabled.has_value());
    using std::filesystem::perms;
    CHECK(std::filesystem::status(bench.tree.path(ours)).permissions() ==
          (perms::owner_read | perms::owner_write | perms::group_read | perms::others_read));
}

TEST_CASE("to enable what is on is nothing to do", "[naming_switch]")
{
    const Bench bench;
    const auto first = must(bench.naming.enable());
    const auto text = bench.tree.read(ours);
    const auto second = must(bench.naming.enable());
    CHECK(second != first);
    CHECK(second.starts_with("Nothing to do"));
    CHECK(bench.tree.read(ours) == text);
    CHECK(bench.tree.list("etc/udev/rules.d") == List{file_name});
}

TEST_CASE("disable takes ours away, and no other", "[naming_switch]")
{
    const Bench bench;
    bench.tree.file("etc/udev/rules.d/70-other.rules", "other");
    REQUIRE(bench.naming.enable().has_value());
    const auto told = must(bench.naming.disable());
    CHECK(told.find(bench.tree.path(ours)) != std::string::npos);
    CHECK_FALSE(bench.naming.is_on());
    CHECK(bench.tree.list("etc/udev/rules.d") == List{"70-other.rules"});
    CHECK(bench.tree.read("etc/udev/rules.d/70-other.rules") == "other");
    CHECK(bench.tree.read(stock) == stock_rule);
}

TEST_CASE("to disable what is off is nothing to do", "[naming_switch]")
{
    const Bench bench;
    CHECK(must(bench.naming.disable()).starts_with("Nothing to do"));
    CHECK(bench.tree.read(stock) == stock_rule);
    REQUIRE(bench.naming.enable().has_value());
    REQUIRE(bench.naming.disable().has_value());
    CHECK(must(bench.naming.disable()).starts_with("Nothing to do"));
}

TEST_CASE("after disable it may be enabled again", "[naming_switch]")
{
    const Bench bench;
    REQUIRE(bench.naming.enable().has_value());
    const auto text = bench.tree.read(ours);
    REQUIRE(bench.naming.disable().has_value());
    REQUIRE(bench.naming.enable().has_value());
    CHECK(bench.naming.is_on());
    CHECK(bench.tree.read(ours) == text);
}

TEST_CASE("an administrator's file stays byte for byte", "[naming_switch]")
{
    const Bench bench;
    const auto path = GENERATE(as<std::string>(), ours, in_run, in_local);
    CAPTURE(path);
    bench.tree.file(path, administrators);
    const auto enabled = bench.naming.enable();
    CHECK(error_of(enabled) == EEXIST);
    CHECK(enabled.error().context.find(bench.tree.path(path)) != std::string::npos);
    CHECK_FALSE(bench.naming.is_on());
    CHECK(must(bench.naming.disable()).starts_with("Nothing to do"));
    CHECK(bench.tree.read(path) == administrators);
    CHECK(bench.tree.read(stock) == stock_rule);
    CHECK(bench.tree.list("etc/udev/rules.d").size() == (path == ours ? 1 : 0));
}

TEST_CASE("a copy of rdma-core's file is the administrator's", "[naming_switch]")
{
    const Bench bench;
    bench.tree.file(ours, stock_rule);
    CHECK(error_of(bench.naming.enable()) == EEXIST);
    CHECK(bench.tree.read(ours) == stock_rule);
}

TEST_CASE("an empty file is the administrator's", "[naming_switch]")
{
    const Bench bench;
    bench.tree.file(ours, "");
    CHECK(error_of(bench.naming.enable()) == EEXIST);
    REQUIRE(bench.naming.disable().has_value());
    CHECK(bench.tree.exists(ours));
}

TEST_CASE("a link to /dev/null is the administrator's", "[naming_switch]")
{
    const Bench bench;
    const auto path = GENERATE(as<std::string>(), ours, in_run);
    const auto target = GENERATE("/dev/null", "/nowhere/at/all");
    bench.tree.link(path, target);
    CHECK(error_of(bench.naming.enable()) == EEXIST);
    REQUIRE(bench.naming.disable().has_value());
    CHECK(bench.tree.target(path) == target);
    CHECK_FALSE(bench.naming.is_on());
    CHECK(bench.says(bench.tree.path(path)));
    CHECK(bench.says("nobody renames RDMA devices"));
}

TEST_CASE("a file that only mentions ours is the administrator's", "[naming_switch]")
{
    const Bench bench;
    REQUIRE(bench.naming.enable().has_value());
    const auto text = "# mine, not:\n" + bench.tree.read(ours);
    bench.tree.file(ours, text);
    CHECK_FALSE(bench.naming.is_on());
    REQUIRE(bench.naming.disable().has_value());
    CHECK(bench.tree.read(ours) == text);
}

TEST_CASE("what is on stays on beside an administrator's file elsewhere", "[naming_switch]")
{
    const Bench bench;
    REQUIRE(bench.naming.enable().has_value());
    bench.tree.file(in_run, administrators);
    CHECK(bench.naming.is_on());
    CHECK(must(bench.naming.enable()).starts_with("Nothing to do"));
    REQUIRE(bench.naming.disable().has_value());
    CHECK(bench.tree.read(in_run) == administrators);
    CHECK(error_of(bench.naming.enable()) == EEXIST);
}

TEST_CASE("the folder of rules is made if it is missing", "[naming_switch]")
{
    const Bench bench;
    bench.tree.remove("etc/udev/rules.d");
    REQUIRE(bench.naming.enable().has_value());
    CHECK(bench.naming.is_on());
    CHECK(bench.tree.list("etc/udev/rules.d") == List{file_name});
}

TEST_CASE("a system without udev's configuration is left as it is", "[naming_switch]")
{
    const Bench bench;
    bench.tree.remove("etc/udev");
    CHECK(error_of(bench.naming.enable()) == ENOENT);
    CHECK_FALSE(bench.naming.is_on());
    CHECK(bench.tree.list("etc").empty());
}

TEST_CASE("a file that cannot be written is an error", "[naming_switch]")
{
    const Bench bench;
    bench.tree.remove("etc/udev/rules.d");
    bench.tree.file("etc/udev/rules.d", "not a directory");
    CHECK(error_of(bench.naming.enable()) == ENOTDIR);
    CHECK(bench.tree.read("etc/udev/rules.d") == "not a directory");
}

TEST_CASE("a full disk leaves nothing behind", "[naming_switch]")
{
    const Bench bench;
    CHECK(error_of(bench.enable_where_only_fit(0)) == EFBIG);
    CHECK(bench.tree.list("etc/udev/rules.d").empty());
    CHECK_FALSE(bench.naming.is_on());
}

TEST_CASE("a disk that is full half-way is not an administrator's file", "[naming_switch]")
{
    const Bench bench;
    const auto enabled = bench.enable_where_only_fit(10);
    CHECK_FALSE(enabled.has_value());
    CHECK(error_of(enabled) != EEXIST);
    CHECK(error_of(enabled) != 0);
    CHECK(bench.tree.list("etc/udev/rules.d").empty());
}

TEST_CASE("what a write that broke off has left does not stop the next", "[naming_switch]")
{
    const Bench bench;
    bench.tree.file(ours + ".new", std::string(5000, 'x'));
    REQUIRE(bench.naming.enable().has_value());
    CHECK(bench.tree.list("etc/udev/rules.d") == List{file_name});
    CHECK(bench.tree.read(ours).find('\0') == std::string::npos);
    CHECK(bench.tree.read(ours).size() < 5000);
}

TEST_CASE("enable writes through no link", "[naming_switch]")
{
    const Bench bench;
    bench.tree.file("victim", "text");
    bench.tree.link(ours + ".new", "../../../victim");
    (void)bench.naming.enable();
    CHECK(bench.tree.read("victim") == "text");
}

TEST_CASE("status says who names devices", "[naming_switch]")
{
    const Bench bench;
    SECTION("nobody")
    {
        bench.tree.remove(stock);
        CHECK(bench.naming.status().starts_with("Nobody renames RDMA devices"));
    }
    SECTION("rdma-core")
    {
        CHECK(bench.naming.status().starts_with("rdma-core names RDMA devices, by " +
                                                bench.tree.path(stock) + ".\n"));
    }
    SECTION("rdma-core, where /usr is not merged")
    {
        bench.tree.rename("usr/lib", "lib");
        CHECK(bench.naming.status().starts_with("rdma-core names RDMA devices, by " +
                                                bench.tree.path("lib/udev/rules.d/") + file_name));
    }
    SECTION("rdmad")
    {
        REQUIRE(bench.naming.enable().has_value());
        CHECK(bench.naming.status().starts_with("rdmad names RDMA devices, by " +
                                                bench.tree.path(ours) + ".\n"));
    }
    SECTION("an administrator's file that renames")
    {
        bench.tree.file(in_run, stock_rule);
        CHECK(
            bench.naming.status().starts_with(bench.tree.path(in_run) + " is an administrator's"));
        CHECK(bench.says("it renames RDMA devices"));
    }
    SECTION("an administrator's file that does not")
    {
        bench.tree.file(in_local, "# no rdma_rename here\n");
        CHECK(bench.naming.status().starts_with(bench.tree.path(in_local) +
                                                " is an administrator's"));
        CHECK(bench.says("nobody renames RDMA devices"));
    }
    SECTION("the first of several")
    {
        bench.tree.file(ours, administrators);
        bench.tree.file(in_run, administrators);
        bench.tree.file(in_local, administrators);
        CHECK(bench.naming.status().starts_with(bench.tree.path(ours) + " is"));
        bench.tree.remove(ours);
        CHECK(bench.naming.status().starts_with(bench.tree.path(in_run) + " is"));
        bench.tree.remove(in_run);
        CHECK(bench.naming.status().starts_with(bench.tree.path(in_local) + " is"));
    }
    CHECK_FALSE(bench.says("renames RDMA devices, too"));
}

TEST_CASE("status changes nothing", "[naming_switch]")
{
    const Bench bench;
    (void)bench.naming.status();
    CHECK(bench.tree.list("etc/udev/rules.d").empty());
    CHECK(bench.tree.list("") == List{"etc", "usr"});
}

TEST_CASE("status names other files that rename", "[naming_switch]")
{
    const Bench bench;
    const auto folder =
        GENERATE("etc/udev/rules.d/"s, "run/udev/rules.d/"s, "usr/local/lib/udev/rules.d/"s);
    const auto rule = GENERATE("PROGRAM=\"rdma_rename %k NAME_PCI\"\n"s,
                               "# mine\nRUN+=\"/usr/sbin/rdma dev set mlx5_0 name x\""s,
                               "\t PROGRAM=\"/usr/lib/udev/rdma_rename %k\" # NAME_PCI\r\n"s);
    CAPTURE(rule);
    const auto path = folder + "70-mine.rules";
    bench.tree.file(path, rule);
    CHECK(bench.is_in_the_way(path));
    REQUIRE(bench.naming.enable().has_value());
    CHECK(bench.is_in_the_way(path));
    CHECK(bench.tree.read(path) == rule);
}

TEST_CASE("status names each of several files that rename", "[naming_switch]")
{
    const Bench bench;
    for (const auto* name : {"10-a.rules", "70-b.rules"})
        bench.tree.file("etc/udev/rules.d/"s + name, stock_rule);
    CHECK(bench.is_in_the_way("etc/udev/rules.d/10-a.rules"));
    CHECK(bench.is_in_the_way("etc/udev/rules.d/70-b.rules"));
}

TEST_CASE("a file that does not rename is in nobody's way", "[naming_switch]")
{
    const Bench bench;
    SECTION("comments")
    {
        bench.tree.file("etc/udev/rules.d/70-mine.rules",
                        "# PROGRAM=\"rdma_rename %k\"\n \t# rdma dev set\n#rdma_rename");
    }
    SECTION("other rules")
    {
        bench.tree.file("etc/udev/rules.d/70-mine.rules", "SUBSYSTEM==\"infiniband\"\n");
    }
    SECTION("udev reads no such file")
    {
        for (const auto* name : {"70-mine.rules.bak", "70-mine.conf", "rules"})
            bench.tree.file("etc/udev/rules.d/"s + name, stock_rule);
    }
    SECTION("a package's")
    {
        bench.tree.file("usr/lib/udev/rules.d/59-rdmad-name.rules", stock_rule);
    }
    SECTION("no file")
    {
        bench.tree.directory("etc/udev/rules.d/70-mine.rules");
        bench.tree.link("etc/udev/rules.d/71-mine.rules", "/nowhere/at/all");
        bench.tree.link("etc/udev/rules.d/72-mine.rules", "/dev/null");
        REQUIRE(mkfifo(bench.tree.path("etc/udev/rules.d/73-mine.rules").c_str(), 0600) == 0);
    }
    CHECK_FALSE(bench.says("too"));
}

TEST_CASE("a file that another hides is in nobody's way", "[naming_switch]")
{
    const Bench bench;
    bench.tree.file("run/udev/rules.d/70-mine.rules", stock_rule);
    bench.tree.link("etc/udev/rules.d/70-mine.rules", "/dev/null");
    CHECK_FALSE(bench.is_in_the_way("run/udev/rules.d/70-mine.rules"));
}

TEST_CASE("status says that without .link files no device gets a name", "[naming_switch]")
{
    const Bench bench;
    CHECK(bench.says("There is no .link file without mistakes"));
    bench.tree.file("etc/rdmad/link.d/50-empty.link", "");
    CHECK(bench.says("There is no .link file without mistakes"));
    CHECK_FALSE(bench.says("50-empty.link"));
}

TEST_CASE("whoever enables naming without a sound .link file is told what follows",
          "[naming_switch]")
{
    const Bench bench;
    const NamingSwitch naming(bench.tree.path());
    bench.tree.file("etc/rdmad/link.d/50-broken.link", "[Match]\nPth=*\n");
    CHECK(must(naming.enable()).find("There is no .link file without mistakes") !=
          std::string::npos);
    CHECK(must(naming.disable()).find("without mistakes") == std::string::npos);
    bench.tree.file("etc/rdmad/link.d/50-default.link", sound_link);
    CHECK(must(naming.enable()).find("without mistakes") == std::string::npos);
}

TEST_CASE("status tells of a file in place of the rules that rdmad needs", "[naming_switch]")
{
    const Bench bench;
    CHECK_FALSE(bench.says("stands in place"));
    bench.tree.link("etc/udev/rules.d/59-rdmad-name.rules", "/dev/null");
    CHECK(bench.says(bench.tree.path("etc/udev/rules.d/59-rdmad-name.rules") +
                     " overrides rdmad's own file of that name.\n"));
}

TEST_CASE("status names .link files that are sound", "[naming_switch]")
{
    const Bench bench;
    const auto path = GENERATE(
        "etc/rdmad/link.d/50-default.link"s, "run/rdmad/link.d/50-default.link"s,
        "usr/local/lib/rdmad/link.d/50-default.link"s, "usr/lib/rdmad/link.d/50-default.link"s);
    bench.tree.file(path, sound_link);
    CHECK(bench.says(bench.tree.path(path) + "\n"));
    CHECK_FALSE(bench.says("names no device"));
    CHECK_FALSE(bench.says("There is no .link file without mistakes"));
}

TEST_CASE("status tells what is wrong with .link files, with file, line and key", "[naming_switch]")
{
    const Bench bench;
    const auto broken = "etc/rdmad/link.d/10-storage.link"s;
    bench.tree.file(broken, sound_link + "NamePolicy=pth\nName=a/b\n"s);
    bench.tree.file("etc/rdmad/link.d/50-default.link", sound_link);
    const auto path = bench.tree.path(broken);
    CHECK(bench.says(path + ": names no device\n"));
    CHECK(bench.says(path + ":5: NamePolicy: "));
    CHECK(bench.says(path + ":6: Name: "));
    CHECK(bench.says(bench.tree.path("etc/rdmad/link.d/50-default.link") + "\n"));
}

TEST_CASE("rdmad.names=0 on the kernel command line keeps rdmad from naming", "[naming_switch]")
{
    const Bench bench;
    const auto words = GENERATE("rdmad.names=0", "rdmad.names=no quiet", "ro rdmad.names=Off",
                                "rdmad.names=1 rdmad.names=false", "rdmad.names=0 rdmad.names=x");
    CAPTURE(words);
    bench.tree.file("proc/cmdline", "root=/dev/vda "s + words + "\n");
    CHECK_FALSE(bench.says("rdmad.names=0"));
    CHECK(must(bench.naming.enable()).find("rdmad.names=0") != std::string::npos);
    CHECK_FALSE(bench.naming.is_on());
    CHECK(bench.says("But rdmad.names=0 on the kernel command line"));
    CHECK(must(bench.naming.disable()).starts_with("Removed"));
    CHECK_FALSE(bench.says("rdmad.names=0"));
}

TEST_CASE("any other kernel command line leaves naming as it is", "[naming_switch]")
{
    const Bench bench;
    REQUIRE(bench.naming.enable().has_value());
    SECTION("words that do not say so")
    {
        const auto words =
            GENERATE("", "quiet", "rdmad.names", "rdmad.names=yes", "rdmad.names=0 rdmad.names=1",
                     "xrdmad.names=0", "rdmad.names_=0", "net.ifnames=0");
        CAPTURE(words);
        bench.tree.file("proc/cmdline", words + "\n"s);
        CHECK_FALSE(bench.says("kernel command line"));
    }
    SECTION("a value that is none")
    {
        const auto value = GENERATE("", "2", "00", "never");
        CAPTURE(value);
        bench.tree.file("proc/cmdline", "quiet rdmad.names="s + value + "\n");
        CHECK(bench.says("kernel command line: rdmad.names=: '"s + value +
                         "' is neither yes nor no"));
    }
    SECTION("no /proc") {}
    CHECK(bench.naming.is_on());
    CHECK_FALSE(bench.says("But rdmad.names"));
}
