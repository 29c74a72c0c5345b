// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/image.hpp"

#include "core/base/file.hpp"
#include "core/config/folders.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

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

/// Returns the first symbolic link that leads nowhere from here, and may lead to something in the
/// image, on the way to a folder of the image; empty if there is none. Follows links that stay in
/// the image: the way that they name may have another.
std::string dead_link(const std::string& root, const std::string& folder)
{
    constexpr int max_links = 40; // of any way, path_resolution(7)
    std::error_code error;
    path way;
    std::vector<path> rest; // the next part last
    const auto add = [&](const path& more) {
        const std::vector<path> parts(more.begin(), more.end());
        rest.insert(rest.end(), parts.rbegin(), parts.rend());
    };
    add(path(folder).relative_path());
    for (int links = 0; !rest.empty() && links < max_links;) {
        const auto part = rest.back();
        rest.pop_back();
        way = (way / part).lexically_normal();
        const auto here = path(root) / way;
        if (!std::filesystem::is_symlink(here, error))
            continue;
        links++;
        const auto target = std::filesystem::read_symlink(here, error);
        if (leads_from_root(way, target))
            return std::filesystem::exists(here, error) ? "" : "/" + way.string();
        way = way.parent_path();
        add(target);
    }
    return {};
}

/// Fails if what a name of the image leads to is not in the image.
Answer<void> check_within(const std::string& root, const path& image, const std::string& name,
                          const path& seen)
{
    if (is_within(image, seen))
        return {};
    return failed("--root=" + root + ": " + name + " leads out of the image, to " + seen.string());
}

/// Fails if a folder has a symbolic link that leads out of the image, other than to a device, which
/// hides a file: verify would show what is there.
Answer<void> check_links(const std::string& root, const path& image, const std::string& folder)
{
    std::error_code error;
    for (const auto& file : names_in(root + folder)) {
        const auto name = folder + "/" + file;
        if (!std::filesystem::is_symlink(root + name, error))
            continue;
        const auto seen = std::filesystem::canonical(root + name, error);
        if (error || std::filesystem::is_character_file(seen, error))
            continue;
        if (auto checked = check_within(root, image, name, seen); !checked)
            return checked;
    }
    return {};
}

Answer<void> check_folder(const std::string& root, const path& image, const std::string& folder)
{
    if (const auto link = dead_link(root, folder); !link.empty())
        return failed("--root=" + root + ": " + link +
                      " is a symbolic link that leads nowhere from here");
    std::error_code error;
    const auto seen = std::filesystem::weakly_canonical(root + folder, error);
    if (error)
        return failed("--root=" + root + ": " + folder + ": " + error.message());
    auto checked = check_within(root, image, folder, seen);
    if (checked)
        checked = check_links(root, image, folder);
    if (!checked)
        return checked;
    for (const auto& name : names_in(root + folder))
        if (name.ends_with(".d"))
            if (checked = check_links(root, image, folder + "/" + name); !checked)
                return checked;
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
    for (const auto* folders : {&config::binding_folders(), &config::link_folders()})
        for (const auto& folder : *folders)
            if (auto checked = check_folder(root, image, folder); !checked)
                return checked;
    return {};
}

} // namespace rdmad::ctl
