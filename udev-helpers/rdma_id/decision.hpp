// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/link_file.hpp"
#include "udev-helpers/rdma_id/identity.hpp"
#include "udev-helpers/rdma_id/known_names.hpp"
#include "udev-helpers/rdma_id/link_files.hpp"

namespace rdmad::rdma_id {

/// A policy or Name=, and what came of it.
struct Attempt {
    std::string by; ///< "path", "Name="
    naming::Composed outcome;
};

/// What a device should be called.
struct Decision {
    const config::LinkFile* file = nullptr; ///< none: no file matches
    naming::Scheme scheme = naming::Scheme::v1;
    std::string original; ///< its name before we gave it one
    std::vector<Attempt> attempts =
        {};                 ///< in the order in which they count; those with a name are to be tried
    std::string keeps = {}; ///< why the name stays whatever the attempts gave, if it does
    bool waits = false;     ///< it keeps its name until another event decides

    /// The names to try, up to the one that the device has. Empty: it keeps that.
    [[nodiscard]] std::vector<std::string> candidates() const;
};

/// What is there to decide by. All must outlive the call.
struct DecisionInput {
    const sysfs::Directory& root;
    const LinkFiles& files;
    const config::Facts& host; ///< see host_facts()
    const KnownNames& known;
    std::optional<naming::Scheme> scheme_asked = {};
    std::string udev_run = {}; ///< /run/udev: tells which network devices have their names
};

/// By what KnownNames knows a device.
[[nodiscard]] Appearance appearance_of(const Identity& identity);

/// identity is that of the device itself, not of a node.
[[nodiscard]] Decision decide_name(const DecisionInput& input, const sysfs::RdmaDevice& device,
                                   const Identity& identity);

/// The same for a device that the event that runs is not about: that tells none of its properties.
[[nodiscard]] Decision decide_name_of_other(const DecisionInput& input,
                                            const sysfs::RdmaDevice& device,
                                            const Identity& identity);

} // namespace rdmad::rdma_id
