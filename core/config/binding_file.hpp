// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/files.hpp"
#include "core/config/match.hpp"

#include <optional>

namespace rdmad::config {

/// The node whose device unit a binding hangs on. It is never the infiniband class device: what is
/// bound to that holds up its removal.
enum class BindingNode { uverbs, umad, issm };
/// The ports that a unit needs which is bound to several: all of them, or one.
enum class Require { all, any };
/// The state of a port before the unit starts: there, or ready for traffic.
enum class WaitFor { present, active, ready };
/// The reaction to a device that replaced another: start the unit by itself, or wait.
enum class OnReplaced { start, wait };
/// The place of a unit in the order of those that live with the same device: units of a later value
/// start before the others, and stop after them.
enum class Stage { applications, initiators, targets };
/// The reaction to a unit that keeps a device from being removed.
enum class OnBlocked { report, stop };
/// The reaction to the return of a device whose unplug stopped the unit: start it, or not.
enum class Restart { on_return, no };

/// A file of rdmad.binding(5): units that live with RDMA ports. A file with problems binds nothing.
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

/// A port, as the values of the specifiers of Unit=.
struct UnitSpecifiers {
    std::string device = {};
    std::string port = {};
    std::string port_guid = {};
    std::string node_guid = {};
    std::string link_type = {};
};

/// Returns the unit's name, nullopt if a specifier has no value here or the name is not a unit's.
[[nodiscard]] std::optional<std::string> expand_unit(std::string_view unit,
                                                     const UnitSpecifiers& specifiers);

[[nodiscard]] std::string_view to_string(BindingNode node);
[[nodiscard]] std::string_view to_string(WaitFor wait_for);
[[nodiscard]] std::string_view to_string(OnReplaced on_replaced);
[[nodiscard]] std::string_view to_string(OnBlocked on_blocked);
[[nodiscard]] std::string_view to_string(Stage stage);

} // namespace rdmad::config
