// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/holders/scan.hpp"

#include "core/base/c_ptr.hpp"
#include "core/base/file.hpp"
#include "core/base/text.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <dirent.h>
#include <map>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-login.h>
#include <unistd.h>

namespace rdmad {

namespace {

using Bus = CPtr<sd_bus, sd_bus_flush_close_unref>;
using Message = CPtr<sd_bus_message, sd_bus_message_unref>;
using Stored = std::map<std::string, Holder>; ///< by unit

// of one node; more help nobody
constexpr size_t max_holders = 16;
// descriptors of a process: most have fewer than in the first turn, and none more than in the last
constexpr size_t first_turn = 64;
constexpr size_t last_turn = size_t{1} << 30U;
constexpr const char* destination = "org.freedesktop.systemd1";
constexpr const char* object = "/org/freedesktop/systemd1";
constexpr const char* manager = "org.freedesktop.systemd1.Manager";

std::set<uint32_t> processes_in(const std::string& proc)
{
    std::set<uint32_t> pids;
    for (const auto& name : names_in(proc))
        if (const auto pid = text::parse_u32(name); pid)
            pids.insert(*pid);
    return pids;
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

private:
    bool find_nodes(Holder& holder, size_t most) const;
    [[nodiscard]] LinkedNode node_of(const std::string& link) const;

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

bool Reader::find_nodes(Holder& holder, size_t most) const
{
    const auto folder = folder_of(holder.pid, setup_) + "/fd";
    const CPtr<DIR, closedir> entries(opendir(folder.c_str()));
    if (!entries)
        return errno == ENOENT || errno == ESRCH;
    while (const dirent* entry = readdir(entries.get())) {
        if (most-- == 0 || setup_.is_time_over())
            return false;
        auto node = node_of(folder + "/" + entry->d_name);
        if (!node.name.empty())
            (node.is_gone ? holder.gone : holder.nodes).insert(std::move(node.name));
    }
    return true;
}

/// Returns its name, and whether it is still there: a container may call a node otherwise, also so
/// that it seems to be gone. The name is empty if it is no RDMA node, whatever it is called.
LinkedNode Reader::node_of(const std::string& link) const
{
    auto node = node_of_link(target_of(link));
    struct stat status = {};
    if (node.name.empty() || stat(link.c_str(), &status) < 0 || !S_ISCHR(status.st_mode) ||
        !majors_.contains(major(status.st_rdev)))
        return {};
    if (status.st_nlink == 0)
        return {std::move(node.name), true};
    const auto device = target_of(setup_.devices + "/" + std::to_string(major(status.st_rdev)) +
                                  ":" + std::to_string(minor(status.st_rdev)));
    if (device.empty())
        return {std::move(node.name), true};
    auto name = device.substr(device.rfind('/') + 1);
    return is_node(name) ? LinkedNode{std::move(name)} : LinkedNode();
}

/// Counts the holders of each node, and leaves out of a holder the nodes that have enough.
class Crowd {
public:
    void thin_out(Holder& holder)
    {
        const auto is_told = [&](const std::string& name) {
            return counts_[name]++ >= max_holders;
        };
        std::erase_if(holder.nodes, is_told);
        std::erase_if(holder.gone,
                      [&](const std::string& name) { return is_told(name + " gone"); });
    }

private:
    std::map<std::string, size_t> counts_;
};

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
    const char* path = nullptr;
    while (sd_bus_message_read(reply.get(), "(suuutuusu)", nullptr, nullptr, nullptr, nullptr,
                               nullptr, nullptr, nullptr, &path, nullptr) > 0)
        if (auto node = node_of_link(path); !node.name.empty())
            (node.is_gone ? holder.gone : holder.nodes).insert(std::move(node.name));
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
    const Reader reader(setup, node_majors(*devices));
    auto unread = processes_in(setup.proc);
    if (unread.empty())
        return fail(ESRCH, setup.proc);
    std::map<uint32_t, Holder> found;
    // whoever has little open is done with before others have their turn
    for (size_t most = first_turn; most <= last_turn && !setup.is_time_over(); most *= 2)
        std::erase_if(unread, [&](uint32_t pid) {
            found[pid].pid = pid;
            return reader.look_at(found[pid], most);
        });
    const auto has_ended = [&](uint32_t pid) {
        return access(folder_of(pid, setup).c_str(), F_OK) < 0;
    };
    HolderReport report;
    Crowd crowd;
    for (auto& [pid, holder] : found) {
        if (!has_nodes(holder) || has_ended(pid))
            continue;
        crowd.thin_out(holder);
        if (has_nodes(holder))
            report.holders.push_back(std::move(holder));
    }
    const auto first = std::find_if_not(unread.begin(), unread.end(), has_ended);
    if (first != unread.end()) {
        report.unread = Holder{.pid = *first};
        introduce(*report.unread, setup);
    }
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
