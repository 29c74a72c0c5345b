// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/naming.hpp"

#include "core/base/text.hpp"
#include "udev-helpers/rdma_id/claims.hpp"
#include "udev-helpers/rdma_id/ipoib.hpp"
#include "udev-helpers/rdma_id/log.hpp"
#include "udev-helpers/rdma_id/namer.hpp"
#include "udev-helpers/rdma_id/rename.hpp"
#include "udev-helpers/rdma_id/state_link.hpp"

#include <functional>
#include <sys/stat.h>
#include <utility>

namespace rdmad::rdma_id {

namespace {

/// Once, however many devices are decided upon, and again when something about them changes.
void report_problems(const std::vector<std::string>& problems, const std::string& directory)
{
    const auto told = directory + "/told-problems";
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
    replace_link(sum, told);
    for (const auto& problem : problems)
        warn(problem);
    warn("rdma_id --naming status tells which .link files name no device for that");
}

/// What the kernel tells of it now, unless it has gone.
Result<void> read_again(nldev::Client& client, nldev::Device& device)
{
    auto now = client.device(device.index);
    if (!now)
        return tl::unexpected<Error>(std::move(now).error());
    if (*now)
        device = std::move(**now);
    return {};
}

} // namespace

Result<bool> give_name(nldev::Client& client, const sysfs::Directory& root, const Subject& subject,
                       const Identity& identity, Tell tell, const RunPaths& run)
{
    const NamingInput inputs(root, run);
    if (tell == Tell::all)
        report_problems(inputs.problems(), run.rdmad);
    const auto decision = decide_name(inputs.input, subject.device, identity);
    return Namer(client, inputs.input, tell, run.rdmad).settle(identity, decision);
}

Result<void> give_name_early(nldev::Client& client, const sysfs::Directory& root,
                             const Subject& node, nldev::Device& device, const RunPaths& run)
{
    const KnownNames names(run.rdmad);
    const Appearance appearance{device.index, node.device.inode().value_or(0)};
    const bool is_first = names.remember_first(appearance, device.name);
    // while another event is about it, this one does the same, lest it reads the old name
    if (const auto known = names.find(appearance); !is_first && known && known->is_decided())
        return known->given == device.name ? Result<void>() : read_again(client, device);
    const auto there = look_at(client, root, device.index);
    if (!there)
        return tl::unexpected<Error>(there.error());
    if (!*there)
        return {};
    const auto& [subject, identity] = **there;
    if (auto given =
            give_name(client, root, subject, identity, is_first ? Tell::all : Tell::nothing, run);
        !given)
        return tl::unexpected<Error>(std::move(given).error());
    return read_again(client, device);
}

Result<void> leave_swap(nldev::Client& client, const sysfs::Directory& root, nldev::Device& device,
                        const RunPaths& run)
{
    {
        mkdir(run.rdmad.c_str(), 0755);
        const auto held = lock_state(run.rdmad);
        if (!held)
            return tl::unexpected<Error>(held.error());
    }
    auto there = look_at(client, root, device.index);
    if (!there)
        return tl::unexpected<Error>(std::move(there).error());
    if (!*there)
        return {};
    const auto& [subject, identity] = **there;
    // who swapped did not live to the end of it
    if (naming::is_temporary(identity.device.name))
        if (auto given = give_name(client, root, subject, identity, Tell::all, run); !given)
            return tl::unexpected<Error>(std::move(given).error());
    return read_again(client, device);
}

Result<std::string> name_ipoib(nldev::Client& client, const sysfs::Directory& root,
                               const Subject& subject, nldev::Device device, uint32_t port,
                               const RunPaths& run)
{
    if (auto given = give_name_early(client, root, subject, device, run); !given)
        return tl::unexpected<Error>(std::move(given).error());
    if (naming::is_temporary(device.name))
        if (auto left = leave_swap(client, root, device, run); !left)
            return tl::unexpected<Error>(std::move(left).error());
    const auto there = look_at(client, root, device.index);
    if (!there)
        return tl::unexpected<Error>(there.error());
    if (!*there)
        return "";
    const NamingInput inputs(root, run);
    const auto& identity = (*there)->identity;
    const auto decision = decide_name(inputs.input, (*there)->subject.device, identity);
    if (!decision.file || !decision.file->problems.empty() || decision.waits ||
        !decision.file->ipoib_name || naming::is_temporary(identity.device.name))
        return "";
    const auto composed = ipoib_name_on(identity.device, port);
    if (composed.name.empty())
        warn("the IPoIB device on port " + std::to_string(port) + " of " +
             text::escape_terminal(identity.device.name) +
             " is not called after it: " + composed.why_not);
    return composed.name;
}

Result<void> follow_netdev(nldev::Client& client, const sysfs::Directory& root, uint32_t index,
                           const RunPaths& run)
{
    auto there = look_at(client, root, index);
    if (!there)
        return tl::unexpected<Error>(std::move(there).error());
    if (!*there)
        return {};
    const NamingInput inputs(root, run);
    auto& [subject, identity] = **there;
    // only for one that has waited for this: a name does not change when a network device is
    // renamed
    const auto known = inputs.known.find(appearance_of(identity));
    if (!known || known->is_decided())
        return {};
    const auto decision = decide_name(inputs.input, subject.device, identity);
    if (decision.waits) {
        // its own event knows them
        if (decision.file->match.asks_for_property())
            trigger(root, Node::device, identity.device.name, "add");
        return {};
    }
    auto changed = Namer(client, inputs.input, Tell::all, run.rdmad).settle(identity, decision);
    if (!changed)
        return tl::unexpected<Error>(std::move(changed).error());
    if (!*changed)
        return {};
    const auto old_name = identity.device.name;
    if (auto read = read_again(client, identity.device); !read)
        return read;
    // nodes whose first events are under way did not wait for this
    return refresh_nodes(client, root, identity, old_name, Unrecorded::refresh, run.udev);
}

} // namespace rdmad::rdma_id
