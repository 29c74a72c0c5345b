// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

// What CLI11 is not to see of a command line, or would read in another way than it is meant.

namespace rdmad::ctl {

struct Arguments {
    std::vector<std::string> own = {};
    /// What "rdmactl inhibit" runs: CLI11 would look for options in it, and take words in brackets
    /// apart.
    std::vector<std::string> command = {};
};

/// Takes the words behind the name of the program, and knows by the app which options have values.
[[nodiscard]] Arguments split_arguments(const CLI::App& app, const std::vector<std::string>& words);

/// Returns the first option with nothing behind its "=", as a shell variable that is not set gives
/// it: CLI11 would take the next word for its value.
[[nodiscard]] std::optional<std::string>
option_without_value(const std::vector<std::string>& words);

} // namespace rdmad::ctl
