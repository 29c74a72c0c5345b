// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/catch.hpp"
#include "udev-helpers/rdma_id/options.hpp"

#include <getopt.h>
#include <vector>

using namespace rdmad::rdma_id;

// What --help, --version and errors print is tested with the program itself.

namespace {

Parsed parse(std::vector<std::string> words)
{
    words.insert(words.begin(), "rdma_id");
    std::vector<char*> argv;
    for (auto& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    optind = 0; // glibc: begin anew
    opterr = 0;
    return parse_options(static_cast<int>(words.size()), argv.data());
}

} // namespace

TEST_CASE("without options a summary of the udev event is wanted", "[options]")
{
    const auto parsed = parse({});
    CHECK_FALSE(parsed.exit_code.has_value());
    CHECK(parsed.options.format == Format::summary);
    CHECK(parsed.options.load == Load::needed);
    CHECK_FALSE(parsed.options.event);
    CHECK_FALSE(parsed.options.device.has_value());
}

TEST_CASE("formats have a long and a short option", "[options]")
{
    CHECK(parse({"--export", "umad0"}).options.format == Format::properties);
    CHECK(parse({"-x", "umad0"}).options.format == Format::properties);
    CHECK(parse({"--json", "umad0"}).options.format == Format::json);
    CHECK(parse({"-j", "umad0"}).options.format == Format::json);
}

TEST_CASE("an event is exported", "[options]")
{
    const auto parsed = parse({"--event"});
    CHECK(parsed.options.event);
    CHECK(parsed.options.format == Format::properties);
}

TEST_CASE("modules are loaded as needed, as listed or not at all", "[options]")
{
    CHECK(parse({"--load-listed"}).options.load == Load::listed);
    CHECK(parse({"--no-load"}).options.load == Load::nothing);
}

TEST_CASE("the device is the one word that is no option", "[options]")
{
    CHECK(parse({"mlx5_0"}).options.device == std::optional<std::string>("mlx5_0"));
    CHECK(parse({"umad0", "--json"}).options.device == std::optional<std::string>("umad0"));
    CHECK(parse({"--", "-x"}).options.device == std::optional<std::string>("-x"));
    CHECK(parse({""}).options.device == std::optional<std::string>(""));
}

TEST_CASE("a wrong command line ends in exit code 2", "[options]")
{
    CHECK(parse({"--nonsense"}).exit_code == 2);
    CHECK(parse({"-q"}).exit_code == 2);
    CHECK(parse({"--json=1"}).exit_code == 2);
    CHECK(parse({"mlx5_0", "mlx5_1"}).exit_code == 2);
}

TEST_CASE("help and version end in exit code 0", "[options]")
{
    CHECK(parse({"--help"}).exit_code == 0);
    CHECK(parse({"-h"}).exit_code == 0);
    CHECK(parse({"--version"}).exit_code == 0);
}
