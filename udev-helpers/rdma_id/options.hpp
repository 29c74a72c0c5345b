// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>

namespace rdmad::rdma_id {

enum class Format { summary, properties, json };
enum class Load { needed, listed, nothing };

struct Options {
    Format format = Format::summary;
    Load load = Load::needed;
    bool event = false;                ///< run by udev's rules: keep the books below /run/rdmad
    std::optional<std::string> device; ///< none: the event that the environment tells of
};

/// What to do: go on with the options, or leave with that exit code, everything being said.
struct Parsed {
    Options options = {};
    std::optional<int> exit_code = {};
};

[[nodiscard]] Parsed parse_options(int argc, char** argv);

} // namespace rdmad::rdma_id
