// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/namer.hpp"

#include "core/base/text.hpp"
#include "udev-helpers/rdma_id/log.hpp"
#include "udev-helpers/rdma_id/state_link.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

namespace rdmad::rdma_id {

namespace {

// devices that have each other's names in a row; more is no accident of configuration
constexpr size_t max_chain = 16;

std::string described(const nldev::Device& device)
{
    return text::escape_terminal(device.name) + " (index " + std::to_string(device.index) + ")";
}

} // namespace

bool Namer::is_being_settled(uint32_t index) const
{
    return std::find(settling_.begin(), settling_.end(), index) != settling_.end();
}

Result<bool> Namer::settle(const Identity& identity, const Decision& decision)
{
    const auto& device = identity.device;
    const auto candidates = decision.candidates();
    if (candidates.empty() || candidates[0] == device.name)
        return naming::is_temporary(device.name) ? leave_temporary_name(identity, decision)
                                                 : stays(identity, decision);
    auto changed = take_first_free(identity, decision);
    // a swap that broke off
    const auto now = client_.device(device.index);
    if (now && *now && (*now)->name == naming::temporary_name(device.index))
        return leave_temporary_name(identity, decision);
    return changed && !*changed ? stays(identity, decision) : changed;
}

/// A name that we would not give is somebody else's choice.
bool Namer::stays(const Identity& identity, const Decision& decision) const
{
    const auto appearance = appearance_of(identity);
    auto known = input_.known.find(appearance);
    if (!known)
        known = {decision.original, decision.original, KnownName::State::undecided};
    if (decision.waits) {
        // another event gave it its name meanwhile
        if (known->is_decided() && known->given != identity.device.name)
            return false;
        known->state = KnownName::State::waiting;
    } else if (known->is_decided()) {
        return false;
    } else {
        const auto ours = decision.candidates();
        if (std::find(ours.begin(), ours.end(), identity.device.name) != ours.end())
            known->given = identity.device.name;
        known->state = KnownName::State::decided;
    }
    input_.known.remember(appearance, *known);
    return false;
}

void Namer::remember(const Identity& identity, const Decision& decision,
                     const std::string& name) const
{
    const auto known = input_.known.find(appearance_of(identity));
    // another event of the device gave it the same name a moment ago
    if (known && known->is_decided() && known->given == name)
        return;
    const bool is_first = !known || known->state == KnownName::State::undecided;
    input_.known.remember(
        appearance_of(identity),
        {decision.original, name, is_first ? KnownName::State::decided : KnownName::State::late});
}

Result<bool> Namer::take_first_free(const Identity& identity, const Decision& decision)
{
    settling_.push_back(identity.device.index);
    Result<bool> taken = false;
    for (const auto& name : decision.candidates()) {
        if (name == identity.device.name)
            break;
        taken = take(identity, decision, name);
        if (!taken || *taken)
            break;
    }
    settling_.pop_back();
    return taken;
}

/// False if another device has the name and keeps it.
Result<bool> Namer::take(const Identity& identity, const Decision& decision,
                         const std::string& name)
{
    const auto& device = identity.device;
    auto renamed = client_.rename(device.index, name);
    if (!renamed && renamed.error().code == EEXIST) {
        // the outermost one holds the lock for all that follows from it
        mkdir(directory_.c_str(), 0755);
        const auto held = settling_.size() == 1 ? lock_state(directory_) : Result<UniqueFd>();
        if (!held)
            return tl::unexpected<Error>(held.error());
        auto is_free = make_free(name);
        if (!is_free)
            return is_free;
        if (*is_free)
            renamed = client_.rename(device.index, name);
    }
    if (renamed) {
        remember(identity, decision, name);
        return true;
    }
    if (renamed.error().code != EEXIST)
        return std::move(renamed.error())
            .while_doing("rename " + described(device) + " to " + name);

    if (tell_ == Tell::nothing)
        return false;
    const auto holder = client_.find_device(name);
    warn(described(device) + " does not get the name " + name + ", which " +
         (holder && *holder ? described(**holder) : "another device") + " has");
    return false;
}

/// Moves the device that has a name on, if it should not have it. True if a second try is worth it.
Result<bool> Namer::make_free(const std::string& name)
{
    const auto holder = client_.find_device(name);
    if (!holder)
        return tl::unexpected<Error>(holder.error());
    if (!*holder)
        return true; // it went, or was renamed meanwhile
    const auto index = (*holder)->index;
    if (index == settling_.back())
        return true; // another process gave it its name while this one waited
    if (is_being_settled(index)) {
        auto parted = client_.rename(index, naming::temporary_name(index));
        if (!parted)
            return tl::unexpected<Error>(std::move(parted).error());
        return true;
    }
    return settling_.size() < max_chain ? move_on(index) : Result<bool>(false);
}

Result<bool> Namer::move_on(uint32_t index)
{
    const auto there = look_at(client_, input_.root, index);
    if (!there)
        return tl::unexpected<Error>(there.error());
    if (!*there)
        return true;
    const auto& [subject, identity] = **there;
    // whatever it is called for a moment, this is what it was called
    (void)input_.known.remember_first(appearance_of(identity), identity.device.name);
    return take_first_free(identity, decide_name_of_other(input_, subject.device, identity));
}

/// To the name that it had, or to one that nobody else can have. Whether that is another one.
bool Namer::leave_temporary_name(const Identity& identity, const Decision& decision)
{
    const auto& device = identity.device;
    const auto by_guid = naming::compose(naming::Policy::guid, {.node_guid = device.node_guid},
                                         naming::Scheme::v1, false);
    for (const auto& name : {device.name, decision.original, by_guid.name,
                             "rdma-index-" + std::to_string(device.index)})
        if (naming::refusal(name).empty() && client_.rename(device.index, name)) {
            remember(identity, decision, name);
            warn("the device with index " + std::to_string(device.index) + " is called " + name +
                 ": it could not have its name");
            return name != device.name;
        }
    return true;
}

} // namespace rdmad::rdma_id
