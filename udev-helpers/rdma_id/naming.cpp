// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/naming.hpp"

#include "core/base/text.hpp"
#include "udev-helpers/rdma_id/host_facts.hpp"
#include "udev-helpers/rdma_id/log.hpp"
#include "udev-helpers/rdma_id/namer.hpp"
#include "udev-helpers/rdma_id/rename.hpp"
#include "udev-helpers/rdma_id/state_link.hpp"

#include <functional>
#include <utility>

namespace rdmad::rdma_id {

namespace {

/// All that is read once, however many devices are decided upon.
struct System {
    System(const sysfs::Directory& root, const RunPaths& run)
        : known(run.rdmad),
          host(host_facts()),
          input{root,    files, host, known, scheme_asked_of_kernel(host.kernel_command_line),
                run.udev}
    {
    }

    LinkFiles files;
    KnownNames known;
    config::Facts host;
    DecisionInput input;
};

/// Once, however many devices are decided upon, and again when something about them changes.
void report_problems(const LinkFiles& files, const std::string& directory)
{
    std::vector<std::string> messages;
    std::string all;
    for (const auto& file : files.all())
        for (const auto& problem : file.problems)
            all += messages.emplace_back(problem.message());
    const auto told = directory + "/told-problems";
    const auto sum = std::to_string(std::hash<std::string>()(all));
    if (messages.empty())
        unlink(told.c_str());
    if (messages.empty() || read_link(told) == sum)
        return;
    replace_link(sum, told);
    for (const auto& message : messages)
        warn(message);
}

std::string explain_attempts(const Decision& decision)
{
    std::string text;
    for (const auto& attempt : decision.attempts)
        text += "  " + attempt.by + ": " +
                (attempt.outcome.name.empty() ? "none, " + attempt.outcome.why_not
                                              : text::escape_terminal(attempt.outcome.name)) +
                "\n";
    return text;
}

naming::Composed ipoib_name_of(const nldev::Device& device, uint32_t port)
{
    return naming::ipoib_name({.device = device.name, .ports = device.port_count, .port = port});
}

/// Of the first port, after the name that the device has now.
std::string explain_ipoib(const nldev::Device& device, const Decision& decision)
{
    if (!decision.file->ipoib_name)
        return "";
    const auto composed = ipoib_name_of(device, 1);
    if (composed.name.empty())
        return "IPoIB devices on it keep their names: " + composed.why_not + ".\n";
    return "An IPoIB device that appears on its port 1 is called " + composed.name + ".\n";
}

std::string verdict(nldev::Client& client, const nldev::Device& device, const Decision& decision)
{
    if (!decision.keeps.empty())
        return "It keeps its name: " + decision.keeps + ".\n";
    for (const auto& name : decision.candidates()) {
        if (name == device.name)
            return "It is called that already.\n";
        const auto holder = client.find_device(name);
        if (holder && *holder)
            return "It would be called " + name + ", if the device with index " +
                   std::to_string((*holder)->index) + " did not have that name.\n";
        return "It would be called " + name + ".\n";
    }
    return "It keeps its name.\n";
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

/// A device as sysfs and the kernel have it.
struct DeviceNow {
    Subject subject;
    Identity identity;
};

/// None if it is gone. Another event may rename it meanwhile: device is what it is called now.
Result<std::optional<DeviceNow>> look_at(nldev::Client& client, const sysfs::Directory& root,
                                         nldev::Device& device)
{
    for (int i = 0; i < max_renames; i++) {
        auto subject = subject_of_device(root, device.name);
        if (!subject)
            return tl::unexpected<Error>(std::move(subject).error());
        if (*subject) {
            auto identity = identify(client, **subject, device);
            if (!identity)
                return tl::unexpected<Error>(std::move(identity).error());
            if (!*identity)
                break;
            return DeviceNow{std::move(**subject), std::move(**identity)};
        }
        if (auto read = read_again(client, device); !read)
            return tl::unexpected<Error>(std::move(read).error());
    }
    return std::optional<DeviceNow>();
}

} // namespace

Result<bool> give_name(nldev::Client& client, const sysfs::Directory& root, const Subject& subject,
                       const Identity& identity, Tell tell, const RunPaths& run)
{
    const System system(root, run);
    if (tell == Tell::all)
        report_problems(system.files, run.rdmad);
    const auto decision = decide_name(system.input, subject.device, identity);
    return Namer(client, system.input, tell, run.rdmad).settle(identity, decision);
}

Result<void> give_name_early(nldev::Client& client, const sysfs::Directory& root,
                             nldev::Device& device, const RunPaths& run)
{
    const KnownNames names(run.rdmad);
    const bool is_first = names.remember_first(device.index, device.name);
    // while another event is about it, this one does the same, lest it reads the old name
    if (const auto known = names.find(device.index); !is_first && known && known->is_decided)
        return known->given == device.name ? Result<void>() : read_again(client, device);
    const auto there = look_at(client, root, device);
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

Result<std::string> name_ipoib(nldev::Client& client, const sysfs::Directory& root,
                               nldev::Device device, const Ipoib& ipoib, const RunPaths& run)
{
    if (auto given = give_name_early(client, root, device, run); !given)
        return tl::unexpected<Error>(std::move(given).error());
    const auto there = look_at(client, root, device);
    if (!there)
        return tl::unexpected<Error>(there.error());
    if (!*there)
        return "";
    const System system(root, run);
    const auto& [subject, identity] = **there;
    const auto decision = decide_name(system.input, subject.device, identity);
    if (!decision.file || !decision.file->problems.empty() || !decision.file->ipoib_name)
        return "";
    const auto composed = ipoib_name_of(device, ipoib.port);
    if (composed.name.empty())
        warn("an IPoIB device keeps its name: " + composed.why_not);
    return composed.name;
}

Result<void> follow_netdev(nldev::Client& client, const sysfs::Directory& root,
                           nldev::Device device, const RunPaths& run)
{
    auto there = look_at(client, root, device);
    if (!there)
        return tl::unexpected<Error>(std::move(there).error());
    if (!*there)
        return {};
    const System system(root, run);
    auto& [subject, identity] = **there;
    const auto decision = decide_name(system.input, subject.device, identity);
    if (!decision.file || !is_called_after_netdev(*decision.file))
        return {};
    auto changed = Namer(client, system.input, Tell::all, run.rdmad).settle(identity, decision);
    if (!changed)
        return tl::unexpected<Error>(std::move(changed).error());
    if (!*changed)
        return {};
    const auto old_name = std::exchange(identity.device.name, "");
    if (auto read = read_again(client, identity.device); !read)
        return read;
    // nodes whose first events are under way did not wait for this
    return refresh_nodes(client, root, identity, old_name, Unrecorded::refresh, run.udev);
}

Result<std::string> explain_name(nldev::Client& client, const sysfs::Directory& root,
                                 const Subject& subject, const Identity& identity,
                                 const RunPaths& run)
{
    if (subject.node != Node::device)
        return fail(EINVAL, "--test-link is about RDMA devices, '" + subject.sysname +
                                "' is a node of one");
    const System system(root, run);
    const auto decision = decide_name(system.input, subject.device, identity);
    std::string text = text::escape_terminal(identity.device.name);
    if (decision.original != identity.device.name)
        text += ", at first " + text::escape_terminal(decision.original);
    text += "\n";
    for (const auto& file : system.files.all())
        for (const auto& problem : file.problems)
            text += problem.message() + "\n";
    if (!decision.file)
        return text + "No .link file matches it.\n" + verdict(client, identity.device, decision);
    text += "Matched by " + decision.file->path + ", naming scheme " +
            std::string(to_string(decision.scheme)) + "\n" + explain_attempts(decision);
    text += verdict(client, identity.device, decision);
    return text + explain_ipoib(identity.device, decision);
}

} // namespace rdmad::rdma_id
