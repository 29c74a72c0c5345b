// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/naming.hpp"

#include "core/base/file.hpp"
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
          asked(scheme_asked_of_kernel(host.kernel_command_line)),
          input{root, files, host, known, asked.scheme, run.udev}
    {
    }

    /// What is wrong with the configuration.
    [[nodiscard]] std::vector<std::string> problems() const
    {
        std::vector<std::string> messages;
        for (const auto& file : files.all())
            for (const auto& problem : file.problems)
                messages.push_back(problem.message());
        if (!asked.problem.empty())
            messages.push_back(asked.problem);
        return messages;
    }

    LinkFiles files;
    KnownNames known;
    config::Facts host;
    AskedScheme asked;
    DecisionInput input;
};

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
    warn("a .link file with a mistake names no device; see rdma_id --naming status");
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
std::string explain_ipoib(const Identity& identity, const Decision& decision,
                          const std::string& kernel_command_line)
{
    if (!decision.file->ipoib_name || !identity.has_link_type(naming::LinkType::infiniband))
        return "";
    const auto composed = ipoib_name_of(identity.device, 1);
    if (composed.name.empty())
        return "IPoIB devices on it are not called after it: " + composed.why_not + ".\n";
    std::string text =
        "An IPoIB device that appears on its port 1 is called " + composed.name + ".\n";
    for (const auto word : text::split(kernel_command_line, ' '))
        if (word == "net.ifnames=0")
            text += "But net.ifnames=0 on the kernel command line keeps systemd-udevd from that.\n";
    return text;
}

/// Whether the device that has a name would give it up if another one wanted it.
bool gives_up(nldev::Client& client, const DecisionInput& input, const nldev::Device& holder)
{
    const auto there = look_at(client, input.root, holder.index);
    if (!there || !*there)
        return false;
    const auto& [subject, identity] = **there;
    const auto candidates = decide_name(input, subject.device, identity).candidates();
    return !candidates.empty() && candidates[0] != holder.name;
}

std::string verdict(nldev::Client& client, const DecisionInput& input, const nldev::Device& device,
                    const Decision& decision)
{
    if (!decision.keeps.empty())
        return "It keeps its name: " + decision.keeps + ".\n";
    std::string text;
    for (const auto& name : decision.candidates()) {
        if (name == device.name)
            return text + "It is called that already.\n";
        const auto holder = client.find_device(name);
        if (!holder || !*holder)
            return text + "It would be called " + name + ".\n";
        const auto who = "the device with index " + std::to_string((*holder)->index);
        if (gives_up(client, input, **holder))
            return text + "It would be called " + name + ", after " + who + " has given that up.\n";
        text += std::string(text::escape_terminal(name)) + " is taken: " + who + " keeps it.\n";
    }
    if (decision.file && decision.attempts.empty())
        text += "The file gives no name.\n";
    return text + "It keeps its name.\n";
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

/// Properties that udev remembers of the last event of an RDMA device.
std::function<std::optional<std::string>(const std::string&)>
recorded_properties(const std::string& name, const std::string& udev_run)
{
    auto record = read_file(udev_run + "/data/+infiniband:" + name).value_or("");
    return [record = std::move(record)](const std::string& key) -> std::optional<std::string> {
        const auto wanted = "E:" + key + "=";
        for (const auto line : text::split(record, '\n'))
            if (line.starts_with(wanted))
                return std::string(line.substr(wanted.size()));
        return std::nullopt;
    };
}

} // namespace

Result<bool> give_name(nldev::Client& client, const sysfs::Directory& root, const Subject& subject,
                       const Identity& identity, Tell tell, const RunPaths& run)
{
    const System system(root, run);
    if (tell == Tell::all)
        report_problems(system.problems(), run.rdmad);
    const auto decision = decide_name(system.input, subject.device, identity);
    return Namer(client, system.input, tell, run.rdmad).settle(identity, decision);
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
    const auto there = look_at(client, root, device.index);
    if (!there)
        return tl::unexpected<Error>(there.error());
    if (!*there)
        return "";
    const System system(root, run);
    const auto& identity = (*there)->identity;
    const auto decision = decide_name(system.input, (*there)->subject.device, identity);
    if (!decision.file || !decision.file->problems.empty() || decision.waits ||
        !decision.file->ipoib_name)
        return "";
    const auto composed = ipoib_name_of(identity.device, port);
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
    const System system(root, run);
    auto& [subject, identity] = **there;
    // only for one that has waited for this: a name does not change when a network device is
    // renamed
    const auto known = system.known.find(appearance_of(identity));
    if (!known || known->is_decided())
        return {};
    const auto decision = decide_name(system.input, subject.device, identity);
    auto changed = Namer(client, system.input, Tell::all, run.rdmad).settle(identity, decision);
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

Result<std::string> explain_name(nldev::Client& client, const sysfs::Directory& root,
                                 uint32_t index, const RunPaths& run)
{
    const auto there = look_at(client, root, index);
    if (!there)
        return tl::unexpected<Error>(there.error());
    if (!*there)
        return "";
    const auto& [subject, identity] = **there;
    System system(root, run);
    system.host.property = recorded_properties(identity.device.name, run.udev);
    const auto decision = decide_name(system.input, subject.device, identity);
    std::string text = text::escape_terminal(identity.device.name);
    if (decision.original != identity.device.name)
        text += ", at first " + text::escape_terminal(decision.original);
    text += "\n";
    for (const auto& problem : system.problems())
        text += problem + "\n";
    const auto end = verdict(client, system.input, identity.device, decision);
    if (!decision.file)
        return text + "No .link file matches it.\n" + end;
    text += "Matched by " + decision.file->path + ", naming scheme " +
            std::string(to_string(decision.scheme)) +
            (system.asked.scheme ? ", as the kernel command line says\n" : "\n") +
            explain_attempts(decision) + end;
    return text + explain_ipoib(identity, decision, system.host.kernel_command_line);
}

} // namespace rdmad::rdma_id
