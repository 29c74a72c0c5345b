// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/match.hpp"
#include "tests/catch.hpp"

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace rdmad::config;
using namespace std::string_literals;

namespace {

using Words = std::vector<std::string>;
using Values = std::vector<std::string_view>;
using Settings = std::vector<std::pair<std::string, std::string>>;

PatternList list(const Words& words)
{
    PatternList patterns;
    patterns.add(words);
    return patterns;
}

Match match(const Settings& settings)
{
    Match all;
    for (const auto& [key, value] : settings) {
        CAPTURE(key, value);
        CHECK(all.set(key, value).empty());
    }
    return all;
}

std::string why_not(const std::string& key, const std::string& value, const Facts& facts)
{
    return match({{key, value}}).why_not(facts);
}

bool holds(const std::string& key, const std::string& value, const Facts& facts)
{
    return why_not(key, value, facts).empty();
}

/// Why it is refused, empty if it is not.
std::string refused(const std::string& key, const std::string& value)
{
    return Match().set(key, value);
}

Facts command_line(const std::string& text)
{
    return {.kernel_command_line = text};
}

Facts virtualized(const std::string& text)
{
    return {.virtualization = [text] { return text; }};
}

Facts properties(const std::map<std::string, std::string>& known)
{
    return {.property = [known](const std::string& name) -> std::optional<std::string> {
        const auto found = known.find(name);
        return found == known.end() ? std::nullopt : std::optional(found->second);
    }};
}

/// A device of which all is told.
Facts all_told()
{
    return {.original_name = "mlx5_0",
            .driver = "mlx5_core",
            .path = "pci-0000:c1:00.0",
            .node_type = "ca",
            .node_guid = "506b4b0300a1b2c3",
            .sys_image_guid = "506b4b0300a1b2c0",
            .port_guids = {"506b4b0300a1b2c4", "506b4b0300a1b2c5"},
            .link_types = {"infiniband", "roce"},
            .netdevs = {"ib0", "eth1"},
            .host = "node17.example",
            .machine_id = "4c4c4544004b3510805ac4c04f4d3732"};
}

constexpr std::array list_keys = {"OriginalName", "Driver",   "Path",     "NodeType", "NodeGUID",
                                  "SysImageGUID", "PortGUID", "LinkType", "NetDev",   "Host"};

} // namespace

TEST_CASE("a pattern is a shell's", "[match]")
{
    CHECK(glob_matches("mlx5_*", "mlx5_0"));
    CHECK(glob_matches("mlx5_*", "mlx5_"));
    CHECK(glob_matches("mlx5_?", "mlx5_0"));
    CHECK(glob_matches("mlx5_[0-3]", "mlx5_2"));
    CHECK(glob_matches("mlx5_[!0-3]", "mlx5_4"));
    CHECK(glob_matches("mlx5_\\*", "mlx5_*"));
    CHECK(glob_matches("", ""));

    CHECK_FALSE(glob_matches("mlx5_?", "mlx5_10"));
    CHECK_FALSE(glob_matches("mlx5_[0-3]", "mlx5_4"));
    CHECK_FALSE(glob_matches("mlx5_\\*", "mlx5_0"));
    CHECK_FALSE(glob_matches("mlx5", "mlx5_0"));
    CHECK_FALSE(glob_matches("lx5_0", "mlx5_0"));
    CHECK_FALSE(glob_matches("MLX5_0", "mlx5_0"));
    CHECK_FALSE(glob_matches("?", ""));
}

TEST_CASE("neither a slash nor a leading dot is special in a pattern", "[match]")
{
    CHECK(glob_matches("*", "a/b"));
    CHECK(glob_matches("a?b", "a/b"));
    CHECK(glob_matches("a[/]b", "a/b"));
    CHECK(glob_matches("*", ".a"));
    CHECK(glob_matches("?a", ".a"));
    CHECK(glob_matches("a/*", "a/.b"));
}

TEST_CASE("a list holds where one of its patterns matches", "[match]")
{
    const auto patterns = list({"mlx5_*", "siw*"});
    CHECK(patterns.holds("mlx5_0"));
    CHECK(patterns.holds("siw0"));
    CHECK_FALSE(patterns.holds("rxe0"));
    CHECK_FALSE(patterns.empty());
}

TEST_CASE("a list that begins with ! holds where none of its patterns matches", "[match]")
{
    const auto patterns = list({"!mlx5_*", "siw*"});
    CHECK_FALSE(patterns.holds("mlx5_0"));
    CHECK_FALSE(patterns.holds("siw0"));
    CHECK(patterns.holds("rxe0"));
    CHECK(patterns.holds(Values()));
}

TEST_CASE("the ! may stand alone", "[match]")
{
    const auto patterns = list({"!", "mlx5_*", "siw*"});
    CHECK_FALSE(patterns.holds("mlx5_0"));
    CHECK_FALSE(patterns.holds("siw0"));
    CHECK(patterns.holds("rxe0"));
}

TEST_CASE("a ! within a list negates nothing", "[match]")
{
    const auto patterns = list({"mlx5_*", "!siw*"});
    CHECK(patterns.holds("mlx5_0"));
    CHECK(patterns.holds("!siw0"));
    CHECK_FALSE(patterns.holds("rxe0"));
}

TEST_CASE("lists of two assignments are one", "[match]")
{
    auto patterns = list({"mlx5_*"});
    patterns.add({"siw*"});
    CHECK(patterns.holds("mlx5_0"));
    CHECK(patterns.holds("siw0"));
    patterns.add({"!mlx5_1", "siw1"});
    CHECK(patterns.holds("mlx5_0"));
    CHECK_FALSE(patterns.holds("mlx5_1"));
    CHECK_FALSE(patterns.holds("siw1"));
    CHECK_FALSE(patterns.holds("rxe0"));
}

TEST_CASE("an empty list holds for anything", "[match]")
{
    PatternList patterns;
    CHECK(patterns.empty());
    CHECK(patterns.holds("mlx5_0"));
    CHECK(patterns.holds(""));
    CHECK(patterns.holds(Values()));
    patterns.add({});
    CHECK(patterns.empty());
    patterns.add({"siw*"});
    patterns.clear();
    CHECK(patterns.empty());
    CHECK(patterns.holds("mlx5_0"));
}

TEST_CASE("a word without a pattern adds none", "[match]")
{
    CHECK(list({""}).empty());
    CHECK(list({"!"}).empty());
    CHECK(list({"siw*", ""}).text() == "siw*");
}

TEST_CASE("of many values one may match, and none a negated pattern", "[match]")
{
    CHECK(list({"ib*"}).holds(Values{"eth0", "ib0"}));
    CHECK_FALSE(list({"ib*"}).holds(Values{"eth0", "eth1"}));
    CHECK_FALSE(list({"!ib*"}).holds(Values{"eth0", "ib0"}));
    CHECK(list({"!ib*"}).holds(Values{"eth0", "eth1"}));
    CHECK_FALSE(list({"*"}).holds(Values()));
}

TEST_CASE("a list is told as it was given", "[match]")
{
    CHECK(list({"mlx5_*", "siw*"}).text() == "mlx5_* siw*");
    CHECK(list({"!mlx5_*"}).text() == "!mlx5_*");
    CHECK(PatternList().text().empty());
}

// it gives "!mlx5_* !siw*", which as a list means something else
TEST_CASE("a negated list is told as it was given", "[match]")
{
    CHECK(list({"!mlx5_*", "siw*"}).text() == "!mlx5_* siw*");
}

TEST_CASE("a [Match] without keys is empty, and holds", "[match]")
{
    const Match none;
    CHECK(none.empty());
    CHECK(none.why_not({}).empty());
    CHECK(none.why_not(all_told()).empty());
}

TEST_CASE("each key asks about its fact", "[match]")
{
    struct Row {
        const char* key;
        const char* good;
        const char* bad;
    };
    const auto row = GENERATE(
        Row{"OriginalName", "mlx5_0", "mlx5_1"}, Row{"OriginalName", "siw* mlx5_*", "siw* rxe*"},
        Row{"Driver", "mlx5_core", "mlx5_0"}, Row{"Driver", "mlx[45]_core", "mlx[34]_core"},
        Row{"Path", "pci-0000:c1:00.0", "pci-0000:c1:00.1"}, Row{"Path", "pci-0000:c1:*", "pci-?"},
        Row{"NodeType", "ca", "rnic"}, Row{"NodeGUID", "506b4b0300a1b2c3", "506b4b0300a1b2c0"},
        Row{"SysImageGUID", "506b4b0300a1b2c0", "506b4b0300a1b2c3"},
        Row{"PortGUID", "506b4b0300a1b2c4", "506b4b0300a1b2c3"},
        Row{"LinkType", "infiniband", "opa"}, Row{"NetDev", "ib0", "mlx5_0"},
        Row{"Host", "node17.example", "node17"}, Row{"Host", "node1[0-9].*", "node2*"});
    CAPTURE(row.key, row.good, row.bad);
    CHECK(holds(row.key, row.good, all_told()));
    CHECK_FALSE(holds(row.key, row.bad, all_told()));
    CHECK_FALSE(holds(row.key, "!"s + row.good, all_told()));
    CHECK(holds(row.key, "!"s + row.bad, all_told()));
    CHECK_FALSE(match({{row.key, row.good}}).empty());

    // of something of which not all is known, what is known counts
    CHECK_FALSE(match({{row.key, row.good}}).is_ruled_out(all_told()));
    CHECK(match({{row.key, row.bad}}).is_ruled_out(all_told()));
    CHECK_FALSE(match({{row.key, row.bad}}).is_ruled_out({}));
}

TEST_CASE("a GUID may be written as people do", "[match]")
{
    const auto* guid =
        GENERATE("506b4b0300a1b2c3", "0x506b4b0300a1b2c3", "506b:4b03:00a1:b2c3",
                 "0x506b:4b03:00A1:b2c3", "506B4B0300A1B2C3", "50:6b:4b:03:00:a1:b2:c3",
                 "0X506B4B0300A1B2C3", "506B:4B03:*", "0x506b4b0300a1b2c?", "506b4b0300a1b2[C-D]3");
    CAPTURE(guid);
    Facts facts;
    facts.node_guid = facts.sys_image_guid = "506b4b0300a1b2c3";
    facts.port_guids = {"0000000000000001", "506b4b0300a1b2c3"};
    for (const auto* key : {"NodeGUID", "SysImageGUID", "PortGUID"}) {
        CAPTURE(key);
        CHECK(holds(key, guid, facts));
        CHECK_FALSE(holds(key, "!"s + guid, facts));
        CHECK(holds(key, "0000000000000002 "s + guid, facts));
        CHECK_FALSE(holds(key, "!0000000000000002 "s + guid, facts));
    }
}

TEST_CASE("all digits of a GUID may be capitals", "[match]")
{
    CHECK(holds("NodeGUID", "0123:4567:89AB:CDEF", {.node_guid = "0123456789abcdef"}));
    CHECK(holds("NodeGUID", "0123456789abcdef", {.node_guid = "0123456789abcdef"}));
}

TEST_CASE("only GUIDs are taken in capitals or with colons", "[match]")
{
    CHECK_FALSE(holds("OriginalName", "MLX5_0", all_told()));
    CHECK_FALSE(holds("Path", "pci-0000c100.0", all_told()));
}

TEST_CASE("of several ports one is enough", "[match]")
{
    CHECK(holds("PortGUID", "506b4b0300a1b2c5", all_told()));
    CHECK(holds("LinkType", "roce", all_told()));
    CHECK(holds("NetDev", "eth*", all_told()));
}

TEST_CASE("of several ports none may be excluded", "[match]")
{
    CHECK_FALSE(holds("PortGUID", "!506b4b0300a1b2c5", all_told()));
    CHECK_FALSE(holds("LinkType", "!roce", all_told()));
    CHECK_FALSE(holds("NetDev", "!eth1", all_told()));
    CHECK(holds("NetDev", "!eth0", all_told()));
}

TEST_CASE("what is not told matches not even *", "[match]")
{
    for (const auto* key : list_keys) {
        CAPTURE(key);
        CHECK(holds(key, "*", all_told()));
        CHECK_FALSE(holds(key, "*", {}));
    }
    CHECK_FALSE(holds("Property", "A=*", properties({})));
}

TEST_CASE("what is not told is not excluded either", "[match]")
{
    for (const auto* key : list_keys) {
        CAPTURE(key);
        CHECK(holds(key, "!*", {}));
    }
    CHECK(holds("Property", "!A=*", {}));
}

TEST_CASE("a port without a network device is none", "[match]")
{
    CHECK_FALSE(holds("NetDev", "*", {.netdevs = {"", ""}}));
    CHECK(holds("NetDev", "*", {.netdevs = {"", "ib1"}}));
}

TEST_CASE("a host goes by its name or its machine ID", "[match]")
{
    CHECK(holds("Host", "4c4c4544004b3510805ac4c04f4d3732", all_told()));
    CHECK(holds("Host", "other 4c4c4544004b3510805ac4c04f4d3732", all_told()));
    CHECK_FALSE(holds("Host", "!4c4c4544004b3510805ac4c04f4d3732", all_told()));
    CHECK_FALSE(holds("Host", "4c4c4544004b3510805ac4c04f4d3733", all_told()));
    CHECK(holds("Host", "4c4c*", {.machine_id = "4c4c4544004b3510805ac4c04f4d3732"}));
    CHECK(holds("Host", "node*", {.host = "node17"}));
}

TEST_CASE("a property matches by its value", "[match]")
{
    const auto facts = properties({{"ID_VENDOR", "Mellanox"}, {"ID_MODEL", "a b"}, {"NONE", ""}});
    CHECK(holds("Property", "ID_VENDOR=Mellanox", facts));
    CHECK(holds("Property", "ID_VENDOR=Mell*", facts));
    CHECK(holds("Property", "\"ID_MODEL=a b\"", facts));
    CHECK(holds("Property", "NONE=", facts));
    CHECK(holds("Property", "NONE=*", facts));
    CHECK_FALSE(holds("Property", "ID_VENDOR=Intel", facts));
    CHECK_FALSE(holds("Property", "ID_VENDOR=", facts));
    CHECK_FALSE(holds("Property", "ID_V*=Mellanox", facts));
    CHECK_FALSE(holds("Property", "OTHER=*", facts));
}

TEST_CASE("the value of a property may hold a =", "[match]")
{
    CHECK(holds("Property", "A=b=c", properties({{"A", "b=c"}})));
    CHECK_FALSE(holds("Property", "A=b=c", properties({{"A", "c"}, {"A=b", "c"}})));
}

TEST_CASE("all properties must hold", "[match]")
{
    const auto facts = properties({{"A", "1"}, {"B", "2"}});
    CHECK(holds("Property", "A=1 B=2", facts));
    CHECK_FALSE(holds("Property", "A=1 B=3", facts));
    CHECK_FALSE(holds("Property", "A=2 B=2", facts));
    CHECK_FALSE(match({{"Property", "A=1"}, {"Property", "B=3"}}).why_not(facts).empty());
}

TEST_CASE("a property may be excluded", "[match]")
{
    const auto facts = properties({{"A", "1"}});
    CHECK_FALSE(holds("Property", "!A=1", facts));
    CHECK(holds("Property", "!A=2", facts));
    CHECK(holds("Property", "!B=1", facts));
    CHECK_FALSE(holds("Property", "A=1 !A=1", facts));
}

TEST_CASE("a property without a value is refused", "[match]")
{
    const auto what = refused("Property", "A=1 ID_VENDOR");
    CAPTURE(what);
    CHECK(what.find("ID_VENDOR") != std::string::npos);
    CHECK_FALSE(refused("Property", "!A").empty());
}

TEST_CASE("a word of the kernel command line is itself, or stands before a =", "[match]")
{
    const auto facts = command_line("ro root=/dev/sda1 rdmad.names=off quiet");
    CHECK(holds("KernelCommandLine", "ro", facts));
    CHECK(holds("KernelCommandLine", "quiet", facts));
    CHECK(holds("KernelCommandLine", "root", facts));
    CHECK(holds("KernelCommandLine", "rdmad.names", facts));
    CHECK(holds("KernelCommandLine", "rdmad.names=off", facts));
    CHECK_FALSE(holds("KernelCommandLine", "r", facts));
    CHECK_FALSE(holds("KernelCommandLine", "rdmad", facts));
    CHECK_FALSE(holds("KernelCommandLine", "off", facts));
    CHECK_FALSE(holds("KernelCommandLine", "rdmad.names=on", facts));
    CHECK_FALSE(holds("KernelCommandLine", "rdmad.names=", facts));
    CHECK_FALSE(holds("KernelCommandLine", "quiet=", facts));
    CHECK_FALSE(holds("KernelCommandLine", "qui*", facts));
    CHECK_FALSE(holds("KernelCommandLine", "quiet", {}));
}

TEST_CASE("a word of the kernel command line may be excluded", "[match]")
{
    const auto facts = command_line("ro rdmad.names=off");
    CHECK_FALSE(holds("KernelCommandLine", "!ro", facts));
    CHECK_FALSE(holds("KernelCommandLine", "!rdmad.names", facts));
    CHECK(holds("KernelCommandLine", "!rdmad.names=on", facts));
    CHECK(holds("KernelCommandLine", "!quiet", facts));
    CHECK(holds("KernelCommandLine", "!quiet", {}));
}

TEST_CASE("all words of the kernel command line must hold", "[match]")
{
    const auto facts = command_line("ro quiet");
    CHECK(holds("KernelCommandLine", "ro quiet", facts));
    CHECK_FALSE(holds("KernelCommandLine", "ro splash", facts));
    CHECK_FALSE(holds("KernelCommandLine", "splash ro", facts));
}

TEST_CASE("a word of the kernel command line may be quoted", "[match]")
{
    CHECK(holds("KernelCommandLine", "\"a=b c\"", command_line("x a=\"b c\" y")));
    CHECK(holds("KernelCommandLine", "y", command_line("x a=\"b c\" y")));
    CHECK_FALSE(holds("KernelCommandLine", "c", command_line("x a=\"b c\" y")));
}

TEST_CASE("virtualization is asked for by kind, by name or at all", "[match]")
{
    struct Row {
        const char* seen;
        std::vector<const char*> good;
        std::vector<const char*> bad;
    };
    const auto row =
        GENERATE(Row{"vm kvm",
                     {"yes", "true", "on", "1", "vm", "kvm", "!no", "!container"},
                     {"no", "false", "container", "lxc", "xen", "none", "!vm", "!yes"}},
                 Row{"container lxc",
                     {"yes", "container", "lxc", "!vm", "!no"},
                     {"no", "vm", "kvm", "none", "!container", "!lxc"}},
                 Row{"none",
                     {"no", "false", "off", "0", "!yes", "!vm", "!container", "!kvm"},
                     {"yes", "vm", "container", "kvm", "!no"}});
    CAPTURE(row.seen);
    for (const auto* good : row.good) {
        CAPTURE(good);
        CHECK(holds("Virtualization", good, virtualized(row.seen)));
    }
    for (const auto* bad : row.bad) {
        CAPTURE(bad);
        CHECK_FALSE(holds("Virtualization", bad, virtualized(row.seen)));
    }
}

TEST_CASE("virtualization is asked for only where it counts", "[match]")
{
    int asked = 0;
    auto facts = all_told();
    facts.virtualization = [&] {
        asked++;
        return "vm kvm"s;
    };
    CHECK(holds("Driver", "mlx5_core", facts));
    CHECK_FALSE(match({{"Virtualization", "vm"}, {"Driver", "siw"}}).why_not(facts).empty());
    CHECK(asked == 0);
    CHECK(match({{"Virtualization", "vm"}, {"Driver", "mlx5_core"}}).why_not(facts).empty());
    CHECK(asked == 1);
}

TEST_CASE("virtualization takes one word, the last", "[match]")
{
    CHECK_FALSE(refused("Virtualization", "vm container").empty());
    const auto section = match({{"Virtualization", "vm"}, {"Virtualization", "container"}});
    CHECK_FALSE(section.why_not(virtualized("vm kvm")).empty());
    CHECK(section.why_not(virtualized("container lxc")).empty());
}

TEST_CASE("all keys must hold", "[match]")
{
    const auto section = match({{"Driver", "mlx5_core"}, {"LinkType", "roce"}, {"Host", "node*"}});
    auto facts = all_told();
    CHECK(section.why_not(facts).empty());
    facts.link_types = {"infiniband"};
    CHECK(section.why_not(facts).starts_with("LinkType="));
    facts = all_told();
    facts.driver = "siw";
    CHECK(section.why_not(facts).starts_with("Driver="));
    facts = all_told();
    facts.host = "other";
    CHECK(section.why_not(facts).starts_with("Host="));
}

TEST_CASE("two assignments to a key are one list", "[match]")
{
    const auto section = match({{"Driver", "siw"}, {"Driver", "mlx5_core"}});
    CHECK(section.why_not({.driver = "siw"}).empty());
    CHECK(section.why_not({.driver = "mlx5_core"}).empty());
    CHECK_FALSE(section.why_not({.driver = "rdma_rxe"}).empty());
}

TEST_CASE("an empty value forgets what the key had", "[match]")
{
    std::vector<const char*> keys(list_keys.begin(), list_keys.end());
    keys.insert(keys.end(), {"KernelCommandLine", "Virtualization"});
    for (const auto* key : keys) {
        CAPTURE(key);
        CHECK(match({{key, "vm*"}, {key, ""}}).empty());
        CHECK(match({{key, "!vm*"}, {key, "  "}}).empty());
        CHECK(match({{key, ""}}).empty());
        CHECK_FALSE(match({{key, "vm*"}, {key, ""}, {key, "kvm*"}}).empty());
    }
    CHECK(match({{"Property", "A=1"}, {"Property", ""}}).empty());
    const auto section = match({{"Driver", "siw"}, {"Driver", ""}, {"Driver", "mlx5_core"}});
    CHECK_FALSE(section.why_not({.driver = "siw"}).empty());
    CHECK(section.why_not({.driver = "mlx5_core"}).empty());
}

TEST_CASE("an empty value forgets that key only", "[match]")
{
    const auto section = match({{"Driver", "siw"}, {"Host", "a"}, {"Host", ""}});
    CHECK_FALSE(section.empty());
    CHECK_FALSE(section.why_not({.driver = "mlx5_core", .host = "b"}).empty());
    CHECK(section.why_not({.driver = "siw", .host = "b"}).empty());
}

TEST_CASE("an unknown key is refused", "[match]")
{
    const auto* key = GENERATE("", "MACAddress", "driver", "Name", "KernelVersion", "NodeGuid");
    CAPTURE(key);
    CHECK_FALSE(refused(key, "a").empty());
    CHECK_FALSE(refused(key, "").empty());
    Match section;
    (void)section.set(key, "a");
    CHECK(section.empty());
}

TEST_CASE("a quote that does not end is refused", "[match]")
{
    for (const auto* key :
         {"Driver", "NodeGUID", "Property", "KernelCommandLine", "Host", "Virtualization"}) {
        CAPTURE(key);
        CHECK_FALSE(refused(key, "\"A=1").empty());
    }
}

TEST_CASE("a quoted pattern may hold a blank", "[match]")
{
    CHECK(holds("Driver", "\"a b\"", {.driver = "a b"}));
    CHECK_FALSE(holds("Driver", "\"a b\"", {.driver = "a"}));
}

TEST_CASE("the reason names the key, what it wants and what is there", "[match]")
{
    CHECK(why_not("Driver", "mlx5_*", {.driver = "siw"}) == "Driver=mlx5_* does not match 'siw'");
    const auto many = why_not("NetDev", "ib0 ib1", {.netdevs = {"eth0", "eth1"}});
    CAPTURE(many);
    CHECK(many.starts_with("NetDev=ib0 ib1 "));
    CHECK(many.find("eth0") != std::string::npos);
    CHECK(many.find("eth1") != std::string::npos);
}

TEST_CASE("every reason begins with its key", "[match]")
{
    const auto key = GENERATE(as<std::string>(), "OriginalName", "Driver", "Path", "NodeType",
                              "NodeGUID", "SysImageGUID", "PortGUID", "LinkType", "NetDev", "Host",
                              "KernelCommandLine", "Virtualization");
    CHECK(why_not(key, "vm*", {}).starts_with(key + "="));
    CHECK(why_not(key, "vm*", all_told()).starts_with(key + "="));
    CHECK(why_not("Property", "A=1", properties({})).starts_with("Property=A=1 "));
}

TEST_CASE("where nothing is known of properties they exclude nothing, and the match says so",
          "[match]")
{
    CHECK(holds("Property", "A=1", {}));
    CHECK(holds("Property", "!A=1", {}));
    Match match;
    CHECK_FALSE(match.asks_for_property());
    CHECK(match.set("Property", "A=1").empty());
    CHECK(match.asks_for_property());
    CHECK(match.set("Property", "").empty());
    CHECK_FALSE(match.asks_for_property());
}

TEST_CASE("a match says whether it asks for the driver", "[match]")
{
    Match match;
    CHECK(match.set("NetDev", "x").empty());
    CHECK_FALSE(match.asks_for_driver());
    CHECK(match.set("Driver", "!rdma_rxe").empty());
    CHECK(match.asks_for_driver());
    CHECK(match.set("Driver", "").empty());
    CHECK_FALSE(match.asks_for_driver());
}

TEST_CASE("a reason shows no control character", "[match]")
{
    const auto reason = why_not("Driver", "a\x1b", {.driver = "b\x1b"});
    CHECK(reason.find('\x1b') == std::string::npos);
    CHECK(why_not("Property", "A=\x1b", {}).find('\x1b') == std::string::npos);
    CHECK(why_not("KernelCommandLine", "\x1b", {}).find('\x1b') == std::string::npos);
    CHECK(why_not("Virtualization", "\x1b", {}).find('\x1b') == std::string::npos);
    CHECK(refused("Property", "\x1b").find('\x1b') == std::string::npos);
}

TEST_CASE("a boolean is one of eight words", "[match]")
{
    for (const auto* yes : {"yes", "true", "on", "1"})
        CHECK(parse_boolean(yes) == true);
    for (const auto* no : {"no", "false", "off", "0"})
        CHECK(parse_boolean(no) == false);
}

TEST_CASE("anything else is no boolean", "[match]")
{
    const auto text = GENERATE(""s, " "s, "2"s, "-1"s, "00"s, "yes "s, " yes"s, "yess"s, "ye"s,
                               "enable"s, "o"s, "tru"s, "yes no"s, "\0"s);
    CAPTURE(text);
    CHECK_FALSE(parse_boolean(text).has_value());
}

TEST_CASE("a letter is a boolean", "[match]")
{
    for (const auto* text : {"y", "t", "Y"})
        CHECK(parse_boolean(text) == true);
    for (const auto* text : {"n", "f", "F"})
        CHECK(parse_boolean(text) == false);
}

TEST_CASE("a GUID may be matched by a character class", "[match]")
{
    Match match;
    REQUIRE(match.set("NodeGUID", "0x506b:[[:xdigit:]]*").empty());
    CHECK(match.why_not({.node_guid = "506b4b0300a1b2c3"}).empty());
}

TEST_CASE("a word with an embedded NUL is no boolean", "[match]")
{
    CHECK_FALSE(parse_boolean("yes\0no"s).has_value());
}

TEST_CASE("a word that can match no device is refused, for it is a slip", "[match]")
{
    for (const auto* key : {"NodeGUID", "SysImageGUID", "PortGUID"}) {
        CAPTURE(key);
        for (const auto* word :
             {"123", "zz", "!506b4b0300a1b2c", "506b4b0300a1b2c3f", "506b4b0300a1b2cg"})
            CHECK(refused(key, word).find("is not a GUID of 16 hexadecimal digits") !=
                  std::string::npos);
        CHECK(refused(key, "0x506b:4b03:00A1:b2c3 506b* !?").empty());
    }
    for (const auto* word : {"ethernet", "RoCE", "!ib"})
        CHECK(refused("LinkType", word).find("is not a link type") != std::string::npos);
    CHECK(refused("LinkType", "infiniband opa roce iwarp usnic efa unknown ro* !iw[a]rp").empty());
    for (const auto* word : {"CA", "hca", "!rnic1"})
        CHECK(refused("NodeType", word).find("is not a node type") != std::string::npos);
    CHECK(
        refused("NodeType", "ca switch router rnic usnic usnic-udp unspecified c* !c[a]").empty());
    const auto refused_port = [](const std::string& word) {
        return Match(Match::Of::port).set("Port", word);
    };
    for (const auto* word : {"0", "01", "-1", "zero", "!1x", "4294967296"})
        CHECK(refused_port(word).find("is not a port number") != std::string::npos);
    CHECK(refused_port("1 2 254 !10 1* [12]").empty());
}

TEST_CASE("a list without a pattern tells the only values that it holds for", "[match]")
{
    CHECK(list({"a", "b"}).literals() == Words{"a", "b"});
    CHECK(list({}).literals().empty());
    const auto* odd = GENERATE("*", "b?", "[b]", "\\b");
    CHECK(list({"a", odd}).literals().empty());
    CHECK(list({"!a", "b"}).literals().empty());
    auto mixed = list({"a"});
    mixed.add({"!b"});
    CHECK(mixed.literals().empty());
}

TEST_CASE("the port GUIDs of a [Match] are those that it names one by one", "[match]")
{
    CHECK(match({{"PortGUID", "0x506b:4b03:00A1:b2c3 506b4b0300a1b2c4"}}).port_guids() ==
          Words{"506b4b0300a1b2c3", "506b4b0300a1b2c4"});
    CHECK(match({{"PortGUID", "506b4b0300a1b2c3 506b4b03*"}}).port_guids().empty());
    CHECK(match({{"PortGUID", "!506b4b0300a1b2c3"}}).port_guids().empty());
    CHECK(match({{"NodeGUID", "506b4b0300a1b2c3"}}).port_guids().empty());
    CHECK(match({{"NodeGUID", "0x506b4b0300a1b2c3"}}).node_guids() ==
          std::vector<std::string>{"506b4b0300a1b2c3"});
}

TEST_CASE("keys of devices and of ports are told apart", "[match]")
{
    const auto unknown = "unknown key in [Match]"s;
    for (const auto* key : {"Device", "Port"}) {
        CHECK(Match(Match::Of::device).set(key, "1") == unknown);
        CHECK(Match(Match::Of::port).set(key, "1").empty());
    }
    const std::vector<std::pair<std::string, std::string>> of_devices = {
        {"OriginalName", "a"}, {"NodeType", "ca"}, {"Virtualization", "vm"}, {"Property", "A=1"}};
    for (const auto& [key, value] : of_devices) {
        CAPTURE(key);
        for (const auto& text : {value, ""s}) {
            CHECK(Match(Match::Of::device).set(key, text).empty());
            CHECK(Match(Match::Of::port).set(key, text) == unknown);
        }
    }
}
