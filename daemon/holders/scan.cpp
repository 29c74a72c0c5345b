// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/holders/scan.hpp"

#include "core/base/c_ptr.hpp"
#include "core/base/file.hpp"
#include "core/base/text.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <sys/stat.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-login.h>
#include <unistd.h>
#include <utility>

namespace rdmad {

namespace {

using Bus = CPtr<sd_bus, sd_bus_flush_close_unref>;
using Message = CPtr<sd_bus_message, sd_bus_message_unref>;
using Stored = std::map<std::string, Holder>; ///< by unit

// of one node; more help nobody
constexpr size_t max_holders = 16;
// names of gone nodes, of a process and of all: a user makes them up, and rdmad reads 4 MiB at most
constexpr size_t max_gone = 64;
constexpr size_t max_gone_of_all = 4096;
// descriptors of a process: most have fewer than in the first turn, and none more than in the last
// of 25
constexpr size_t first_turn = 64;
constexpr size_t last_turn = size_t{1} << 30U;
constexpr const char* destination = "org.freedesktop.systemd1";
constexpr const char* object = "/org/freedesktop/systemd1";
constexpr const char* manager = "org.freedesktop.systemd1.Manager";

/// Returns the processes in /proc, or the threads in /proc/PID/task.
std::set<uint32_t> numbers_in(const std::string& folder)
{
    std::set<uint32_t> numbers;
    for (const auto& name : names_in(folder))
        if (const auto number = text::parse_u32(name); number)
            numbers.insert(*number);
    return numbers;
}

std::string folder_of(uint32_t pid, const ScanSetup& setup)
{
    return setup.proc + "/" + std::to_string(pid);
}

/// Adds what people know a process by.
void introduce(Holder& holder, const ScanSetup& setup)
{
    const auto comm = read_file(folder_of(holder.pid, setup) + "/comm").value_or("");
    holder.command = text::trim(comm);
    holder.unit = setup.unit_of(holder.pid);
}

bool has_nodes(const Holder& holder)
{
    return !holder.nodes.empty() || !holder.gone.empty();
}

std::string target_of(const std::string& link)
{
    char target[PATH_MAX];
    const auto length = readlink(link.c_str(), target, sizeof(target));
    return length < 0 ? std::string() : std::string(target, static_cast<size_t>(length));
}

/// Adds a node. Returns false if it is gone and its name is unknown, or one too many.
bool add_node(Holder& holder, LinkedNode node)
{
    if (node.name.empty())
        return !node.is_gone;
    auto& names = node.is_gone ? holder.gone : holder.nodes;
    if (node.is_gone && names.size() >= max_gone && !names.contains(node.name))
        return false;
    names.insert(std::move(node.name));
    return true;
}

/// Returns the kind and the number of a file. Takes what the kernel has of them, as the file system
/// of a user need not reply.
std::optional<struct statx> status_of(const std::string& path)
{
    struct statx status = {};
    if (statx(AT_FDCWD, path.c_str(), AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT,
              STATX_TYPE | STATX_NLINK, &status) < 0)
        return std::nullopt;
    return status;
}

/// Returns the kernel's name of the character device with a number; empty if there is none.
std::string name_of_number(const std::string& devices, uint32_t major, uint32_t minor)
{
    const auto device =
        target_of(devices + "/" + std::to_string(major) + ":" + std::to_string(minor));
    return device.substr(device.rfind('/') + 1);
}

/// A descriptor of a character device.
struct OpenDevice {
    uint32_t major = 0;
    uint32_t minor = 0;
    uint32_t dev_major = 0; ///< of the file system
    uint32_t dev_minor = 0;
    bool is_unlinked = false;
    std::string path = {}; ///< as /proc/PID/fd shows it
};

/// Returns true if the kernel has made a later node with the number of one that is not in its
/// folder any more: it removed that. One that somebody else unlinked, or made on another file
/// system, is of the device that has the number.
bool is_replaced(const OpenDevice& file, const std::string& later, const ScanSetup& setup)
{
    if (!file.is_unlinked)
        return false;
    const auto dev = status_of(setup.dev);
    return dev && file.dev_major == dev->stx_dev_major && file.dev_minor == dev->stx_dev_minor &&
           status_of(setup.nodes + "/" + later);
}

/// Returns the node of the number, whatever it is called: a container may call it otherwise, also
/// so that it seems to be gone. One that is gone has no name but that of its path.
LinkedNode node_of(const OpenDevice& file, const ScanSetup& setup)
{
    auto name = name_of_number(setup.devices, file.major, file.minor);
    if (name.empty() || is_replaced(file, name, setup))
        return {node_of_link(file.path).name, true};
    return is_node(name) ? LinkedNode{std::move(name)} : LinkedNode();
}

/// Returns true for a descriptor that has no file open, but only names it (O_PATH): anybody may
/// have one. info: its file in /proc/PID/fdinfo, proc_pid_fdinfo(5).
bool is_name_alone(const std::string& info)
{
    constexpr std::string_view key = "flags:\t0";
    const auto text = read_file(info).value_or("");
    const auto start = text.find(key);
    if (start == std::string::npos)
        return false;
    unsigned flags = 0;
    std::from_chars(text.data() + start + key.size(), text.data() + text.size(), flags, 8);
    return (flags & O_PATH) != 0;
}

/// What a folder of descriptors shows.
enum class Sight {
    refused, ///< it cannot be opened
    nothing,
    part,
    all
};

bool has_descriptors(Sight sight)
{
    return sight == Sight::part || sight == Sight::all;
}

/// Looks at the descriptors of processes, of each at as many as there is time for.
class Reader {
public:
    Reader(const ScanSetup& setup, std::set<uint32_t> majors)
        : setup_(setup), majors_(std::move(majors))
    {
    }

    /// Looks at so many of a process, and introduces it if it has a node. Returns false if it has
    /// more, or cannot be looked at.
    bool look_at(Holder& holder, size_t most) const;
    /// Returns true for a process that has closed all and waits for its parent.
    [[nodiscard]] bool is_over(uint32_t pid) const;

private:
    bool find_nodes(Holder& holder, size_t most) const;
    Sight look_into(const std::string& folder, Holder& holder, size_t most) const;
    [[nodiscard]] LinkedNode node_at(const std::string& link) const;

    const ScanSetup& setup_;
    std::set<uint32_t> majors_;
};

bool Reader::look_at(Holder& holder, size_t most) const
{
    if (setup_.is_time_over())
        return false;
    const bool is_known = has_nodes(holder);
    const bool is_all = find_nodes(holder, most);
    if (!is_known && has_nodes(holder))
        introduce(holder, setup_);
    return is_all;
}

bool Reader::is_over(uint32_t pid) const
{
    // "PID (comm) S ...", and comm may have parentheses: proc(5)
    const auto stat = read_file(folder_of(pid, setup_) + "/stat").value_or("");
    const auto end = stat.rfind(')');
    const auto state = end == std::string::npos ? "" : stat.substr(end + 1, 2);
    return state == " Z" || state == " X";
}

bool Reader::find_nodes(Holder& holder, size_t most) const
{
    const auto folder = folder_of(holder.pid, setup_);
    auto sight = look_into(folder + "/fd", holder, most);
    if (has_descriptors(sight))
        return sight == Sight::all;
    // a first thread that has ended shows none of those that the others have
    const auto threads = numbers_in(folder + "/task");
    for (const auto thread : threads) {
        sight = look_into(folder + "/task/" + std::to_string(thread) + "/fd", holder, most);
        if (has_descriptors(sight))
            return sight == Sight::all;
    }
    // several threads may end one by one, each after it has made the next
    return sight == Sight::nothing && numbers_in(folder + "/task") == threads;
}

Sight Reader::look_into(const std::string& folder, Holder& holder, size_t most) const
{
    const CPtr<DIR, closedir> entries(opendir(folder.c_str()));
    if (!entries)
        return Sight::refused;
    auto sight = Sight::nothing;
    while (const dirent* entry = readdir(entries.get())) {
        if (most-- == 0 || setup_.is_time_over())
            return Sight::part;
        if (entry->d_name[0] == '.')
            continue;
        auto node = node_at(folder + "/" + entry->d_name);
        const bool is_ours = node.is_gone || !node.name.empty();
        if (is_ours && is_name_alone(folder + "info/" + entry->d_name))
            node = {};
        const bool is_told = add_node(holder, std::move(node));
        sight = is_told && sight != Sight::part ? Sight::all : Sight::part;
    }
    return sight;
}

LinkedNode Reader::node_at(const std::string& link) const
{
    const auto status = status_of(link);
    if (!status || !S_ISCHR(status->stx_mode) || !majors_.contains(status->stx_rdev_major))
        return {};
    return node_of({.major = status->stx_rdev_major,
                    .minor = status->stx_rdev_minor,
                    .dev_major = status->stx_dev_major,
                    .dev_minor = status->stx_dev_minor,
                    .is_unlinked = status->stx_nlink == 0,
                    .path = target_of(link)},
                   setup_);
}

struct Process {
    Holder holder = {};
    bool is_read = false; ///< all its descriptors were looked at
};
using Processes = std::map<uint32_t, Process>;

void add(Processes& processes, const std::set<uint32_t>& pids)
{
    for (const auto pid : pids)
        processes[pid].holder.pid = pid;
}

/// Looks at those that were not looked at whole. Returns true if one of them is over: it may have
/// left what it had open to a child.
bool look_at_rest(Processes& processes, const Reader& reader, size_t most)
{
    bool is_one_over = false;
    for (auto& [pid, process] : processes) {
        if (process.is_read)
            continue;
        process.is_read = reader.look_at(process.holder, most);
        // one that ends in the middle shows descriptors that cannot be looked at any more
        is_one_over = is_one_over || (!has_nodes(process.holder) && reader.is_over(pid));
    }
    return is_one_over;
}

/// Drops processes that have ended. Returns true if one had a node, or may have had one: a child
/// may have that.
bool drop_ended(Processes& processes, const std::set<uint32_t>& pids)
{
    bool may_have_heir = false;
    std::erase_if(processes, [&](const auto& entry) {
        const auto& [pid, process] = entry;
        const bool has_ended = !pids.contains(pid);
        const bool had_none = process.is_read && !has_nodes(process.holder);
        may_have_heir = may_have_heir || (has_ended && !had_none);
        return has_ended;
    });
    return may_have_heir;
}

/// Looks at all processes, and at those that came since if they may have what nobody looked at,
/// until there is no time. Returns those that are there.
Processes look_at_all(const Reader& reader, const ScanSetup& setup)
{
    Processes processes;
    add(processes, numbers_in(setup.proc));
    // whoever has little open is done with before others have their turn
    for (size_t most = first_turn;; most *= 2) {
        const bool is_one_over = look_at_rest(processes, reader, most);
        const auto pids = numbers_in(setup.proc);
        if (drop_ended(processes, pids) || is_one_over)
            add(processes, pids);
        const bool is_done = std::all_of(processes.begin(), processes.end(),
                                         [](const auto& entry) { return entry.second.is_read; });
        if (is_done || most >= last_turn || setup.is_time_over())
            return processes;
    }
}

/// Leaves each name to as many holders as are told. A unit's second comes after the first of all
/// others, and a service before a scope: a user can have many processes, and many sessions.
void thin_out(std::vector<Holder>& holders, std::set<std::string> Holder::*names)
{
    using Rank = std::pair<size_t, bool>;
    std::map<std::pair<std::string, std::string>, size_t> earlier; ///< of a name and a unit
    std::map<std::string, std::multimap<Rank, Holder*>> crowds;
    for (auto& holder : holders)
        for (const auto& name : holder.*names) {
            const auto count = earlier[std::pair(name, holder.unit)]++;
            crowds[name].emplace(Rank(count, !holder.unit.ends_with(".service")), &holder);
        }
    for (const auto& [name, crowd] : crowds) {
        size_t told = 0;
        for (const auto& [rank, holder] : crowd)
            if (told++ >= max_holders)
                (holder->*names).erase(name);
    }
}

/// Drops the names of gone nodes of those who have most, if all have too many together. Their
/// holders count as unread.
void limit_gone(HolderReport& report)
{
    std::multimap<size_t, Holder*> holders;
    for (auto& holder : report.holders)
        holders.emplace(holder.gone.size(), &holder);
    size_t told = 0;
    for (const auto& [count, holder] : holders) {
        told += count;
        if (told <= max_gone_of_all)
            continue;
        holder->gone.clear();
        if (!report.unread)
            report.unread = Holder{.pid = holder->pid};
    }
}

/// Returns a string that the C library allocated.
template <typename Ask>
std::string owned(Ask ask)
{
    char* name = nullptr;
    if (ask(&name) < 0)
        return {};
    const CPtr<char, free> keeper(name);
    return name;
}

Bus connect_to(const char* address, bool is_bus)
{
    sd_bus* raw = nullptr;
    if (sd_bus_new(&raw) < 0)
        return nullptr;
    Bus bus(raw);
    // of a bus, anybody may send us a descriptor that takes minutes to close
    const bool is_open = sd_bus_set_address(raw, address) >= 0 &&
                         sd_bus_set_bus_client(raw, is_bus) >= 0 &&
                         sd_bus_negotiate_fds(raw, 0) >= 0 && sd_bus_start(raw) >= 0;
    return is_open ? std::move(bus) : nullptr;
}

Bus connect()
{
    auto bus = connect_to("unix:path=/run/dbus/system_bus_socket", true);
    // a boot without D-Bus: what systemctl speaks to then
    return bus ? std::move(bus) : connect_to("unix:path=/run/systemd/private", false);
}

template <typename... Arguments>
Message call(sd_bus* bus, const char* method, const char* types, Arguments... arguments)
{
    sd_bus_message* reply = nullptr;
    (void)sd_bus_call_method(bus, destination, object, manager, method, nullptr, &reply, types,
                             arguments...);
    return Message(reply);
}

std::vector<std::string> running_services(sd_bus* bus)
{
    std::vector<std::string> names;
    const auto reply = call(bus, "ListUnitsByPatterns", "asas", 0, 1, "*.service");
    if (!reply || sd_bus_message_enter_container(reply.get(), 'a', "(ssssssouso)") < 0)
        return names;
    const char* name = nullptr;
    while (sd_bus_message_read(reply.get(), "(ssssssouso)", &name, nullptr, nullptr, nullptr,
                               nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) > 0)
        names.emplace_back(name);
    return names;
}

/// Returns a holder that has no name yet.
Holder stored_for(sd_bus* bus, const std::string& unit)
{
    Holder holder;
    const auto reply = call(bus, "DumpUnitFileDescriptorStore", "s", unit.c_str());
    if (!reply || sd_bus_message_enter_container(reply.get(), 'a', "(suuutuusu)") < 0)
        return holder;
    uint32_t mode = 0;
    OpenDevice file;
    const char* path = nullptr;
    while (sd_bus_message_read(reply.get(), "(suuutuusu)", nullptr, &mode, &file.dev_major,
                               &file.dev_minor, nullptr, &file.major, &file.minor, &path,
                               nullptr) > 0) {
        if (!S_ISCHR(mode))
            continue;
        file.path = path;
        // PID 1 does not tell how many links it has
        file.is_unlinked = node_of_link(path).is_gone;
        (void)add_node(holder, node_of(file, ScanSetup()));
    }
    return holder;
}

Stored stored_nodes()
{
    Stored stored;
    const auto bus = connect();
    if (!bus)
        return stored;
    for (const auto& unit : running_services(bus.get()))
        if (auto holder = stored_for(bus.get(), unit); has_nodes(holder))
            stored.emplace(unit, std::move(holder));
    return stored;
}

void remove(std::set<std::string>& names, const std::set<std::string>& known)
{
    std::erase_if(names, [&](const std::string& name) { return known.contains(name); });
}

} // namespace

std::set<uint32_t> node_majors(std::string_view devices)
{
    std::set<uint32_t> majors;
    for (const auto line : text::split(devices.substr(0, devices.find("Block devices:")), '\n')) {
        const auto words = text::split(line, ' ');
        if (words.size() == 2 && words[1].starts_with("infiniband_"))
            if (const auto number = text::parse_u32(words[0]); number)
                majors.insert(*number);
    }
    return majors;
}

Result<HolderReport> scan(const ScanSetup& setup)
{
    const auto devices = read_file(setup.proc + "/devices");
    if (!devices)
        return tl::unexpected<Error>(devices.error());
    auto processes = look_at_all(Reader(setup, node_majors(*devices)), setup);
    if (processes.empty())
        return fail(ESRCH, setup.proc);
    HolderReport report;
    for (auto& [pid, process] : processes) {
        if (!process.is_read && !report.unread)
            report.unread = Holder{.pid = pid};
        if (has_nodes(process.holder))
            report.holders.push_back(std::move(process.holder));
    }
    thin_out(report.holders, &Holder::nodes);
    thin_out(report.holders, &Holder::gone);
    limit_gone(report);
    std::erase_if(report.holders, [](const Holder& holder) { return !has_nodes(holder); });
    if (report.unread)
        introduce(*report.unread, setup);
    return report;
}

std::string unit_of_process(uint32_t pid)
{
    const auto id = static_cast<pid_t>(pid);
    auto unit = owned([&](char** name) { return sd_pid_get_unit(id, name); });
    return unit.empty() ? owned([&](char** name) { return sd_pid_get_user_unit(id, name); }) : unit;
}

std::vector<Holder> resolve_stored(std::vector<Holder> holders)
{
    const auto first = std::find_if(holders.begin(), holders.end(),
                                    [](const Holder& holder) { return holder.pid == 1; });
    if (first == holders.end())
        return holders;
    auto store = *first;
    holders.erase(first);
    store.is_stored = true;
    store.unit.clear();
    for (auto& [unit, known] : stored_nodes()) {
        remove(store.nodes, known.nodes);
        remove(store.gone, known.gone);
        known.pid = store.pid;
        known.command = store.command;
        known.unit = unit;
        known.is_stored = true;
        holders.push_back(std::move(known));
    }
    if (has_nodes(store))
        holders.push_back(std::move(store));
    return holders;
}

} // namespace rdmad
