// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/image.hpp"

#include "core/config/folders.hpp"

#include <algorithm>
#include <filesystem>

namespace rdmad::ctl {

namespace {

using std::filesystem::path;

/// Returns true if a path is in a folder, or is the folder; both without symbolic links.
bool is_within(const path& folder, const path& inner)
{
    return std::mismatch(folder.begin(), folder.end(), inner.begin(), inner.end()).first ==
           folder.end();
}

/// Returns true if what a symbolic link leads to depends on whether the image is the root.
bool leads_from_root(const path& link, const path& target)
{
    const auto inner = (link.parent_path().relative_path() / target).lexically_normal();
    return inner.is_absolute() || (!inner.empty() && *inner.begin() == "..");
}

/// Returns the first symbolic link on the way to a folder of an image that leads nowhere from here,
/// and may lead to something in the image. Empty if there is none.
std::string dead_link(const std::string& root, const std::string& folder)
{
    std::error_code error;
    path way;
    for (const auto& part : path(folder)) {
        way /= part;
        const auto here = root + way.string();
        if (std::filesystem::is_symlink(here, error) && !std::filesystem::exists(here, error) &&
            leads_from_root(way, std::filesystem::read_symlink(here, error)))
            return way.string();
    }
    return {};
}

} // namespace

Answer<void> check_image(const std::string& root)
{
    if (root.empty())
        return {};
    std::error_code error;
    if (!std::filesystem::is_directory(root, error))
        return failed("--root=" + root + ": " +
                      (error ? error : make_error_code(std::errc::not_a_directory)).message());
    const auto image = std::filesystem::canonical(root, error);
    for (const auto* folders : {&config::binding_folders(), &config::link_folders()}) {
        for (const auto& folder : *folders) {
            if (const auto link = dead_link(root, folder); !link.empty())
                return failed("--root=" + root + ": " + link +
                              " is a symbolic link that leads nowhere from here");
            const auto seen = std::filesystem::weakly_canonical(root + folder, error);
            if (error)
                return failed("--root=" + root + ": " + folder + ": " + error.message());
            if (!is_within(image, seen))
                return failed("--root=" + root + ": " + folder + " leads out of the image, to " +
                              seen.string());
        }
    }
    return {};
}

} // namespace rdmad::ctl
