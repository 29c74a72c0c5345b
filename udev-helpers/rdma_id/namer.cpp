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
        return stays(device, decision);
    auto changed = take_first_free(identity, decision);
    // a swap that broke off
    const auto now = client_.device(device.index);
    if (now && *now && (*now)->name == naming::temporary_name(device.index))
        leave_temporary_name(identity, decision);
    return changed && !*changed ? stays(device, decision) : changed;
}

/// A name that we would not give is somebody else's choice.
bool Namer::stays(const nldev::Device& device, const Decision& decision) const
{
    const auto known = input_.known.find(device.index);
    if (known && known->is_decided)
        return false;
    const auto ours = decision.candidates();
    const bool is_ours = std::find(ours.begin(), ours.end(), device.name) != ours.end();
    input_.known.remember(device.index,
                          {decision.original, is_ours ? device.name : decision.original});
    return false;
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
        auto is_free = make_free(name);
        if (!is_free)
            return is_free;
        if (*is_free)
            renamed = client_.rename(device.index, name);
    }
    if (renamed) {
        input_.known.remember(device.index, {decision.original, name});
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
    // the outermost one holds the lock for all that follows from it
    mkdir(directory_.c_str(), 0755);
    const auto held = settling_.size() == 1 ? lock_state(directory_) : Result<UniqueFd>();
    if (!held)
        return tl::unexpected<Error>(held.error());
    const auto holder = client_.find_device(name);
    if (!holder)
        return tl::unexpected<Error>(holder.error());
    if (!*holder)
        return true; // it went, or was renamed meanwhile
    if (is_being_settled((*holder)->index)) {
        auto parted = client_.rename((*holder)->index, naming::temporary_name((*holder)->index));
        if (!parted)
            return tl::unexpected<Error>(std::move(parted).error());
        return true;
    }
    return settling_.size() < max_chain ? move_on(**holder) : Result<bool>(false);
}

Result<bool> Namer::move_on(const nldev::Device& holder)
{
    const auto subject = subject_of_device(input_.root, holder.name);
    if (!subject)
        return tl::unexpected<Error>(subject.error());
    if (!*subject)
        return true;
    const auto identity = identify(client_, **subject, holder);
    if (!identity)
        return tl::unexpected<Error>(identity.error());
    if (!*identity)
        return true;
    const auto decision = decide_name(input_, (*subject)->device, **identity);
    return take_first_free(**identity, decision);
}

/// To the name that it had, or to one that nobody else can have.
void Namer::leave_temporary_name(const Identity& identity, const Decision& decision)
{
    const auto& device = identity.device;
    const auto by_guid = naming::compose(naming::Policy::guid, {.node_guid = device.node_guid},
                                         naming::Scheme::v1, false);
    for (const auto& name : {device.name, decision.original, by_guid.name,
                             "rdma-index-" + std::to_string(device.index)})
        if (naming::refusal(name).empty() && client_.rename(device.index, name)) {
            input_.known.remember(device.index, {decision.original, name});
            warn("the device with index " + std::to_string(device.index) + " is called " + name +
                 ": it could not have its name");
            return;
        }
}

} // namespace rdmad::rdma_id
