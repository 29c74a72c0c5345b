// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/naming/ensure_name.hpp"

#include "core/base/state_link.hpp"
#include "core/base/text.hpp"
#include "udev-helpers/rdma_id/log.hpp"
#include "udev-helpers/rdma_id/node_refresh.hpp"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <sys/stat.h>
#include <unistd.h>

namespace rdmad::rdma_id {

namespace {

// devices that have each other's names in a row; more is no accident of configuration
constexpr size_t max_chain = 16;

std::string described(const nldev::Device& device)
{
    return text::escape_terminal(device.name) + " (index " + std::to_string(device.index) + ")";
}

bool is_taken(const Result<void>& renamed)
{
    return !renamed && renamed.error().code == EEXIST;
}

/// Logs problems of the configuration once, however many devices are decided upon, and again when
/// something about them changes, or if nothing took the messages, as in an initrd without a
/// journal.
void log_problems(const std::vector<std::string>& problems, const Paths& paths)
{
    const auto told = paths.rdmad + "/told-problems";
    if (problems.empty()) {
        unlink(told.c_str());
        return;
    }
    std::string all;
    for (const auto& problem : problems)
        all += problem;
    const auto sum = std::to_string(std::hash<std::string>()(all));
    if (read_link(told) == sum)
        return;
    if (is_log_read(paths.log))
        replace_link(sum, told);
    for (const auto& problem : problems)
        warn(problem);
    warn("Run \"/usr/lib/udev/rdma_id --naming status\" to list the .link files that are ignored");
}

/// Renames a device, and the devices whose names it needs.
class Namer {
public:
    /// The lock on names, for the caller. Only who holds it renames other devices.
    enum class Lock {
        held,
        kept,   ///< by another event
        missing ///< it cannot be made
    };

    Namer(const Context& context, const NamingInput& input, Lock lock)
        : context_(context), input_(input), lock_(lock)
    {
    }

    /// Decides on the name of a device, renames it and records the name.
    Result<NameOutcome> decide_and_rename(const Snapshot& now)
    {
        const auto decision = decide_name(input_, now, rdma_properties(context_));
        const auto& device = now.info.device;
        const auto work = work_on(now, decision);
        auto name =
            decision.waits ? Result<std::string>(device.name) : apply_first_free(work, decision);
        if (name && naming::is_temporary(*name))
            parted_.push_back(work);
        else if (name)
            record(work, decision, *name);
        for (const auto& parted : parted_)
            end_temporary_name(parted, name && !decision.waits);
        if (!name)
            return tl::unexpected<Error>(std::move(name).error());
        if (!parted_.empty())
            if (const auto again = context_.client.device(device.index); again && *again)
                name = (*again)->name;
        NameOutcome outcome{.name = *name, .info = now.info};
        outcome.info->device.name = *name;
        return outcome;
    }

private:
    /// A device that is being named.
    struct InWork {
        const DeviceInfo& info;
        DeviceId id;
        std::string original;             ///< its name before rdmad gave it one
        std::optional<NameRecord> before; ///< its record before this call
    };

    [[nodiscard]] InWork work_on(const Snapshot& now, const Decision& decision) const
    {
        const auto id = now.info.id();
        return {now.info, id, decision.original, input_.records.find(id)};
    }

    void record(const InWork& work, const Decision& decision, const std::string& name)
    {
        const auto& old_name = work.info.device.name;
        const auto& before = work.before;
        // a name that a user gave since stays his
        if (name == old_name && before && before->given && !decision.waits)
            return;
        // events of its nodes may have read the old name; without a record they waited for the lock
        if (name != old_name && before) {
            auto info = work.info;
            info.device.name = name;
            if (auto refreshed = refresh_nodes(context_, info, old_name, Unrecorded::refresh);
                !refreshed)
                warn(refreshed.error().message());
        }
        (void)write(work.id, record_of(decision, name));
    }

    Result<void> write(const DeviceId& id, const NameRecord& record)
    {
        auto written = input_.records.write(id, record);
        if (!written)
            warn(written.error().message() + ": the original name of the device is not recorded");
        return written;
    }

    /// Returns the record of a name. One that rdmad would not give is somebody else's choice. While
    /// another event keeps the lock, its device may have a name that it is to give up: the next
    /// "add" tries again.
    [[nodiscard]] NameRecord record_of(const Decision& decision, const std::string& name) const
    {
        const auto ours = decision.candidates();
        const bool is_second_best = !ours.empty() && name != ours.front();
        if (decision.waits || (is_second_best && lock_ == Lock::kept))
            return {decision.original};
        const bool is_ours = std::find(ours.begin(), ours.end(), name) != ours.end();
        return {decision.original, is_ours ? name : decision.original};
    }

    /// Renames the device to the first candidate that is free. Returns the name that it has then,
    /// the present one if that comes first or none is free.
    Result<std::string> apply_first_free(const InWork& work, const Decision& decision)
    {
        const auto& device = work.info.device;
        chain_.push_back(&work);
        Result<std::string> taken = device.name;
        for (const auto& name : decision.candidates()) {
            if (name == device.name)
                break;
            const auto is_given = apply_name(work, decision, name);
            if (!is_given)
                taken = tl::unexpected<Error>(is_given.error());
            else if (*is_given)
                taken = name;
            else
                continue;
            break;
        }
        chain_.pop_back();
        return taken;
    }

    /// Renames the device. Returns false if another device has the name and keeps it.
    Result<bool> apply_name(const InWork& work, const Decision& decision, const std::string& name)
    {
        const auto& device = work.info.device;
        // should this process be killed, the next event knows the original name all the same, and
        // that nodes may have read it
        if (!work.before && !naming::is_temporary(work.original))
            if (auto written = write(work.id, {work.original});
                !written && decision.is_made_of_original(name))
                return std::move(written.error())
                    .while_doing("rename " + described(device) + " to " + name +
                                 ", which is made of its original name");
        auto renamed = context_.client.rename(device.index, name);
        if (is_taken(renamed) && lock_ == Lock::held) {
            const auto is_free = make_free(name);
            if (!is_free)
                return is_free;
            if (*is_free)
                renamed = context_.client.rename(device.index, name);
        }
        if (renamed)
            return true;
        if (!is_taken(renamed))
            return std::move(renamed.error())
                .while_doing("rename " + described(device) + " to " + name);
        const auto holder = find_holder(context_, name);
        warn(described(device) + " does not get the name " + name + ", which " +
             (holder && *holder ? described(**holder) : "another device") + " has");
        return false;
    }

    /// Renames the holder of a name away if it should have another one. Returns true if the caller
    /// should try the name again.
    Result<bool> make_free(const std::string& name)
    {
        const auto holder = find_holder(context_, name);
        if (!holder)
            return tl::unexpected<Error>(holder.error());
        if (!*holder)
            return true; // it went, or was renamed meanwhile
        const auto index = (*holder)->index;
        if (index == chain_.back()->id.index)
            return true; // somebody else gave the device its name meanwhile
        const auto waiting = std::find_if(chain_.begin(), chain_.end(), [&](const InWork* other) {
            return other->id.index == index;
        });
        if (waiting != chain_.end())
            return give_temporary_name(**waiting);
        return chain_.size() < max_chain ? rename_holder(index) : Result<bool>(false);
    }

    /// Gives a device that waits for another one's name a temporary one, so that its own is free.
    Result<bool> give_temporary_name(const InWork& work)
    {
        const auto index = work.id.index;
        if (auto parted = context_.client.rename(index, naming::temporary_name(index)); !parted)
            return tl::unexpected<Error>(std::move(parted).error());
        parted_.push_back(work);
        return true;
    }

    /// Renames the holder of a name to the one that it should have. Returns false if it keeps its
    /// name.
    Result<bool> rename_holder(uint32_t index)
    {
        auto there = take_snapshot(context_.client, input_.root, index);
        if (!there)
            return tl::unexpected<Error>(std::move(there).error());
        if (!*there)
            return true;
        const auto& now = holders_.emplace_back(std::move(**there));
        const auto decision = decide_name(input_, now, {});
        const auto work = work_on(now, decision);
        const auto name = apply_first_free(work, decision);
        if (!name)
            return tl::unexpected<Error>(name.error());
        if (*name == now.info.device.name)
            return false;
        record(work, decision, *name);
        return true;
    }

    /// Gives a device that was left with a temporary name the one that it had, or one that no other
    /// device can have.
    void end_temporary_name(const InWork& work, bool is_decided)
    {
        const auto index = work.id.index;
        const auto now = context_.client.device(index);
        if (now && (!*now || !naming::is_temporary((*now)->name)))
            return;
        const auto by_guid =
            naming::compose(naming::Policy::guid, {.node_guid = work.info.device.node_guid},
                            naming::Scheme::v1, false);
        const auto given = work.before ? work.before->given.value_or("") : "";
        for (const auto& name :
             {given, work.original, by_guid.name, "rdma-index-" + std::to_string(index)}) {
            if (!naming::refusal(name).empty() || !context_.client.rename(index, name))
                continue;
            const auto original = naming::is_temporary(work.original) ? name : work.original;
            (void)write(work.id, is_decided ? NameRecord{original, name} : NameRecord{original});
            warn("RDMA device " + std::to_string(index) + " has the name " + name +
                 ": the name that it gave up for another device is taken");
            return;
        }
    }

    const Context& context_;
    const NamingInput& input_;
    Lock lock_;
    std::vector<const InWork*> chain_; ///< a device, the holder of its name, of that one's name
    std::vector<InWork> parted_;       ///< devices that were given a temporary name
    std::deque<Snapshot> holders_;     ///< what holders were as they were looked at
};

/// Returns what the kernel calls the device now.
Result<std::optional<NameOutcome>> present_name(nldev::Client& client, uint32_t index)
{
    return client.device(index).map([](const std::optional<nldev::Device>& device) {
        return device ? std::optional(NameOutcome{.name = device->name}) : std::nullopt;
    });
}

} // namespace

Result<std::optional<NameOutcome>> ensure_name(const Context& context, const nldev::Device& device,
                                               uint64_t inode, Ask ask)
{
    const NameRecords records(context.paths.rdmad);
    const DeviceId id{device.index, inode};
    // returns the record of a device that has this name, if it stands
    const auto decided_record = [&](const std::string& name) {
        auto record = records.find(id);
        const bool stands =
            ask == Ask::once && !naming::is_temporary(name) && record && record->given;
        return stands ? std::move(record) : std::nullopt;
    };
    if (const auto record = decided_record(device.name)) {
        // it was renamed after the kernel reported it
        if (record->given != device.name)
            return present_name(context.client, device.index);
        return NameOutcome{.name = device.name};
    }
    const auto input = read_naming_input(context);
    const auto lock = lock_names(context.paths);
    if (!lock)
        warn(lock.error().message() + ": rdmad does not swap names without it");

    // another event may have named it while this one waited for the lock
    const auto now = take_snapshot(context.client, context.root, device.index);
    if (!now || !*now || (*now)->info.inode != inode)
        return missing(now);
    const auto& info = (*now)->info;
    const bool is_kept = !lock && lock.error().code == EBUSY;
    const bool is_in_swap = is_kept && naming::is_temporary(info.device.name);
    if (is_in_swap || decided_record(info.device.name))
        return NameOutcome{.name = info.device.name, .info = info};
    log_problems(input.problems(), context.paths);
    using Lock = Namer::Lock;
    return Namer(context, input,
                 lock      ? Lock::held
                 : is_kept ? Lock::kept
                           : Lock::missing)
        .decide_and_rename(**now)
        .map([](NameOutcome&& outcome) { return std::optional(std::move(outcome)); });
}

Result<UniqueFd> lock_names(const Paths& paths)
{
    mkdir(paths.rdmad.c_str(), 0755);
    return lock_state(paths.rdmad, "names.lock", paths.lock_patience);
}

Result<std::optional<nldev::Device>> find_holder(const Context& context, const std::string& name)
{
    const auto target = find_device_target(context.root, name);
    if (!target || !*target)
        return missing(target);
    return context.finder.find(**target);
}

} // namespace rdmad::rdma_id
