// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/files.hpp"
#include "core/config/match.hpp"
#include "core/naming/device_name.hpp"

namespace rdmad::config {

/// A file of rdmad.link(5). A file with problems gives no names: if its [Match] section is sound,
/// the devices that it matches keep theirs, else it matches none.
struct LinkFile {
    std::string path = {};
    Match match = {};
    std::vector<naming::Policy> policies = {};
    std::string name = {}; ///< with specifiers; empty: none
    std::optional<naming::Scheme> scheme = {};
    bool port_label = false;
    bool ipoib_name = false; ///< IPoIB devices on it are called after it
    bool is_match_sound = true;
    std::vector<Problem> problems = {};
};

[[nodiscard]] LinkFile parse_link(const File& file);

/// Reads all .link files of the system, in the order in which they are asked. root goes before the
/// folders: empty, or the root of an image.
[[nodiscard]] std::vector<LinkFile> read_link_files(const std::string& root);

/// The values of the specifiers of Name=.
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

/// Returns the name, or why it gives none: a specifier has no value here, or the name is refused.
[[nodiscard]] naming::Composed expand_name(std::string_view name, const Specifiers& specifiers);

} // namespace rdmad::config
