// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/recovery/configfs.hpp"

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/base/unique_fd.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace rdmad::recovery::configfs {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr mode_t owner_changes = S_IRUSR | S_IWUSR;
constexpr std::string_view enable = "enable";

Result<void> outcome_of(int returned, const std::string& path)
{
    if (returned < 0)
        return fail(errno, path);
    return {};
}

bool is_enable(const std::string& path)
{
    return fs::path(path).filename() == enable;
}

/// Returns the value to write. Of an ALUA state's group more is shown than written: its name.
std::string written_form(const std::string& shown)
{
    constexpr std::string_view alias = "TG Port Alias: ";
    if (!shown.starts_with(alias))
        return shown;
    return std::string(text::trim(shown.substr(alias.size(), shown.find('\n') - alias.size())));
}

void add_attribute(Json& snapshot, const fs::path& path, const std::string& relative)
{
    struct stat status;
    if (stat(path.c_str(), &status) < 0 || (status.st_mode & owner_changes) != owner_changes)
        return;
    if (auto value = written_form(read(path)); !value.empty())
        snapshot["values"][relative] = std::move(value);
}

/// Returns the directories in reverse order: what is inside before what it is in.
std::vector<std::string> deepest_first(const Json& directories)
{
    auto paths = directories.get<std::vector<std::string>>();
    std::sort(paths.begin(), paths.end(), std::greater<>());
    return paths;
}

/// Returns true if a link points into the tree: then its target must be there before it.
bool is_inner(const std::string& folder, const std::string& target)
{
    return target.starts_with(folder + "/");
}

/// Calls act for each link of one of both kinds.
template <typename Do>
Result<void> each_link(const std::string& folder, const Json& snapshot, bool inner, Do act)
{
    for (const auto& [path, target] : snapshot["links"].items())
        if (is_inner(folder, target.template get<std::string>()) == inner)
            if (auto outcome = act(folder + "/" + path, target.template get<std::string>());
                !outcome)
                return outcome;
    return {};
}

Result<void> make_directories(const std::string& folder, const Json& snapshot)
{
    auto paths = deepest_first(snapshot["directories"]);
    std::reverse(paths.begin(), paths.end());
    for (const auto& path : paths) {
        const auto whole = folder + (path.empty() ? "" : "/" + path);
        if (mkdir(whole.c_str(), 0755) < 0 && errno != EEXIST && errno != EPERM)
            return fail(errno, whole);
    }
    return {};
}

Result<void> write_values(const std::string& folder, const Json& snapshot, bool enables)
{
    for (const auto& [path, value] : snapshot["values"].items()) {
        const auto whole = folder + "/" + path;
        const auto wanted = value.template get<std::string>();
        if (is_enable(path) != enables || written_form(read(whole)) == wanted)
            continue;
        if (auto outcome = write(whole, wanted); !outcome)
            return outcome;
    }
    return {};
}

/// Returns true if all parts are there, as an earlier run wrote them.
bool is_snapshot(const Json& snapshot)
{
    const auto is_map = [&](const char* key) {
        return snapshot.contains(key) && snapshot[key].is_object() &&
               std::all_of(snapshot[key].begin(), snapshot[key].end(),
                           [](const Json& value) { return value.is_string(); });
    };
    return is_map("links") && is_map("values") && snapshot.contains("directories") &&
           snapshot["directories"].is_array() &&
           std::all_of(snapshot["directories"].begin(), snapshot["directories"].end(),
                       [](const Json& path) { return path.is_string(); });
}

} // namespace

bool exists(const std::string& path)
{
    return access(path.c_str(), F_OK) == 0;
}

uint64_t inode_of(const std::string& path)
{
    struct stat status = {};
    return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

std::string read(const std::string& path)
{
    return std::string(text::trim(read_file(path).value_or("")));
}

Result<void> write(const std::string& path, const std::string& value)
{
    const UniqueFd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file)
        return fail(errno, path);
    return outcome_of(static_cast<int>(::write(file.get(), value.data(), value.size())), path);
}

Result<void> link(const std::string& target, const std::string& path)
{
    const int returned = symlink(target.c_str(), path.c_str());
    return returned < 0 && errno == EEXIST ? Result<void>() : outcome_of(returned, path);
}

Result<void> unlink(const std::string& path)
{
    const int returned = ::unlink(path.c_str());
    return returned < 0 && errno == ENOENT ? Result<void>() : outcome_of(returned, path);
}

Result<Json> snapshot(const std::string& folder)
{
    Json snapshot = {{"directories", {""}}, {"links", Json::object()}, {"values", Json::object()}};
    std::error_code error;
    for (auto entry = fs::recursive_directory_iterator(folder, error);
         !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
        const auto relative = entry->path().string().substr(folder.size() + 1);
        if (entry->is_symlink(error))
            snapshot["links"][relative] = fs::canonical(entry->path(), error).string();
        else if (entry->is_directory(error))
            snapshot["directories"].push_back(relative);
        else
            add_attribute(snapshot, entry->path(), relative);
    }
    if (error)
        return fail(error.value(), folder);
    return snapshot;
}

Result<void> remove_tree(const std::string& folder)
{
    const auto found = snapshot(folder);
    if (!found)
        return tl::unexpected<Error>(found.error());
    const auto& present = *found;
    const auto drop = [](const std::string& path, const std::string&) { return unlink(path); };
    for (const bool inner : {true, false})
        if (auto outcome = each_link(folder, present, inner, drop); !outcome)
            return outcome;
    for (const auto& path : deepest_first(present["directories"]))
        // what the kernel made cannot be removed by itself
        if (!path.empty())
            (void)rmdir((folder + "/" + path).c_str());
    return outcome_of(rmdir(folder.c_str()), folder);
}

Result<void> rebuild(const std::string& folder, const Json& snapshot)
{
    if (!is_snapshot(snapshot))
        return fail(EBADMSG, "what was written down of " + folder);
    if (auto outcome = make_directories(folder, snapshot); !outcome)
        return outcome;
    const auto make = [](const std::string& path, const std::string& target) {
        return link(target, path);
    };
    for (const bool inner : {false, true})
        if (auto outcome = each_link(folder, snapshot, inner, make); !outcome)
            return outcome;
    for (const bool enables : {false, true})
        if (auto outcome = write_values(folder, snapshot, enables); !outcome)
            return outcome;
    return {};
}

} // namespace rdmad::recovery::configfs
