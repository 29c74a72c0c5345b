// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/naming/naming_switch.hpp"

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "udev-helpers/rdma_id/naming/program.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace rdmad::rdma_id {

namespace {

constexpr char file_name[] = "60-rdma-persistent-naming.rules";
// in the order in which udev looks (udev(7)); /lib where it is not /usr/lib
constexpr std::array folders = {"/etc/udev/rules.d", "/run/udev/rules.d",
                                "/usr/local/lib/udev/rules.d", "/usr/lib/udev/rules.d",
                                "/lib/udev/rules.d"};
constexpr std::array own_rules = {"59-rdmad-name.rules", "61-rdmad-id.rules"};
// those of them that no package writes to
constexpr std::array local_folders = {folders[0], folders[1], folders[2]};
constexpr std::string_view marker = "# rdmad names RDMA devices";
constexpr char rules[] =
    "# rdmad names RDMA devices: this file stands in place of rdma-core's of the same name.\n"
    "# 59-rdmad-name.rules does so. To remove this file, run /usr/lib/udev/rdma_id --naming "
    "disable. See rdmad.link(5).\n"
    "# Where rdmad has been removed, rdma-core's own rule counts:\n"
    "TEST!=\"/usr/lib/udev/rdma_id\", TEST!=\"/lib/udev/rdma_id\", ACTION==\"add\", "
    "SUBSYSTEM==\"infiniband\", PROGRAM=\"rdma_rename %k NAME_FALLBACK\"\n";

/// Returns an empty string if the file cannot be read.
std::string content(const std::string& path)
{
    return read_file(path).value_or("");
}

bool exists(const std::string& path)
{
    struct stat status;
    return lstat(path.c_str(), &status) == 0;
}

bool renames(const std::string& text)
{
    for (const auto line : text::split(text, '\n'))
        if (!text::trim(line).starts_with('#') &&
            (line.find("rdma_rename") != std::string_view::npos ||
             line.find("rdma dev set") != std::string_view::npos))
            return true;
    return false;
}

/// Reloads the rules of udevd, which sees a change by itself up to three seconds later.
void reload_rules(const std::string& root)
{
    if (root.empty())
        (void)output_of({"/usr/bin/udevadm", "control", "--reload"});
}

constexpr char not_in_this_boot[] =
    "But rdmad.names=0 on the kernel command line keeps it from that until a boot without it. "
    "rdma-core does not rename them either.\n";

/// Names come with events; the initrd has rules of its own.
constexpr char what_follows[] = "This applies to new devices. To rename existing ones, run:\n"
                                "    udevadm trigger --action=add --subsystem-match=infiniband\n"
                                "Then make the initrds again, so that they give the same names: "
                                "update-initramfs -u -k all, or dracut -f --regenerate-all.\n";

} // namespace

NamingSwitch::Rules NamingSwitch::in_folder(const std::string& folder) const
{
    auto path = root_ + folder + "/" + file_name;
    if (!exists(path))
        return {};
    if (content(path).starts_with(marker))
        return {Owner::rdmad, std::move(path)};
    const bool is_packaged =
        folder.find("/lib/") != std::string::npos && folder.find("/local/") == std::string::npos;
    return {is_packaged ? Owner::rdma_core : Owner::administrator, std::move(path)};
}

NamingSwitch::Rules NamingSwitch::effective() const
{
    for (const auto* folder : folders)
        if (auto found = in_folder(folder); found.owner != Owner::nobody)
            return found;
    return {};
}

/// Returns the files of administrators, whatever their names, that rename RDMA devices.
std::vector<std::string> NamingSwitch::others_that_rename() const
{
    std::vector<std::string> paths;
    std::set<std::string, std::less<>> seen; // one in an earlier folder hides those of its name
    for (const auto* folder : local_folders) {
        const auto directory = root_ + folder;
        for (const auto& name : names_in(directory)) {
            auto path = directory + "/" + name;
            if (name.ends_with(".rules") && name != file_name && seen.emplace(name).second &&
                renames(content(path)))
                paths.push_back(std::move(path));
        }
    }
    return paths;
}

/// Returns where an administrator has replaced or masked the rules that run us; empty if nowhere.
std::string NamingSwitch::masked_rules() const
{
    for (const auto* folder : local_folders)
        for (const auto* name : own_rules)
            if (auto path = root_ + folder + "/" + name; exists(path))
                return path;
    return {};
}

/// Returns a hint for the user if no .link file is sound, else an empty string.
std::string NamingSwitch::hint_without_links() const
{
    const auto files = config::read_link_files(root_);
    if (std::any_of(files.begin(), files.end(),
                    [](const config::LinkFile& file) { return file.problems.empty(); }))
        return {};
    return "There is no .link file without mistakes in /etc/rdmad/link.d, /run/rdmad/link.d, "
           "/usr/local/lib/rdmad/link.d or /usr/lib/rdmad/link.d: if rdmad names devices, they "
           "keep the kernel's names.\n";
}

KernelOptions NamingSwitch::kernel_options() const
{
    return parse_kernel_options(text::trim(content(root_ + "/proc/cmdline")));
}

bool NamingSwitch::is_on() const
{
    return in_folder(etc).owner == Owner::rdmad && kernel_options().gives_names;
}

Result<std::string> NamingSwitch::enable() const
{
    const auto there = in_folder(etc);
    if (there.owner == Owner::rdmad)
        return "Nothing to do: rdmad names RDMA devices, by " + there.path + ".\n";
    const auto now = effective();
    if (now.owner == Owner::administrator)
        return fail(EEXIST, now.path + " was made by an administrator, and overrides rdmad; "
                                       "remove it, and run this again");
    const auto path = root_ + etc + "/" + file_name;
    mkdir((root_ + etc).c_str(), 0755);
    // one that an administrator made meanwhile stays
    if (auto written = replace_file(path, path + ".new", rules, Durable::yes, Existing::kept);
        !written)
        return tl::unexpected<Error>(std::move(written).error());
    reload_rules(root_);
    return "Wrote " + path + ": rdmad now names RDMA devices in place of rdma-core.\n" +
           (kernel_options().gives_names ? "" : not_in_this_boot) + hint_without_links() +
           what_follows;
}

Result<std::string> NamingSwitch::disable() const
{
    const auto there = in_folder(etc);
    if (there.owner != Owner::rdmad)
        return std::string("Nothing to do: rdmad does not name RDMA devices.\n");
    if (unlink(there.path.c_str()) < 0)
        return fail(errno, there.path);
    reload_rules(root_);
    return "Removed " + there.path +
           ": rdmad does not rename devices any more; the packaged 60-rdma-persistent-naming.rules "
           "applies.\n" +
           what_follows;
}

std::string NamingSwitch::status() const
{
    const auto now = effective();
    const auto options = kernel_options();
    std::string text;
    switch (now.owner) {
    case Owner::nobody:
        text = "Nobody renames RDMA devices: there is no " + std::string(file_name) + ".\n";
        break;
    case Owner::rdmad:
        text = "rdmad names RDMA devices, by " + now.path + ".\n" +
               (options.gives_names ? "" : not_in_this_boot);
        break;
    case Owner::rdma_core:
        text = "rdma-core names RDMA devices, by " + now.path + ".\n";
        break;
    case Owner::administrator:
        text = now.path +
               " is an administrator's, and overrides the files of rdma-core and rdmad: " +
               (renames(content(now.path)) ? "it renames RDMA devices.\n"
                                           : "nobody renames RDMA devices.\n");
        break;
    }
    for (const auto& problem : options.problems)
        text += problem + "\n";
    for (const auto& path : others_that_rename())
        text += path + " renames RDMA devices, too.\n";

    if (const auto path = masked_rules(); !path.empty())
        text += path + " overrides rdmad's own file of that name.\n";
    for (const auto& file : config::read_link_files(root_)) {
        text += file.path + (file.problems.empty() ? "\n" : ": names no device\n");
        for (const auto& problem : file.problems)
            text += "    " + problem.message() + "\n";
    }
    return text + hint_without_links();
}

} // namespace rdmad::rdma_id
