// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/files.hpp"
#include "daemon/lifecycle/life.hpp"
#include "daemon/recovery/settings.hpp"

namespace rdmad {

/// The settings of rdmad.conf(5).
struct Settings {
    lifecycle::Settings lifecycle = {};
    recovery::Settings recovery = {};
    std::vector<config::Problem> problems = {}; ///< of assignments that are ignored
};

/// Reads /etc/rdmad/rdmad.conf, or that of /run, /usr/local/lib or /usr/lib, and its drop-ins below
/// root.
[[nodiscard]] Settings read_settings(const std::string& root);

[[nodiscard]] Settings parse_settings(const config::File& file);

} // namespace rdmad
