// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/answers.hpp"
#include "ctl/binding_text.hpp"
#include "ctl/table.hpp"

// The effect of "rdmactl bind", and its text for people. Pure.

namespace rdmad::ctl {

/// The effect of a file in rdmad.
struct Effect {
    std::vector<std::string> matches = {};
    std::vector<std::string> missing = {}; ///< GUIDs that the file names and that nothing has
    std::vector<Unit> units = {};          ///< those that it binds now
    std::vector<std::string> others = {};  ///< paths of other files that bind one of them
    std::string path = {};                 ///< of the file that rdmad reads; empty: none
    std::vector<std::string> problems = {};
};

/// Returns the effect of the file that has this name.
[[nodiscard]] Effect effect_of(const Bindings& bindings, const std::string& name);

/// Returns why the file that was written to path binds nothing, or an empty string. The path may
/// begin with a root that rdmad does not know.
[[nodiscard]] std::string problem_of(const Effect& effect, const std::string& path);

/// Returns true if rdmad still asks systemd for a unit, ties it or starts it: soon it reports more.
[[nodiscard]] bool is_under_way(const Effect& effect);

/// The outcome of "rdmactl bind".
struct Bound {
    std::string unit = {};
    Added file = {};
    bool is_new = true;
    bool is_started = true;               ///< by rdmad, as Restart= has it
    std::optional<Effect> effect = {};    ///< nullopt: rdmad was not asked
    std::vector<std::string> others = {}; ///< paths of other files that bind the unit
};

/// Returns a line, and more for units that do not run.
[[nodiscard]] std::string text_of(const Bound& bound, const Style& style);

/// Returns hints on GUIDs that were given as those of ports, but are of devices, or the reverse.
[[nodiscard]] std::vector<std::string> mixed_up(const BindRequest& request,
                                                const std::vector<Device>& devices);

} // namespace rdmad::ctl
