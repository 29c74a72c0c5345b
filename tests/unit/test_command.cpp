// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/recovery/command.hpp"
#include "tests/catch.hpp"
#include "tests/support/must.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>

using namespace rdmad;
using namespace rdmad::test;
using recovery::run;

namespace {

constexpr char shell[] = "/bin/sh";

std::set<std::string> open_files()
{
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
        names.insert(entry.path().filename());
    return names;
}

} // namespace

TEST_CASE("a program gets its arguments as they are, and no other environment", "[command]")
{
    // a shell would have taken them apart
    CHECK(must(run("/usr/bin/printf", {"%s|", "a b", "", "$HOME;*", "-x"})) == "a b||$HOME;*|-x|");
    REQUIRE(setenv("RDMAD_TEST", "1", 1) == 0);
    CHECK(must(run("/usr/bin/env", {})) == "LC_ALL=C\n");
    unsetenv("RDMAD_TEST");
    CHECK(must(run(shell, {"-c", "echo out; echo error >&2"})) == "out\nerror\n");
    CHECK(must(run("/bin/true", {})).empty());
}

TEST_CASE("a program that fails is told with its command and output", "[command]")
{
    const auto failed = run(shell, {"-c", "printf 'no \\033[2J room\\n' >&2; exit 3"});
    REQUIRE_FALSE(failed.has_value());
    CHECK(failed.error().code == EIO);
    CHECK(failed.error().context ==
          R"(/bin/sh -c printf 'no \033[2J room\n' >&2; exit 3: no \x1b[2J room)");
    CHECK(error_of(run(shell, {"-c", "kill -9 $$"})) == EIO);
    const auto missing = run("/nowhere/program", {"-x"});
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().code == ENOENT);
    CHECK(missing.error().context == "/nowhere/program");
}

TEST_CASE("a program that prints more than is kept is read to its end", "[command]")
{
    const auto before = open_files();
    const auto text = must(run("/usr/bin/head", {"-c", "10000000", "/dev/zero"}));
    CHECK(text.size() >= 65536);
    CHECK(text.size() < 65536 + 4096);
    CHECK(open_files() == before);
}
