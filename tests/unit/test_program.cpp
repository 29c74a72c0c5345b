// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/program.hpp"
#include "tests/support/taken.hpp"

#include <vector>

using namespace rdmad;
using namespace rdmad::test;

namespace {

struct Answer {
    std::optional<int> code;
    std::string out;
    std::string err;
};

Answer answer_to(std::vector<std::string> arguments)
{
    std::vector<char*> words;
    for (auto& argument : arguments)
        words.push_back(argument.data());
    Taken out(STDOUT_FILENO);
    Taken err(STDERR_FILENO);
    const auto code =
        answer_arguments("rdmad", "usage\n", static_cast<int>(words.size()), words.data());
    fflush(stdout);
    return {code, out.text(), err.text()};
}

} // namespace

TEST_CASE("a program that systemd starts runs without arguments, and tells what it is", "[program]")
{
    const auto none = answer_to({"/usr/libexec/rdmad/rdmad"});
    CHECK_FALSE(none.code.has_value());
    CHECK(none.out.empty());
    CHECK_FALSE(answer_to({}).code.has_value());

    const auto help = answer_to({"rdmad", "--help"});
    CHECK(help.code == 0);
    CHECK(help.out == "usage\n");
    const auto version = answer_to({"rdmad", "--version"});
    CHECK(version.code == 0);
    CHECK(version.out.starts_with("rdmad "));
    CHECK(version.out.ends_with("\n"));
}

TEST_CASE("a program that systemd starts refuses other arguments", "[program]")
{
    using Arguments = std::vector<std::string>;
    const auto refused =
        answer_to(GENERATE(Arguments{"rdmad", ""}, Arguments{"rdmad", "-h"},
                           Arguments{"rdmad", "start"}, Arguments{"rdmad", "--help", "--version"}));
    CHECK(refused.code == 2);
    CHECK(refused.out.empty());
    CHECK(refused.err == "rdmad: it takes no arguments but --help and --version\n");
}
