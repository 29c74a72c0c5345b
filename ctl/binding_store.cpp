// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/binding_store.hpp"

#include "core/base/file.hpp"
#include "core/config/folders.hpp"
#include "core/config/specifiers.hpp"
#include "ctl/binding_text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace rdmad::ctl {

namespace {

constexpr auto& folder = config::own_binding_folder;

tl::unexpected<Complaint> cannot(const std::string& what, const std::string& path, int code)
{
    const bool is_forbidden = code == EACCES || code == EPERM;
    return failed("cannot " + what + " " + path + ": " + strerror(code) +
                  (is_forbidden ? "; only root can" : ""));
}

Answer<void> make_folder(const std::string& path)
{
    for (auto end = path.find('/', 1);; end = path.find('/', end + 1)) {
        if (mkdir(path.substr(0, end).c_str(), 0755) < 0 && errno != EEXIST)
            return cannot("make", path.substr(0, end), errno);
        if (end == std::string::npos)
            return {};
    }
}

bool exists(const std::string& path)
{
    struct stat status;
    return lstat(path.c_str(), &status) == 0;
}

bool is_regular(const std::string& path)
{
    struct stat status;
    return lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

/// Returns the text of a file that "rdmactl bind" made; empty if it did not.
std::string own_text(const std::string& path)
{
    auto text = is_regular(path) ? read_file(path).value_or("") : "";
    return is_own(text) ? text : "";
}

/// Removes the .binding files of a folder that are to go.
template <typename Predicate>
void remove_files(const std::string& from, Predicate is_to_go, BindingStore::Removed& removed)
{
    const auto before = removed.paths.size();
    auto names = names_in(from);
    std::sort(names.begin(), names.end());
    for (const auto& name : names) {
        const auto path = from + "/" + name;
        if (!name.ends_with(".binding") || !is_to_go(path))
            continue;
        if (unlink(path.c_str()) < 0)
            removed.failures.push_back(cannot("remove", path, errno).value().text);
        else
            removed.paths.push_back(path);
    }
    if (removed.paths.size() > before)
        sync_directory(from);
}

} // namespace

std::string BindingStore::path_of(const std::string& name) const
{
    return root_ + folder + "/" + name;
}

Answer<BindingStore::Put> BindingStore::put(const std::string& name, const std::string& text) const
{
    const auto path = path_of(name);
    const auto before = own_text(path);
    if (before.empty() && exists(path))
        return failed(path + " is there, and rdmactl did not write it; move it away first");
    if (before == text)
        return Put::same;
    if (auto made = make_folder(root_ + folder); !made)
        return as_told(made);
    // rdmad does not read what begins with a dot
    const auto temporary = root_ + folder + "/.rdmactl-" + std::to_string(getpid());
    if (auto written = replace_file(path, temporary, text, Durable::yes); !written)
        return cannot("write", path, written.error().code);
    return before.empty() ? Put::created : Put::changed;
}

BindingStore::Removed BindingStore::remove(const std::optional<std::string>& unit) const
{
    const auto is_meant = [&](const std::string& path) {
        const auto text = own_text(path);
        return !text.empty() &&
               (!unit || understand(text, path).units == std::vector<std::string>{*unit});
    };
    Removed removed;
    for (const auto* from : {folder, config::runtime_binding_folder})
        remove_files(root_ + from, is_meant, removed);
    return removed;
}

std::vector<std::string> BindingStore::files_with(const std::optional<std::string>& unit) const
{
    std::vector<std::string> paths;
    for (const auto& file : config::read_files(root_, config::binding_folders(), ".binding")) {
        const auto units = config::parse_binding(file).units;
        if (unit ? std::find(units.begin(), units.end(), *unit) != units.end() : !units.empty())
            paths.push_back(file.path);
    }
    return paths;
}

std::vector<BindingStore::Template> BindingStore::templates_of(const std::string& unit) const
{
    std::vector<Template> found;
    for (const auto& file : config::read_files(root_, config::binding_folders(), ".binding"))
        for (const auto& name : config::parse_binding(file).units)
            if (config::could_become(name, unit))
                found.push_back({file.path, name});
    return found;
}

} // namespace rdmad::ctl
