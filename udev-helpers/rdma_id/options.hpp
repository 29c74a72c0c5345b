// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>

namespace rdmad::rdma_id {

enum class Format { summary, properties, json };
enum class Load { needed, listed, nothing };
enum class NamingVerb { enable, disable, status };

struct Options {
    Format format = Format::summary;
    Load load = Load::needed;
    bool event = false;                ///< run by udev's rules: keep the records below /run/rdmad
    bool rename = false;               ///< in an "add" event: give the device its name
    bool test_link = false;            ///< say what name the device would get, and why
    std::optional<NamingVerb> naming;  ///< say or change who names devices; nothing else
    std::optional<std::string> device; ///< nullopt: the udev event in the environment
};

/// The exit codes of rdma_id(8).
enum ExitCode {
    exit_found = 0,
    exit_not_found = 1,
    exit_usage = 2,
    exit_refused = 3,
    exit_in_the_way = 4,
};

/// The options to go on with, or the exit code to leave with, everything being said.
struct Parsed {
    Options options = {};
    std::optional<int> exit_code = {};
};

[[nodiscard]] Parsed parse_options(int argc, char** argv);

} // namespace rdmad::rdma_id
