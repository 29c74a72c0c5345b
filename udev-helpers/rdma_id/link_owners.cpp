// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/link_owners.hpp"

#include "core/base/file.hpp"
#include "core/base/state_link.hpp"
#include "core/base/text.hpp"
#include "core/device/retries.hpp"
#include "core/naming/links.hpp"
#include "core/sysfs/netdev.hpp"
#include "udev-helpers/rdma_id/log.hpp"
#include "udev-helpers/rdma_id/node_refresh.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <unistd.h>

namespace rdmad::rdma_id {

namespace {

constexpr char taken[] = "claims";
constexpr char lost[] = "contested";
/// The fourth word of a mark. A state that is not in it has none.
constexpr std::array<std::pair<Mark::State, std::string_view>, 2> words_of_states = {
    {{Mark::State::untold, "untold"}, {Mark::State::yields, "yields"}}};

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

std::string to_text(const Mark& mark)
{
    auto text = to_text(mark.claimant);
    for (const auto& [state, word] : words_of_states)
        if (mark.state == state)
            text.append(" ").append(word);
    return text;
}

/// The content of a key.
struct Link {
    std::string key;
    uint64_t guid;
    Node node;
};

/// Reads the name of a claim, or of a mark, which has a sysname behind the key. Returns nullopt for
/// other names.
std::optional<Link> parse_key(const std::string& name)
{
    const auto words = text::split(name, '-');
    const auto guid = words.size() < 3 ? std::nullopt : text::parse_hex_u64(words[1]);
    if (!guid)
        return std::nullopt;
    for (const auto node : device_nodes)
        for (const uint32_t port : {0U, 1U}) {
            auto key = key_of(*guid, port, node);
            if (name == key || name.starts_with(key + "-"))
                return Link{std::move(key), *guid, node};
        }
    return std::nullopt;
}

bool is_of(const PastLinks& past, const Claimant& claimant)
{
    return claimant.index == past.index &&
           (past.node == Node::device || claimant.sysname == past.sysname);
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

std::optional<Mark> parse_mark(std::string_view text, Node node)
{
    auto state = Mark::State::told;
    const auto words = text::split(text, ' ');
    for (const auto& [other, word] : words_of_states)
        if (words.size() == 4 && words[3] == word) {
            state = other;
            text = text.substr(0, text.rfind(' '));
        }
    auto claimant = parse_claimant(text, node);
    return claimant ? std::optional(Mark{std::move(*claimant), state}) : std::nullopt;
}

std::string LinkOwners::path(const char* kind, const std::string& key) const
{
    return directory_ + "/" + kind + "/" + key;
}

std::string LinkOwners::mark_path(const std::string& key, const std::string& sysname) const
{
    return path(lost, key + "-" + sysname);
}

/// Returns the lock, or an empty descriptor if another event keeps it: that waits for an adapter
/// that does not answer, and must not keep links from changing hands. Waits for it once.
Result<UniqueFd> LinkOwners::wait_for_lock() const
{
    auto held = lock_state(directory_, "lock", lock_patience_);
    if (held || held.error().code != EBUSY)
        return held;
    if (lock_patience_.count() > 0)
        warn(held.error().message() + ": rdma_id goes on without it");
    lock_patience_ = std::chrono::milliseconds(0);
    return UniqueFd();
}

/// Returns gone unless the owner still is a node of that device, entitled if it may have the link,
/// else forfeit. Retries if the device is being renamed. Call it only while ib_core is loaded: it
/// makes requests, which would load it.
Result<LinkOwners::Standing> LinkOwners::standing(uint64_t guid, const Claimant& owner)
{
    const auto path = class_path(owner.node, owner.sysname);
    for (int i = 0; i < max_renames; i++) {
        const auto device = client_.device(owner.index);
        if (!device)
            return tl::unexpected<Error>(device.error());
        const auto name = root_.read(path + "/ibdev");
        if (!*device || !name)
            return Standing::gone;
        if (name.text != (*device)->name)
            continue;
        const auto sysfs = sysfs::RdmaDevice::open(root_, name.text);
        if (!sysfs)
            return tl::unexpected<Error>(sysfs.error());
        if (!*sysfs || !(*sysfs)->is_beside(root_, path))
            continue;
        if (owner.port == 0)
            return (*device)->node_guid == guid ? Standing::entitled : Standing::forfeit;
        return standing_of_port(guid, owner, **device, **sysfs);
    }
    return Standing::gone;
}

/// Returns entitled if the port has the GUID and may claim it. A port without a LID is one for
/// subnet management alone, or a RoCE port, which claims nothing while its network device is in
/// another network namespace: see claims_of().
Result<LinkOwners::Standing> LinkOwners::standing_of_port(uint64_t guid, const Claimant& owner,
                                                          const nldev::Device& device,
                                                          const sysfs::RdmaDevice& sysfs)
{
    auto current = sysfs.port_guid(owner.port);
    if (current && *current && *current != guid)
        return Standing::forfeit;
    const auto port = client_.port(owner.index, owner.port);
    if (!port && current && !*current)
        return Standing::forfeit;
    if (!port)
        return tl::unexpected<Error>(port.error());
    if (*port && (*port)->netdev && sysfs::eui64_of_netdev(root_, *(*port)->netdev) == guid)
        for (GidRetries retries; current && !*current && retries.next();)
            current = sysfs.port_guid(owner.port);
    if (!current)
        return tl::unexpected<Error>(current.error());
    if (*current != guid)
        return Standing::forfeit;
    const bool may_claim =
        *port && (device.device_type == nldev::Device::smi || (*port)->lid || (*port)->netdev);
    return may_claim ? Standing::entitled : Standing::forfeit;
}

/// Logs a loss, once if something reads the log. The former owner has its links and units until
/// this event is over, and systemd ignores the new owner's claim to a unit that another device has:
/// triggers the new owner a second time.
void LinkOwners::note_loss(const std::string& key, const Claim& loser, const Claimant& owner) const
{
    using State = Mark::State;
    const auto& me = loser.claimant;
    const auto path = mark_path(key, me.sysname);
    const auto before = read_link(path).value_or("");
    if (before == to_text(Mark{me, State::told}))
        return;
    replace_link(to_text(Mark{me, is_log_read(log_socket_) ? State::told : State::untold}), path);
    warn(me.sysname + " of RDMA device " + std::to_string(me.index) + " does not get " +
         link_name(loser) + ": " + owner.sysname + " of device " + std::to_string(owner.index) +
         " has the same GUID and " +
         (loser.precedence == Precedence::lowest_index
              ? "the lower index"
              : "had it first; give one of their network devices another MAC address"));
    const auto mark = parse_mark(before, me.node);
    if (mark && mark->state == State::yields)
        trigger(root_, owner.node, owner.sysname);
}

/// Gives a link to the node that came first of those that lost it to its owner, and triggers that
/// node. Goes on to the next one if the node is gone and has left its mark.
void LinkOwners::pass_on(const std::string& key, Node node) const
{
    const auto path = this->path(taken, key);
    auto losers = losers_of(key, node);
    std::sort(losers.begin(), losers.end(), [](const Loser& a, const Loser& b) {
        return is_before(a.mark.claimant, b.mark.claimant);
    });
    for (const auto& loser : losers) {
        const auto& heir = loser.mark.claimant;
        unlink(loser.path.c_str());
        replace_link(to_text(heir), path);
        if (trigger(root_, node, heir.sysname))
            return;
    }
    unlink(path.c_str());
}

std::vector<LinkOwners::Loser> LinkOwners::losers_of(const std::string& key, Node node) const
{
    std::vector<Loser> losers;
    for (const auto& name : names_in(directory_ + "/" + lost)) {
        if (!name.starts_with(key + "-"))
            continue;
        auto path = this->path(lost, name);
        auto mark = parse_mark(read_link(path).value_or(""), node);
        if (mark)
            losers.push_back({std::move(path), std::move(*mark)});
    }
    return losers;
}

/// Gives links without a record from now on, and logs that. A link that two nodes have is better
/// than none: systemd stops what is bound to it.
void LinkOwners::stop_writing(const Error& error)
{
    writable_ = false;
    warn(error.message() + ": rdma_id makes links without a record of their owners, so two "
                           "devices with one GUID may get the same link");
}

Result<bool> LinkOwners::take(const Claim& claim)
{
    const auto key = key_of(claim.guid, claim.claimant.port, claim.claimant.node);
    const auto path = this->path(taken, key);
    const auto mine = to_text(claim.claimant);
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
    const auto held = writable_ ? wait_for_lock() : Result<UniqueFd>();
    if (!held)
        stop_writing(held.error());
    // released meanwhile: whoever is first takes it
    if (writable_ && !read_link(path) && make_link(mine, path) == 0)
        return true;
    return contest(claim, key);
}

/// Decides between a claim and the owner on record. The caller has the lock if it may write, and if
/// no other event keeps it.
Result<bool> LinkOwners::contest(const Claim& claim, const std::string& key)
{
    const Claimant& me = claim.claimant;
    const auto path = this->path(taken, key);
    std::optional<Claimant> owner;
    Result<Standing> found = Standing::gone;
    for (int i = 0; i < max_renames; i++) {
        const auto recorded = read_link(path).value_or("");
        owner = parse_claimant(recorded, me.node);
        found = owner ? standing(claim.guid, *owner) : Standing::gone;
        // the kernel may have kept this event waiting, and another one gone on without the lock
        if (read_link(path).value_or("") == recorded)
            break;
    }
    // an error of another device costs no more than this link, which comes when that device goes
    if (!found && owner->index != me.index) {
        warn(me.sysname + " of RDMA device " + std::to_string(me.index) + " does not get " +
             link_name(claim) + ": rdma_id cannot tell whether " + owner->sysname +
             ", which has it, still has the GUID: " + found.error().message());
        // a mark that is there says more
        if (writable_)
            make_link(to_text(Mark{me, Mark::State::untold}), mark_path(key, me.sysname));
        return false;
    }
    if (!found)
        return tl::unexpected<Error>(found.error());
    // another port of the same node
    const bool is_mine = owner && owner->index == me.index && owner->sysname == me.sysname;
    const bool is_held = *found == Standing::entitled;
    const bool wins = !is_held || (!is_mine && claim.precedence == Precedence::lowest_index &&
                                   is_before(me, *owner));
    if (!writable_ || (is_mine && !wins))
        return wins;
    if (!wins) {
        note_loss(key, claim, *owner);
        return false;
    }
    if (const int error = replace_link(to_text(me), path); error != 0) {
        stop_writing({error, path});
        return true;
    }
    unlink(mark_path(key, me.sysname).c_str());
    if (!is_mine && *found != Standing::gone) {
        replace_link(to_text(Mark{*owner, Mark::State::yields}), mark_path(key, owner->sysname));
        trigger(root_, owner->node, owner->sysname);
    }
    return true;
}

/// Releases one link. Returns true if the node had or lost it.
bool LinkOwners::release_link(const std::string& key, Node node, const PastLinks& past) const
{
    bool is_released = false;
    bool concerns_owner = past.node == Node::device;
    for (const auto& loser : losers_of(key, node)) {
        if (!is_of(past, loser.mark.claimant))
            continue;
        unlink(loser.path.c_str());
        is_released = true;
        // one that was to give the link up has done so, if by its removal
        concerns_owner = loser.mark.state == Mark::State::yields;
    }
    const auto owner = parse_claimant(read_link(path(taken, key)).value_or(""), node);
    if (owner && is_of(past, *owner)) {
        pass_on(key, node);
        return true;
    }
    if (owner && concerns_owner)
        trigger(root_, node, owner->sysname);
    return is_released;
}

bool LinkOwners::release(const PastLinks& past) const
{
    const auto held = wait_for_lock();
    bool is_released = false;
    if (!held)
        return is_released;
    for (const auto node : device_nodes) {
        if (past.node != Node::device && past.node != node)
            continue;
        for (const auto guid : past.port_guids)
            is_released = release_link(key_of(guid, 1, node), node, past) || is_released;
        if (past.node_guid && node == Node::uverbs)
            is_released = release_link(key_of(*past.node_guid, 0, node), node, past) || is_released;
    }
    return is_released;
}

Result<void> LinkOwners::sweep()
{
    Result<void> outcome;
    for (const auto* kind : {lost, taken}) {
        for (const auto& name : names_in(directory_ + "/" + kind)) {
            const auto swept = sweep_record(kind, name);
            if (swept && !*swept)
                return outcome;
            if (!swept && outcome)
                outcome = tl::unexpected<Error>(swept.error());
        }
    }
    return outcome;
}

/// Removes a record unless its node is there. Returns false if another event keeps the lock: the
/// next sweep goes on. Keeps a record of which the kernel does not tell, and fails.
Result<bool> LinkOwners::sweep_record(const char* kind, const std::string& name)
{
    const auto path = this->path(kind, name);
    const auto link = parse_key(name);
    const auto mark = link ? parse_mark(read_link(path).value_or(""), link->node) : std::nullopt;
    // a request would load ib_core
    if (mark && sysfs::is_core_loaded(root_)) {
        const auto found = standing(link->guid, mark->claimant);
        if (!found)
            return tl::unexpected<Error>(found.error());
        if (*found != Standing::gone)
            return true;
    }
    const auto held = wait_for_lock();
    if (!held)
        return tl::unexpected<Error>(held.error());
    if (!*held)
        return false;
    if (mark)
        release_link(link->key, link->node,
                     {mark->claimant.index, link->node, mark->claimant.sysname, {}, {}});
    else
        unlink(path.c_str());
    return true;
}

} // namespace rdmad::rdma_id
