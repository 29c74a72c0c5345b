// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "udev-helpers/rdma_id/decision.hpp"

namespace rdmad::rdma_id {

/// Several events of a device may decide at the same time; one of them tells of what is wrong.
enum class Tell { all, nothing };

/// Gives devices the names that were decided for them.
class Namer {
public:
    /// directory: /run/rdmad. All must outlive the namer.
    Namer(nldev::Client& client, const DecisionInput& input, Tell tell, std::string directory)
        : client_(client), input_(input), tell_(tell), directory_(std::move(directory))
    {
    }

    /// Renames the device to the first name that no other device has; one that has it but should be
    /// called otherwise is renamed first, over a temporary name if the two swap. Whether the name
    /// changed. What could not be had is told in the journal. That it is decided is remembered.
    [[nodiscard]] Result<bool> settle(const Identity& identity, const Decision& decision);

private:
    bool stays(const Identity& identity, const Decision& decision) const;
    void remember(const Identity& identity, const Decision& decision,
                  const std::string& name) const;
    [[nodiscard]] Result<bool> take_first_free(const Identity& identity, const Decision& decision);
    [[nodiscard]] Result<bool> take(const Identity& identity, const Decision& decision,
                                    const std::string& name);
    [[nodiscard]] Result<bool> make_free(const std::string& name);
    [[nodiscard]] Result<bool> move_on(uint32_t index);
    [[nodiscard]] bool is_being_settled(uint32_t index) const;
    bool leave_temporary_name(const Identity& identity, const Decision& decision);

    nldev::Client& client_;
    const DecisionInput& input_;
    Tell tell_;
    std::string directory_;
    std::vector<uint32_t> settling_; ///< indexes: the device, who has its name, who has that one's
};

} // namespace rdmad::rdma_id
