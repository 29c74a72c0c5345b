// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/notes.hpp"

#include "core/base/file.hpp"

#include <algorithm>
#include <array>
#include <sys/stat.h>

namespace rdmad::ctl {

namespace {

constexpr char vendor_folder[] = "/usr/lib/systemd/system";
// systemd.unit(5)
constexpr std::array unit_folders = {
    "/etc/systemd/system.control",
    "/run/systemd/system.control",
    "/run/systemd/transient",
    "/run/systemd/generator.early",
    "/etc/systemd/system",
    "/etc/systemd/system.attached",
    "/run/systemd/system",
    "/run/systemd/system.attached",
    "/run/systemd/generator",
    "/usr/local/lib/systemd/system",
    vendor_folder,
    "/lib/systemd/system",
    "/run/systemd/generator.late",
};

bool is_folder(const std::string& path)
{
    struct stat status;
    return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool has_file(const std::string& root, const std::string& unit)
{
    // a link leads somewhere else in an image
    return std::any_of(unit_folders.begin(), unit_folders.end(), [&](const char* folder) {
        struct stat status;
        return lstat((root + folder + "/" + unit).c_str(), &status) == 0;
    });
}

/// Returns "a@.service" of "a@b.service"; else as it is.
std::string template_of(const std::string& unit)
{
    const auto at = unit.find('@');
    return at == std::string::npos ? unit : unit.substr(0, at + 1) + unit.substr(unit.rfind('.'));
}

/// Returns false for a slice or mount, which need no file, and for a name that is not known yet.
bool needs_file(const std::string& unit)
{
    return !unit.ends_with(".slice") && !unit.ends_with(".mount") &&
           template_of(unit).find('%') == std::string::npos;
}

} // namespace

std::vector<std::string> notes_on_names(const std::string& root,
                                        const std::vector<std::string>& folders,
                                        const std::string& suffix)
{
    std::vector<std::string> notes;
    for (const auto& folder : folders) {
        auto names = names_in(root + folder);
        std::sort(names.begin(), names.end());
        for (const auto& name : names)
            if (const auto path = root + folder + "/" + name;
                name[0] != '.' && !name.ends_with(suffix) && !is_folder(path))
                notes.push_back(path + ": note: rdmad ignores it, as its name does not end in " +
                                suffix);
    }
    return notes;
}

std::vector<std::string> notes_on_units(const std::string& root, const config::BindingFile& binding)
{
    std::vector<std::string> notes;
    if (!is_folder(root + vendor_folder))
        return notes;
    for (const auto& unit : binding.units)
        if (needs_file(unit) && !has_file(root, unit) && !has_file(root, template_of(unit)))
            notes.push_back(binding.path + ": note: systemd has no file for " + unit);
    return notes;
}

} // namespace rdmad::ctl
