// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/claims.hpp"

#include "core/base/c_ptr.hpp"
#include "core/base/text.hpp"
#include "core/naming/links.hpp"
#include "udev-helpers/rdma_id/log.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace rdmad::rdma_id {

namespace {

constexpr char taken[] = "claims";
constexpr char lost[] = "contested";

constexpr std::array device_nodes = {Node::uverbs, Node::umad, Node::issm};

std::string key_of(uint64_t guid, uint32_t port, Node node)
{
    return (port > 0 ? "port-" : "node-") + text::format_guid(guid) + "-" +
           std::string(to_string(node));
}

std::string to_text(const Claimant& claimant)
{
    return std::to_string(claimant.index) + " " + std::to_string(claimant.port) + " " +
           claimant.sysname;
}

std::optional<std::string> read_link(const std::string& path)
{
    char target[NAME_MAX];
    const ssize_t size = readlink(path.c_str(), target, sizeof target);
    if (size < 0)
        return std::nullopt;
    return std::string(target, static_cast<size_t>(size));
}

std::string link_name(const Claim& claim)
{
    return "/dev/" + (claim.claimant.port > 0
                          ? naming::port_link(claim.guid, to_string(claim.claimant.node))
                          : naming::node_link(claim.guid));
}

} // namespace

std::optional<Claimant> parse_claimant(std::string_view text, Node node)
{
    const auto words = text::split(text, ' ');
    if (words.size() != 3 || !naming::is_safe_name(words[2]))
        return std::nullopt;
    const auto index = text::parse_u32(words[0]);
    const auto port = text::parse_u32(words[1]);
    if (!index || !port)
        return std::nullopt;
    return Claimant{*index, *port, node, std::string(words[2])};
}

void trigger(const sysfs::Directory& root, Node node, const std::string& sysname)
{
    const std::string path = "class/" + std::string(class_of(node)) + "/" + sysname + "/uevent";
    const UniqueFd file(openat(root.fd(), path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    // a node that has gone needs no second look
    if (!file)
        return;
    [[maybe_unused]] const auto written = write(file.get(), "change", 6);
}

std::string Claims::path(const char* kind, const std::string& key) const
{
    return directory_ + "/" + kind + "/" + key;
}

/// Whether the owner still is a node of that device and the GUID still that of its port.
Result<bool> Claims::is_alive(uint64_t guid, const Claimant& owner)
{
    const auto device = client_.device(owner.index);
    if (!device)
        return tl::unexpected<Error>(device.error());
    if (!*device)
        return false;
    const std::string node = "class/" + std::string(class_of(owner.node)) + "/" + owner.sysname;
    if (root_.read(node + "/ibdev").text != (*device)->name)
        return false;
    if (owner.port == 0)
        return (*device)->node_guid == guid;
    const auto sysfs = sysfs::RdmaDevice::open(root_, (*device)->name);
    if (!sysfs)
        return tl::unexpected<Error>(sysfs.error());
    return *sysfs && (*sysfs)->port_guid(owner.port) == guid;
}

void Claims::note_loss(const std::string& key, const Claim& loser, const Claimant& owner) const
{
    const auto path = this->path(lost, key + "-" + loser.claimant.sysname);
    const auto mine = to_text(loser.claimant);
    if (read_link(path) == mine)
        return;
    unlink(path.c_str());
    mkdir((directory_ + "/" + lost).c_str(), 0755);
    [[maybe_unused]] const int noted = symlink(mine.c_str(), path.c_str());
    warn(loser.claimant.sysname + " of RDMA device " + std::to_string(loser.claimant.index) +
         " does not get " + link_name(loser) + ": " + owner.sysname + " of device " +
         std::to_string(owner.index) + " has the same GUID and the lower index");
}

/// 0, or an errno value.
int Claims::take(const std::string& claimant, const std::string& path) const
{
    if (symlink(claimant.c_str(), path.c_str()) == 0)
        return 0;
    if (errno != ENOENT)
        return errno;
    mkdir(directory_.c_str(), 0755);
    mkdir((directory_ + "/" + taken).c_str(), 0755);
    return symlink(claimant.c_str(), path.c_str()) == 0 ? 0 : errno;
}

Result<bool> Claims::settle(const Claim& claim)
{
    const Claimant& me = claim.claimant;
    const auto key = key_of(claim.guid, me.port, me.node);
    const auto path = this->path(taken, key);
    const auto mine = to_text(me);

    if (writable_) {
        const int error = take(mine, path);
        if (error == 0)
            return true;
        if (error != EEXIST)
            return fail(error, path);
    }
    const auto current = read_link(path);
    if (current == mine || (!current && !writable_))
        return true;

    // From here on a claim changes hands: one process at a time. Only nodes with one GUID come
    // here.
    UniqueFd lock;
    if (writable_) {
        lock.reset(::open((directory_ + "/" + taken).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!lock || flock(lock.get(), LOCK_EX) < 0)
            return fail(errno, directory_);
    }
    const auto owner = parse_claimant(read_link(path).value_or(""), me.node);
    bool alive = false;
    if (owner) {
        const auto answer = is_alive(claim.guid, *owner);
        if (!answer)
            return tl::unexpected<Error>(answer.error());
        alive = *answer;
    }
    const bool wins = !alive || std::pair(me.index, me.port) < std::pair(owner->index, owner->port);
    if (!writable_)
        return wins;
    if (!wins) {
        note_loss(key, claim, *owner);
        return false;
    }
    const auto fresh = path + ".new";
    unlink(fresh.c_str());
    if (symlink(mine.c_str(), fresh.c_str()) < 0 || rename(fresh.c_str(), path.c_str()) < 0)
        return fail(errno, path);
    if (alive)
        trigger(root_, owner->node, owner->sysname);
    return true;
}

void Claims::release_link(const std::string& key, uint32_t index, bool is_last_call) const
{
    const auto path = this->path(taken, key);
    const auto owner = parse_claimant(read_link(path).value_or(""), Node::device);
    if (owner && owner->index == index)
        unlink(path.c_str());
    else if (!is_last_call)
        return;

    const auto contested = directory_ + "/" + lost;
    const CPtr<DIR, closedir> losers(opendir(contested.c_str()));
    while (const dirent* entry = losers ? readdir(losers.get()) : nullptr) {
        const std::string_view name = entry->d_name;
        if (!name.starts_with(key + "-"))
            continue;
        const auto loser = name.substr(key.size() + 1);
        if (is_last_call)
            unlink((contested + "/" + entry->d_name).c_str());
        for (const auto node : device_nodes)
            if (loser.starts_with(to_string(node)))
                trigger(root_, node, std::string(loser));
    }
    // the rules look for it; it stays if it is not empty
    if (is_last_call)
        rmdir(contested.c_str());
}

void Claims::release(uint32_t index, Node node, const std::vector<uint64_t>& port_guids,
                     std::optional<uint64_t> node_guid)
{
    const bool is_last_call = node == Node::device;
    for (const auto each : device_nodes) {
        if (!is_last_call && each != node)
            continue;
        for (const auto guid : port_guids)
            release_link(key_of(guid, 1, each), index, is_last_call);
        if (node_guid && each == Node::uverbs)
            release_link(key_of(*node_guid, 0, each), index, is_last_call);
    }
}

} // namespace rdmad::rdma_id
