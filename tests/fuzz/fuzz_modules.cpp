// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/fuzz.hpp"
#include "udev-helpers/rdma_id/modules.hpp"

#include <algorithm>
#include <sstream>
#include <string>

// The first line of the input is the module, the rest the list.

namespace rdmad::fuzz {

namespace {

constexpr const char* blanks = " \t\r\n";

std::string with_underscores(std::string text)
{
    std::replace(text.begin(), text.end(), '-', '_');
    return text;
}

bool expected(const std::string& list, const std::string& module)
{
    std::istringstream lines(list);
    for (std::string line; std::getline(lines, line);) {
        line.erase(line.find_last_not_of(blanks) + 1);
        line.erase(0, line.find_first_not_of(blanks));
        if (with_underscores(line) == with_underscores(module))
            return true;
    }
    return false;
}

} // namespace

void run_one(std::string_view input)
{
    const std::string module(input.substr(0, input.find('\n')));
    // what nobody asks for: modules have names
    if (module.empty() || module.find_first_of(blanks) != std::string::npos)
        return;
    const std::string list(input.substr(std::min(module.size() + 1, input.size())));
    const bool listed = rdma_id::lists_module(list, module);
    require(listed == expected(list, module), "a module is listed if a line is its name");
    require(rdma_id::lists_module(with_underscores(list), with_underscores(module)) == listed,
            "a dash is as good as an underscore");
    require(rdma_id::lists_module(list + "\n \t" + module + "\r\n", module),
            "a line more with the name, and it is listed");
}

} // namespace rdmad::fuzz
