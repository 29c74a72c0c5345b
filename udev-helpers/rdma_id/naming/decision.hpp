// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/link_file.hpp"
#include "core/device/name_records.hpp"
#include "core/device/snapshot.hpp"
#include "udev-helpers/rdma_id/context.hpp"
#include "udev-helpers/rdma_id/naming/host_facts.hpp"

namespace rdmad::rdma_id {

/// A policy or Name=, and the name that it gave or why it gave none.
struct Attempt {
    std::string by; ///< "path", "Name="
    naming::Composed outcome;
    bool uses_original = false; ///< the name is made of the original one
};

/// The decision on the name of a device.
struct Decision {
    const config::LinkFile* file = nullptr; ///< nullptr if no file matches
    naming::Scheme scheme = naming::Scheme::v1;
    std::string original; ///< its name before we gave it one
    std::vector<Attempt> attempts =
        {};                 ///< in the order in which they count; those with a name are to be tried
    std::string keeps = {}; ///< why the name stays whatever the attempts gave, if it does
    /// Another event of the device decides: udev has not named the network device yet that it is
    /// called after, or a file asks for a udev property, which this event does not have, or for the
    /// driver, which is not known yet.
    bool waits = false;

    /// Returns the names to try in order; the device keeps its own if it comes to that. Empty if
    /// the device keeps its name.
    [[nodiscard]] std::vector<std::string> candidates() const;
    /// Returns true if a candidate is made of the original name. Without a record of that, each
    /// event would make it anew of what the device is called then.
    [[nodiscard]] bool is_made_of_original(const std::string& candidate) const;
};

/// The input of decisions on names beside the device, read once for all devices that the running
/// event decides on. Decisions point into it.
struct NamingInput {
    const sysfs::Directory& root;
    std::vector<config::LinkFile> files;
    NameRecords records;
    config::Facts host; ///< see host_facts()
    KernelOptions kernel_options;
    std::string udev_run; ///< /run/udev: shows which network devices have their names

    /// Returns what is wrong with the configuration, a message each.
    [[nodiscard]] std::vector<std::string> problems() const;
};

[[nodiscard]] NamingInput read_naming_input(const Context& context);

/// Returns the properties of the running event if it is one of an RDMA device, or of a node of one:
/// those of a network device say nothing about an RDMA device.
[[nodiscard]] EventProperties rdma_properties(const Context& context);

/// Decides on the name of a device. properties: those that udev has of it; empty if they are
/// unknown, as the running event is not about the device.
[[nodiscard]] Decision decide_name(const NamingInput& input, const Snapshot& device,
                                   const EventProperties& properties);

} // namespace rdmad::rdma_id
