// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/naming/explanation.hpp"

#include "core/base/text.hpp"
#include "core/device/udev_record.hpp"
#include "udev-helpers/rdma_id/naming/ensure_name.hpp"

namespace rdmad::rdma_id {

namespace {

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

/// Explains the name of an IPoIB device on the first port, after the name that the device has now.
std::string explain_ipoib(const DeviceInfo& info, const Decision& decision,
                          const std::string& kernel_command_line)
{
    if (!decision.file->ipoib_name || !info.has_link_type(naming::LinkType::infiniband))
        return "";
    const auto composed =
        naming::ipoib_name({.device = info.device.name, .ports = info.device.port_count});
    if (composed.name.empty())
        return "IPoIB devices on it are not called after it: " + composed.why_not + ".\n";
    std::string text =
        "An IPoIB device that appears on its port 1 is called " + composed.name + ".\n";
    for (const auto word : text::split(kernel_command_line, ' '))
        if (word == "net.ifnames=0")
            text += "But net.ifnames=0 on the kernel command line keeps systemd-udevd from that.\n";
    return text;
}

/// Returns true if the device that has a name would give it up if another one wanted it.
bool gives_up(nldev::Client& client, const NamingInput& input, const nldev::Device& holder)
{
    const auto there = take_snapshot(client, input.root, holder.index);
    if (!there || !*there)
        return false;
    const auto candidates = decide_name(input, **there, {}).candidates();
    return !candidates.empty() && candidates[0] != holder.name;
}

std::string explain_outcome(const Context& context, const NamingInput& input,
                            const nldev::Device& device, const Decision& decision)
{
    if (!decision.keeps.empty())
        return "It keeps its name: " + decision.keeps + ".\n";
    std::string text;
    for (const auto& name : decision.candidates()) {
        if (name == device.name)
            return text + "It is called that already.\n";
        const auto holder = find_holder(context, name);
        if (!holder)
            return text + "rdma_id cannot tell which device has the name " + name + ": " +
                   holder.error().message() + ".\n";
        if (!*holder)
            return text + "It would be called " + name + ".\n";
        const auto who = "the device with index " + std::to_string((*holder)->index);
        if (gives_up(context.client, input, **holder))
            return text + "It would be called " + name + ", after " + who + " has given that up.\n";
        text += text::escape_terminal(name) + " is taken: " + who + " keeps it.\n";
    }
    if (decision.file && decision.attempts.empty())
        text += "The file gives no name.\n";
    return text + "It keeps its name.\n";
}

/// Returns the properties that udev recorded in the last event of an RDMA device.
EventProperties recorded_properties(const std::string& name, const std::string& udev_run)
{
    return [record = UdevRecord::read(udev_run, UdevRecord::id_of_device(name))](
               const std::string& key) { return record ? record->property(key) : std::nullopt; };
}

} // namespace

Result<std::string> explain_name(const Context& context, const Target& target)
{
    const auto device = context.finder.find(target);
    if (!device || !*device)
        return missing(device);
    const auto there = take_snapshot(context.client, context.root, (*device)->index);
    if (!there || !*there)
        return missing(there);
    const auto& info = (*there)->info;
    const auto input = read_naming_input(context);
    const auto decision =
        decide_name(input, **there, recorded_properties(info.device.name, context.paths.udev));
    std::string text = text::escape_terminal(info.device.name);
    if (decision.original != info.device.name)
        text += ", at first " + text::escape_terminal(decision.original);
    text += "\n";
    for (const auto& problem : input.problems())
        text += problem + "\n";
    auto end = explain_outcome(context, input, info.device, decision);
    if (!input.kernel_options.gives_names)
        end += "rdmad.names=0 on the kernel command line keeps rdmad from renaming any device.\n";
    if (!decision.file)
        return text + "No .link file matches it.\n" + end;
    text += "Matched by " + decision.file->path + ", naming scheme " +
            std::string(to_string(decision.scheme)) +
            (input.kernel_options.scheme ? ", as the kernel command line says\n" : "\n") +
            explain_attempts(decision) + end;
    return text + explain_ipoib(info, decision, input.host.kernel_command_line);
}

} // namespace rdmad::rdma_id
