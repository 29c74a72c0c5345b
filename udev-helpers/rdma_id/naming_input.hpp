// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "udev-helpers/rdma_id/decision.hpp"
#include "udev-helpers/rdma_id/host_facts.hpp"

namespace rdmad::rdma_id {

/// Where state is kept.
struct RunPaths {
    std::string rdmad = "/run/rdmad";
    std::string udev = "/run/udev";
};

/// All that is read once, however many devices are decided upon.
struct NamingInput {
    NamingInput(const sysfs::Directory& root, const RunPaths& run)
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
        for (const auto& problem :
             {asked.problem, names_asked_of_kernel(host.kernel_command_line).problem})
            if (!problem.empty())
                messages.push_back(problem);
        return messages;
    }

    LinkFiles files;
    KnownNames known;
    config::Facts host;
    AskedScheme asked;
    DecisionInput input;
};

} // namespace rdmad::rdma_id
