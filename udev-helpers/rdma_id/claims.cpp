// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/claims.hpp"

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/naming/links.hpp"
#include "udev-helpers/rdma_id/log.hpp"
#include "udev-helpers/rdma_id/rename_retries.hpp"
#include "udev-helpers/rdma_id/state_link.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

namespace rdmad::rdma_id {

namespace {

constexpr char taken[] = "claims";
constexpr char lost[] = "contested";
/// Instead of a claimant: an owner that has to give its link up.
constexpr char yields[] = "yields";

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

bool is_before(const Claimant& a, const Claimant& b)
{
    return std::pair(a.index, a.port) < std::pair(b.index, b.port);
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

void trigger(const sysfs::Directory& root, Node node, const std::string& sysname,
             std::string_view action)
{
    const auto path = class_path(node, sysname) + "/uevent";
    const UniqueFd file(openat(root.fd(), path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    // a node that has gone needs no second look
    if (!file)
        return;
    [[maybe_unused]] const auto written = write(file.get(), action.data(), action.size());
}

std::string Claims::path(const char* kind, const std::string& key) const
{
    return directory_ + "/" + kind + "/" + key;
}

/// Whether the owner still is a node of that device and the GUID still that of its port. A device
/// that is being renamed is asked about again.
Result<bool> Claims::is_alive(uint64_t guid, const Claimant& owner)
{
    const auto path = class_path(owner.node, owner.sysname);
    for (int i = 0; i < max_renames; i++) {
        const auto device = client_->device(owner.index);
        if (!device)
            return tl::unexpected<Error>(device.error());
        const auto name = root_.read(path + "/ibdev");
        if (!*device || !name)
            return false;
        if (name.text != (*device)->name)
            continue;
        const auto sysfs = sysfs::RdmaDevice::open(root_, name.text);
        if (!sysfs)
            return tl::unexpected<Error>(sysfs.error());
        if (!*sysfs || !(*sysfs)->is_beside(root_, path))
            continue;
        if (owner.port == 0)
            return (*device)->node_guid == guid;
        return (*sysfs)->port_guid(owner.port).map([&](auto port_guid) {
            return port_guid == guid;
        });
    }
    return false;
}

/// Once for each loss. Who was the owner before has its links and units until this event is over,
/// and systemd ignores the new owner's claim to a unit that another device has: the new owner gets
/// a second event.
void Claims::note_loss(const std::string& key, const Claim& loser, const Claimant& owner) const
{
    const auto path = this->path(lost, key + "-" + loser.claimant.sysname);
    const auto mine = to_text(loser.claimant);
    const auto before = read_link(path);
    if (before == mine)
        return;
    replace_link(mine, path);
    warn(loser.claimant.sysname + " of RDMA device " + std::to_string(loser.claimant.index) +
         " does not get " + link_name(loser) + ": " + owner.sysname + " of device " +
         std::to_string(owner.index) + " has the same GUID and the lower index");
    if (before == yields)
        trigger(root_, owner.node, owner.sysname);
}

/// Takes the claimant that came first out of those who lost to the owner of a link.
std::optional<Claimant> Claims::take_heir(const std::string& key, Node node) const
{
    std::optional<Claimant> heir;
    for (const auto& name : losers_of(key)) {
        const auto loser = parse_claimant(read_link(path(lost, name)).value_or(""), node);
        if (loser && (!heir || is_before(*loser, *heir)))
            heir = loser;
    }
    if (heir)
        unlink(path(lost, key + "-" + heir->sysname).c_str());
    return heir;
}

/// Names of the marks below contested/.
std::vector<std::string> Claims::losers_of(const std::string& key) const
{
    auto names = names_in(directory_ + "/" + lost);
    std::erase_if(names, [&](const std::string& name) { return !name.starts_with(key + "-"); });
    return names;
}

/// A link that two nodes have is better than none: systemd stops what is bound to it.
void Claims::stop_writing(const Error& error)
{
    writable_ = false;
    warn(error.message() + ": links are given without a record of who has them, so two devices "
                           "with one GUID may get the same");
}

Result<bool> Claims::settle(const Claim& claim)
{
    const Claimant& me = claim.claimant;
    const auto key = key_of(claim.guid, me.port, me.node);
    const auto path = this->path(taken, key);
    const auto mine = to_text(me);

    if (writable_) {
        const int error = make_link(mine, path);
        if (error == 0)
            return true;
        if (error != EEXIST)
            stop_writing({error, path});
    }
    const auto current = read_link(path);
    if (current == mine || (!current && !writable_))
        return true;

    // from here on a claim changes hands, by one process at a time
    const auto held = writable_ ? lock_state(directory_) : Result<UniqueFd>();
    if (!held)
        stop_writing(held.error());
    // released meanwhile: whoever is first takes it
    if (writable_ && !read_link(path) && make_link(mine, path) == 0)
        return true;
    const auto owner = parse_claimant(read_link(path).value_or(""), me.node);
    if (owner && owner->index == me.index && owner->sysname == me.sysname)
        return false; // another port of the same node, which has the link already
    auto alive = owner ? is_alive(claim.guid, *owner) : Result<bool>(false);
    if (!alive)
        return alive;
    const bool wins = !*alive || is_before(me, *owner);
    if (!writable_)
        return wins;
    if (!wins) {
        note_loss(key, claim, *owner);
        return false;
    }
    if (const int error = replace_link(mine, path); error != 0) {
        stop_writing({error, path});
        return true;
    }
    if (*alive) {
        replace_link(yields, this->path(lost, key + "-" + owner->sysname));
        trigger(root_, owner->node, owner->sysname);
    }
    return true;
}

void Claims::release_link(const std::string& key, uint32_t index, Node node,
                          bool is_last_call) const
{
    bool was_loser = false;
    for (const auto& name : losers_of(key)) {
        const auto mark = read_link(path(lost, name)).value_or("");
        const auto loser = parse_claimant(mark, node);
        const bool is_it = loser && loser->index == index;
        // one that was to give its link up went instead
        const bool has_gone =
            mark == yields && !root_.contains(class_path(node, name.substr(key.size() + 1)));
        if (is_it || has_gone)
            unlink(path(lost, name).c_str());
        was_loser = was_loser || is_it;
    }
    const auto path = this->path(taken, key);
    auto owner = parse_claimant(read_link(path).value_or(""), node);
    if (owner && owner->index == index) {
        owner = take_heir(key, node);
        if (owner)
            replace_link(to_text(*owner), path);
        else
            unlink(path.c_str());
    } else if (was_loser || !is_last_call) {
        return;
    }
    if (owner)
        trigger(root_, owner->node, owner->sysname);
}

void Claims::release(uint32_t index, Node node, const std::vector<uint64_t>& port_guids,
                     std::optional<uint64_t> node_guid)
{
    // only nodes with one GUID, and nodes that go, need it
    const auto held = lock_state(directory_);
    const bool is_last_call = node == Node::device;
    for (const auto each : device_nodes) {
        if (!held || (!is_last_call && each != node))
            continue;
        for (const auto guid : port_guids)
            release_link(key_of(guid, 1, each), index, each, is_last_call);
        if (node_guid && each == Node::uverbs)
            release_link(key_of(*node_guid, 0, each), index, each, is_last_call);
    }
    // the rules look whether it is there; it stays if it is not empty
    rmdir((directory_ + "/" + lost).c_str());
}

} // namespace rdmad::rdma_id
