// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

// How configfs is changed. Each error names the path.

namespace rdmad::recovery::configfs {

[[nodiscard]] bool exists(const std::string& path);
/// Tells a directory from another that was made in its place; 0: there is none.
[[nodiscard]] uint64_t inode_of(const std::string& path);
/// Without white space at the end; empty if it cannot be read.
[[nodiscard]] std::string read(const std::string& path);
[[nodiscard]] Result<void> write(const std::string& path, const std::string& value);
/// One that is there already is fine.
[[nodiscard]] Result<void> link(const std::string& target, const std::string& path);
/// One that is gone already is fine.
[[nodiscard]] Result<void> unlink(const std::string& path);

/// Directories, links and what may be written, of a folder and all that is below.
[[nodiscard]] Result<nlohmann::json> snapshot(const std::string& folder);
/// Takes away what somebody made: what the kernel made goes with that.
[[nodiscard]] Result<void> remove_tree(const std::string& folder);
/// Makes it as in a snapshot, and switches it on at last.
[[nodiscard]] Result<void> rebuild(const std::string& folder, const nlohmann::json& snapshot);

} // namespace rdmad::recovery::configfs
