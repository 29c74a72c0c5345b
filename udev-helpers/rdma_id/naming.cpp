// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/naming.hpp"

#include "core/base/text.hpp"
#include "udev-helpers/rdma_id/host_facts.hpp"
#include "udev-helpers/rdma_id/log.hpp"
#include "udev-helpers/rdma_id/namer.hpp"

namespace rdmad::rdma_id {

namespace {

/// All that is read once, however many devices are decided upon.
struct System {
    System(const sysfs::Directory& root, const std::string& state_directory)
        : known(state_directory),
          host(host_facts()),
          input{root, files, host, known, scheme_asked_of_kernel(host.kernel_command_line)}
    {
    }

    LinkFiles files;
    KnownNames known;
    config::Facts host;
    DecisionInput input;
};

void report_problems(const LinkFiles& files)
{
    for (const auto& file : files.all())
        for (const auto& problem : file.problems)
            warn(problem.message());
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

} // namespace

Result<bool> give_name(nldev::Client& client, const sysfs::Directory& root, const Subject& subject,
                       const Identity& identity, const std::string& state_directory)
{
    const System system(root, state_directory);
    report_problems(system.files);
    const auto decision = decide_name(system.input, subject.device, identity);
    return Namer(client, system.input, state_directory).settle(identity, decision);
}

Result<void> give_name_early(nldev::Client& client, const sysfs::Directory& root,
                             nldev::Device& device, const std::string& state_directory)
{
    if (!KnownNames(state_directory).remember_first(device.index, device.name))
        return {};
    const auto subject = subject_of_device(root, device.name);
    if (!subject)
        return tl::unexpected<Error>(subject.error());
    if (!*subject)
        return {}; // renamed this very moment
    const auto identity = identify(client, **subject, device);
    if (!identity)
        return tl::unexpected<Error>(identity.error());
    if (!*identity)
        return {};
    if (auto given = give_name(client, root, **subject, **identity, state_directory); !given)
        return tl::unexpected<Error>(std::move(given).error());
    auto now = client.device(device.index);
    if (!now)
        return tl::unexpected<Error>(std::move(now).error());
    if (*now)
        device = std::move(**now);
    return {};
}

Result<std::string> explain_name(nldev::Client& client, const sysfs::Directory& root,
                                 const Subject& subject, const Identity& identity,
                                 const std::string& state_directory)
{
    if (subject.node != Node::device)
        return fail(EINVAL, "--test-link is about RDMA devices, '" + subject.sysname +
                                "' is a node of one");
    const System system(root, state_directory);
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
    return text + verdict(client, identity.device, decision);
}

} // namespace rdmad::rdma_id
