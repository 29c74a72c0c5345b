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
enum class WaitFor { present, active, ready };
/// Whether it starts by itself with a device that replaced another.
enum class OnReplaced { start, wait };
/// Where a unit stands in the order of those that live with the same device: those of a later value
/// start before the others, and stop after them.
enum class Stage { applications, initiators, targets };
/// What is done about a unit that keeps a device from being removed.
enum class OnBlocked { report, stop };
/// Whether a unit that an unplug stopped is started when the device returns.
enum class Restart { on_return, no };

/// A file of rdmad.binding(5): units that live with RDMA ports. One with problems binds nothing.
struct BindingFile {
    std::string name = {}; ///< "50-storage.binding"
    std::string path = {};
    Match match{Match::Of::port};
    std::vector<std::string> units = {}; ///< with specifiers
    BindingNode node = BindingNode::uverbs;
    Require require = Require::all;
    WaitFor wait_for = WaitFor::present;
    Restart restart = Restart::on_return;
    OnReplaced on_replaced = OnReplaced::start;
    OnBlocked on_blocked = OnBlocked::report;
    Stage stage = Stage::applications;
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
[[nodiscard]] std::string_view to_string(WaitFor wait_for);
[[nodiscard]] std::string_view to_string(OnReplaced on_replaced);
[[nodiscard]] std::string_view to_string(OnBlocked on_blocked);
[[nodiscard]] std::string_view to_string(Stage stage);

} // namespace rdmad::config
