// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/config/link_file.hpp"
#include "udev-helpers/rdma_id/naming/host_facts.hpp"

namespace rdmad::rdma_id {

/// The choice of who names RDMA devices: the file 60-rdma-persistent-naming.rules that udev takes.
/// rdma-core ships one that calls rdma_rename; ours, in the administrator's folder, overrides it
/// and lets rdma_id rename. So only one of them renames.
class NamingSwitch {
public:
    /// Puts root before all paths: empty, or the root of an image.
    explicit NamingSwitch(std::string root = {}) : root_(std::move(root)) {}

    /// Returns true if rdmad is to rename: its file is there, and the kernel command line does not
    /// say rdmad.names=0.
    [[nodiscard]] bool is_on() const;

    /// Returns what was done, or why nothing was, for the user. enable() fails with EEXIST if an
    /// administrator's file is there, and leaves that.
    [[nodiscard]] Result<std::string> enable() const;
    [[nodiscard]] Result<std::string> disable() const;
    /// Returns who names devices, which files of administrators are in the way, and what is wrong
    /// with the .link files and the kernel command line.
    [[nodiscard]] std::string status() const;

private:
    enum class Owner { nobody, rdmad, rdma_core, administrator };
    struct Rules {
        Owner owner = Owner::nobody;
        std::string path = {};
    };

    [[nodiscard]] Rules in_folder(const std::string& folder) const;
    [[nodiscard]] Rules effective() const;
    [[nodiscard]] std::vector<std::string> others_that_rename() const;
    [[nodiscard]] std::string masked_rules() const;
    [[nodiscard]] std::string hint_without_links() const;
    [[nodiscard]] KernelOptions kernel_options() const;

    static constexpr char etc[] = "/etc/udev/rules.d";
    std::string root_;
};

} // namespace rdmad::rdma_id
