// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/files.hpp"
#include "core/config/match.hpp"
#include "core/naming/device_name.hpp"

namespace rdmad::config {

/// A file of rdmad.link(5). One with problems names no device: if its [Match] section is sound, the
/// devices that it matches keep their names, else it matches none.
struct LinkFile {
    std::string path = {};
    Match match = {};
    std::vector<naming::Policy> policies = {};
    std::string name = {}; ///< with specifiers; empty: none
    std::optional<naming::Scheme> scheme = {};
    bool port_label = false;
    bool ipoib_name = false; ///< its IPoIB devices are called after it
    bool is_match_sound = true;
    std::vector<Problem> problems = {};
};

[[nodiscard]] LinkFile parse_link(const File& file);

/// What the specifiers of Name= stand for.
struct Specifiers {
    std::string original_name = {};
    std::string driver = {};
    std::string prefix = {};
    std::string link_type = {};
    std::string node_guid = {};
    std::string port_guid = {}; ///< of the first port
    std::string netdev = {};
    std::string port_label = {};
};

/// The name, or why it gives none: a specifier that has no value here, or a name that is refused.
[[nodiscard]] naming::Composed expand_name(std::string_view name, const Specifiers& specifiers);

} // namespace rdmad::config
