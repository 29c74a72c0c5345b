// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/files.hpp"
#include "core/config/match.hpp"

#include <optional>

namespace rdmad::config {

/// Whose device unit a binding hangs on. The infiniband class device is none of them: what is bound
/// to that holds up its removal.
enum class BindingNode { uverbs, umad, issm };
/// Whether a unit that is bound to several ports needs all of them, or one.
enum class Require { all, any };
/// What a port must be before the unit starts: there, or ready for traffic.
enum class WaitFor { present, active };
/// Whether a unit that an unplug stopped is started when the device returns.
enum class Restart { on_return, no };

/// A file of rdmad.binding(5): units that live with RDMA ports. One with problems binds nothing.
struct BindingFile {
    std::string path = {};
    Match match{Match::Of::port};
    std::vector<std::string> units = {}; ///< with specifiers
    BindingNode node = BindingNode::uverbs;
    Require require = Require::all;
    WaitFor wait_for = WaitFor::present;
    Restart restart = Restart::on_return;
    std::vector<Problem> problems = {};
};

[[nodiscard]] BindingFile parse_binding(const File& file);

/// What the specifiers of Unit= stand for: a port.
struct UnitSpecifiers {
    std::string device = {};
    std::string port = {};
    std::string port_guid = {};
    std::string node_guid = {};
    std::string link_type = {};
};

/// The unit's name, none if a specifier has no value here, or the name is none of a unit.
[[nodiscard]] std::optional<std::string> expand_unit(std::string_view unit,
                                                     const UnitSpecifiers& specifiers);

[[nodiscard]] std::string_view to_string(BindingNode node);

} // namespace rdmad::config
