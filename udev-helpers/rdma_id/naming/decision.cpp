// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/naming/decision.hpp"

#include "core/base/text.hpp"
#include "core/device/topology.hpp"
#include "core/device/udev_record.hpp"
#include "core/naming/links.hpp"
#include "core/naming/node_type.hpp"
#include "core/sysfs/rdma_device.hpp"

#include <algorithm>

namespace rdmad::rdma_id {

namespace {

using naming::Policy;

constexpr uint8_t chosen_by_user = 1; // RDMA_NAME_ASSIGN_TYPE_USER

std::string format_if_set(uint64_t guid)
{
    return guid != 0 ? text::format_guid(guid) : "";
}

std::vector<std::string> port_guids(const DeviceInfo& info)
{
    std::vector<std::string> guids;
    for (const auto& port : info.ports)
        if (port.guid)
            guids.push_back(text::format_guid(*port.guid));
    return guids;
}

config::Facts facts_of(const NamingInput& input, const Snapshot& device,
                       const std::string& original, const EventProperties& properties)
{
    const auto& info = device.info;
    auto facts = input.host;
    facts.property = properties;
    facts.original_name = original;
    facts.driver = info.driver.value_or("");
    facts.path = read_path(input.root, device.target.device);
    facts.node_type = naming::node_type_name(info.device.node_type);
    facts.node_guid = format_if_set(info.device.node_guid);
    facts.sys_image_guid = format_if_set(info.device.sys_image_guid);
    facts.port_guids = port_guids(info);
    for (const auto& port : info.ports) {
        facts.link_types.emplace_back(naming::to_string(port.link_type));
        if (port.netdev)
            facts.netdevs.push_back(*port.netdev);
    }
    return facts;
}

config::Specifiers specifiers_of(const config::Facts& facts, const DeviceInfo& info,
                                 const naming::Place& place)
{
    const bool has_port = !info.ports.empty();
    return {.original_name = facts.original_name,
            .driver = facts.driver,
            .prefix = place.prefix,
            .link_type = has_port ? facts.link_types[0] : "",
            .node_guid = facts.node_guid,
            .port_guid = has_port ? format_if_set(info.ports[0].guid.value_or(0)) : "",
            .netdev = place.netdev.value_or(""),
            .port_label = place.port_label.value_or("")};
}

bool wants_label(const config::LinkFile& file)
{
    return file.port_label || file.name.find("%l") != std::string::npos;
}

bool uses_netdev_in_name(const config::LinkFile& file)
{
    return file.name.find("%N") != std::string::npos;
}

bool asks_for_driver(const config::LinkFile& file)
{
    return file.match.asks_for_driver() || file.name.find("%D") != std::string::npos;
}

bool has_policy(const config::LinkFile& file, Policy policy)
{
    return std::find(file.policies.begin(), file.policies.end(), policy) != file.policies.end();
}

/// Returns the name if somebody renamed the device after rdmad, else an empty string. Before that a
/// user's name looks like the kernel's, or like one that an initrd gave.
std::string renamed_to(const std::optional<NameRecord>& record, const nldev::Device& device)
{
    const bool by_user = record && record->given && device.name != *record->given &&
                         device.name != record->original &&
                         device.name != naming::temporary_name(device.index);
    return by_user ? device.name : "";
}

/// Returns true if udev has yet to process the network device of an RDMA device, and may rename it:
/// udev has no record of it yet, or one from the midst of a rename, which the "move" event replaces
/// (rename_netif(), src/udev/udev-event.c); or the network device has just been renamed. Only for
/// one on the same parent, whose event decides anew.
bool may_be_renamed(const NamingInput& input, const std::string& netdev,
                    const std::string& rdma_device)
{
    if (!naming::is_safe_name(netdev))
        return false;
    const auto path = "class/net/" + netdev;
    // stays the same one if it is renamed
    const auto directory = input.root.open_below(path);
    if (!directory || !*directory)
        return input.root.contains("class/infiniband/" + rdma_device + "/device/net");
    if (!(*directory)->contains("device/infiniband"))
        return false;
    const auto ifindex = (*directory)->read("ifindex").text;
    const auto record = UdevRecord::read(input.udev_run, "n" + ifindex);
    return !record || record->property("ID_RENAMING") == "1" ||
           input.root.read(path + "/ifindex").text != ifindex;
}

class Decider {
public:
    Decider(const NamingInput& input, const config::Facts& facts, const DeviceInfo& info,
            const naming::Place& place, Decision& decision)
        : input_(input),
          file_(*decision.file),
          facts_(facts),
          info_(info),
          place_(place),
          decision_(decision)
    {
    }

    /// Tries the policies, then Name=. renamed_to: the name that somebody gave the device after
    /// rdmad, empty if nobody has.
    void run(const std::string& renamed_to)
    {
        for (const auto policy : file_.policies) {
            if (policy == Policy::netdev && must_wait())
                return;
            add(std::string(to_string(policy)), by(policy, renamed_to));
            // nothing after it counts
            if (policy == Policy::keep && !renamed_to.empty())
                return;
        }
        if (file_.name.empty() || (uses_netdev_in_name(file_) && must_wait()))
            return;
        add("Name=", config::expand_name(file_.name, specifiers_of(facts_, info_, place_)));
        decision_.attempts.back().uses_original = file_.name.find("%k") != std::string::npos;
    }

private:
    /// Returns true if the network device is about to be renamed: its event decides anew.
    [[nodiscard]] bool must_wait()
    {
        if (!place_.netdev || !decision_.candidates().empty() ||
            !may_be_renamed(input_, *place_.netdev, info_.device.name))
            return false;
        decision_.keeps = "its network device " + text::escape_terminal(*place_.netdev) +
                          " has not got its own name yet";
        decision_.waits = true;
        return true;
    }

    [[nodiscard]] naming::Composed by(Policy policy, const std::string& renamed_to) const
    {
        if (policy == Policy::keep && renamed_to.empty())
            return {.why_not = "nobody has renamed it"};
        if (policy == Policy::keep)
            return {.name = renamed_to};
        if (policy == Policy::kernel && naming::is_temporary(decision_.original))
            return {.why_not = "it is not known any more"};
        if (policy == Policy::kernel)
            return {.name = decision_.original};
        return naming::compose(policy, place_, decision_.scheme, file_.port_label);
    }

    void add(std::string by, naming::Composed outcome)
    {
        decision_.attempts.push_back({std::move(by), std::move(outcome)});
    }

    const NamingInput& input_;
    const config::LinkFile& file_;
    const config::Facts& facts_;
    const DeviceInfo& info_;
    const naming::Place& place_;
    Decision& decision_;
};

/// Returns the first file that matches, nullptr if none does. One with problems counts if its
/// [Match] is sound.
const config::LinkFile* find_file(const std::vector<config::LinkFile>& files,
                                  const config::Facts& facts)
{
    const auto found = std::find_if(files.begin(), files.end(), [&](const config::LinkFile& file) {
        return file.is_match_sound && file.match.why_not(facts).empty();
    });
    return found == files.end() ? nullptr : &*found;
}

/// Returns true if this event comes too early to know the driver, and a file asks for it. That of a
/// software device is known once ib_uverbs has the device, and ib_umad may have it before. The
/// event of the uverbs node decides then, or that of the device, which the kernel sends after all
/// others (ib_register_device(), drivers/infiniband/core/device.c).
bool must_wait_for_driver(const NamingInput& input, const DeviceInfo& info,
                          const EventProperties& properties)
{
    return !info.driver && properties && properties("SUBSYSTEM") == "infiniband_mad" &&
           sysfs::is_uverbs_loaded(input.root) &&
           std::any_of(input.files.begin(), input.files.end(), asks_for_driver);
}

} // namespace

std::vector<std::string> Decision::candidates() const
{
    std::vector<std::string> names;
    if (keeps.empty())
        for (const auto& attempt : attempts)
            if (!attempt.outcome.name.empty())
                names.push_back(attempt.outcome.name);
    return names;
}

bool Decision::is_made_of_original(const std::string& candidate) const
{
    return std::any_of(attempts.begin(), attempts.end(), [&](const Attempt& attempt) {
        return attempt.uses_original && attempt.outcome.name == candidate;
    });
}

std::vector<std::string> NamingInput::problems() const
{
    std::vector<std::string> messages;
    for (const auto& file : files)
        for (const auto& problem : file.problems)
            messages.push_back(problem.message());
    messages.insert(messages.end(), kernel_options.problems.begin(), kernel_options.problems.end());
    return messages;
}

NamingInput read_naming_input(const Context& context)
{
    auto host = host_facts(context.paths.root);
    auto options = parse_kernel_options(host.kernel_command_line);
    return {context.root,
            config::read_link_files(context.paths.root),
            NameRecords(context.paths.rdmad),
            std::move(host),
            std::move(options),
            context.paths.udev};
}

EventProperties rdma_properties(const Context& context)
{
    return context.property("SUBSYSTEM").starts_with("infiniband") ? context.event
                                                                   : EventProperties();
}

Decision decide_name(const NamingInput& input, const Snapshot& device,
                     const EventProperties& properties)
{
    const auto& info = device.info;
    const auto record = input.records.find(info.id());
    Decision decision;
    decision.original = record ? record->original : info.device.name;
    if (info.device.name_assign_type == chosen_by_user)
        decision.keeps = "a user chose its name when the device was made";

    const auto facts = facts_of(input, device, decision.original, properties);
    decision.file = find_file(input.files, facts);
    if (decision.keeps.empty() && must_wait_for_driver(input, info, properties)) {
        decision.keeps = "a file asks for its driver, which is not known yet";
        decision.waits = true;
        return decision;
    }
    if (!decision.file)
        return decision;
    if (!decision.file->problems.empty()) {
        decision.keeps = "the file that matches it has problems";
        return decision;
    }
    if (!facts.property && decision.file->match.asks_for_property()) {
        decision.keeps = "a file may match it by Property=, and its properties are known only in "
                         "an event of its own";
        decision.waits = true;
        return decision;
    }
    const auto scheme = decision.file->scheme.value_or(naming::Scheme::v1);
    decision.scheme = input.kernel_options.scheme.value_or(scheme);

    const auto place = read_topology(input.root, device,
                                     {.scheme = decision.scheme,
                                      .with_slot = has_policy(*decision.file, Policy::slot),
                                      .with_label = wants_label(*decision.file)});
    Decider(input, facts, info, place, decision).run(renamed_to(record, info.device));
    return decision;
}

} // namespace rdmad::rdma_id
