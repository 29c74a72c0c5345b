// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rdmad::config {

/// The folder that rdmactl writes to.
constexpr char own_binding_folder[] = "/etc/rdmad/binding.d";
/// The folder for the bindings of "rdmactl bind --runtime", and how their files begin.
constexpr char runtime_binding_folder[] = "/run/rdmad/binding.d";
constexpr std::string_view runtime_binding_mark =
    "# Made by rdmad for this boot: rdmactl bind --runtime\n";

/// Returns the folders of .binding files; the first counts most.
inline const std::vector<std::string>& binding_folders()
{
    static const std::vector<std::string> folders = {own_binding_folder, runtime_binding_folder,
                                                     "/usr/local/lib/rdmad/binding.d",
                                                     "/usr/lib/rdmad/binding.d"};
    return folders;
}

/// Returns the folders of .link files; the first counts most.
inline const std::vector<std::string>& link_folders()
{
    static const std::vector<std::string> folders = {"/etc/rdmad/link.d", "/run/rdmad/link.d",
                                                     "/usr/local/lib/rdmad/link.d",
                                                     "/usr/lib/rdmad/link.d"};
    return folders;
}

} // namespace rdmad::config
