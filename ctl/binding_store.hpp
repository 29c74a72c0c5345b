// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/complaint.hpp"

#include <optional>
#include <string>
#include <vector>

namespace rdmad::ctl {

/// /etc/rdmad/binding.d, the folder that rdmactl writes to.
class BindingStore {
public:
    /// Takes the root that goes before the folder: empty, or the root of an image.
    explicit BindingStore(std::string root) : root_(std::move(root)) {}

    [[nodiscard]] std::string path_of(const std::string& name) const;

    enum class Put { created, changed, same };
    /// Writes all of it to the disk, or nothing. Fails on a file that rdmactl did not write.
    [[nodiscard]] Answer<Put> put(const std::string& name, const std::string& text) const;

    struct Removed {
        std::vector<std::string> paths = {};
        std::vector<std::string> failures = {}; ///< which stay, and why
    };
    /// Removes the files that "rdmactl bind" made for this unit alone, --runtime or not, or without
    /// a unit for any; one that cannot be removed does not keep the others.
    [[nodiscard]] Removed remove(const std::optional<std::string>& unit = {}) const;

    /// Returns the paths of all files, in any folder, that name the unit, or without one any.
    [[nodiscard]] std::vector<std::string>
    files_with(const std::optional<std::string>& unit = {}) const;

    /// A file, and a name with specifiers in it.
    struct Template {
        std::string path;
        std::string unit;
    };
    /// Returns all whose names could become that of the unit.
    [[nodiscard]] std::vector<Template> templates_of(const std::string& unit) const;

private:
    std::string root_;
};

} // namespace rdmad::ctl
