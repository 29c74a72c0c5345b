// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/ini.hpp"

#include <optional>

namespace rdmad::config {

/// A configuration file and its drop-ins, as assignments in the order in which they count.
struct File {
    std::string name; ///< "10-storage.link"
    std::string path;
    std::vector<Assignment> assignments = {};
    std::vector<Problem> problems = {}; ///< it was not read, or not whole
};

/// Reads the files of some folders whose names end in suffix, in the order of their names whatever
/// folder they are in. Of two with one name the one in the earlier folder counts; one that is
/// empty, or a link to /dev/null, hides the others of its name. Drop-ins are the files
/// NAME.d/*.conf of all folders, ordered and hidden alike (systemd.unit(5)). A file may have 64
/// KiB. At most 1024 files, and 1024 drop-ins of one file, are read: the first that is left out has
/// a problem that says so. root goes before each folder: empty, or the root of an image.
[[nodiscard]] std::vector<File> read_files(const std::string& root,
                                           const std::vector<std::string>& folders,
                                           const std::string& suffix);

/// Reads the file at a path, without drop-ins.
[[nodiscard]] File read_alone(const std::string& path);

/// Reads the one file of that name that counts, and its drop-ins, which count even if there is no
/// such file.
[[nodiscard]] File read_one_file(const std::string& root, const std::vector<std::string>& folders,
                                 const std::string& name);

} // namespace rdmad::config
