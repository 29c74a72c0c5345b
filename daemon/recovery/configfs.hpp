// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

// Reads and changes configfs. Each error names the path.

namespace rdmad::recovery::configfs {

[[nodiscard]] bool exists(const std::string& path);
/// Returns what tells a directory from another made in its place; 0 if there is none.
[[nodiscard]] uint64_t inode_of(const std::string& path);
/// Returns the text without white space at the end; empty if it cannot be read.
[[nodiscard]] std::string read(const std::string& path);
[[nodiscard]] Result<void> write(const std::string& path, const std::string& value);
/// Makes a link, unless it exists already.
[[nodiscard]] Result<void> link(const std::string& target, const std::string& path);
/// Removes a link, unless it is gone already.
[[nodiscard]] Result<void> unlink(const std::string& path);

/// Returns the directories, links and writable values of a folder and all that is below.
[[nodiscard]] Result<nlohmann::json> snapshot(const std::string& folder);
/// Removes what somebody made; what the kernel made goes with it.
[[nodiscard]] Result<void> remove_tree(const std::string& folder);
/// Makes it as in a snapshot, and switches it on at last.
[[nodiscard]] Result<void> rebuild(const std::string& folder, const nlohmann::json& snapshot);

} // namespace rdmad::recovery::configfs
