// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "udev-helpers/rdma_id/context.hpp"
#include "udev-helpers/rdma_id/naming/decision.hpp"
#include "udev-helpers/rdma_id/naming/host_facts.hpp"

namespace rdmad::rdma_id {

/// What decisions on names depend on, read once for all devices that the running event decides on.
struct NamingInput {
    explicit NamingInput(const Context& context)
        : files(context.paths.root),
          records(context.paths.rdmad),
          host(host_facts(context.event, context.paths.root)),
          asked(scheme_asked_of_kernel(host.kernel_command_line)),
          input{context.root, files, host, records, asked.scheme, context.paths.udev}
    {
    }
    NamingInput(const NamingInput&) = delete;
    NamingInput& operator=(const NamingInput&) = delete;

    /// Returns what is wrong with the configuration, a message each.
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
    NameRecords records;
    config::Facts host;
    AskedScheme asked;
    DecisionInput input;
};

} // namespace rdmad::rdma_id
