// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/clock.hpp"
#include "daemon/holders/holder.hpp"
#include "daemon/systemd/errand.hpp"

#include <functional>

namespace rdmad {

/// Runs rdmad-holders.service to find who has RDMA nodes open.
class HolderSearch {
public:
    using OnFound = std::function<void(const Result<HolderReport>&)>;

    /// Takes the record, /run/rdmad/holders.
    explicit HolderSearch(std::string record, Clock clock = now_usec);

    void use(systemd::Orders* manager)
    {
        errand_.use(manager);
    }
    /// Passes on what a look finds that begins now, or later.
    void look(OnFound on_found);
    void on_job(const std::string& unit, uint32_t job, const std::string& result)
    {
        errand_.on_job(unit, job, result);
    }
    void on_connected()
    {
        errand_.on_connected();
    }

private:
    using Waiting = std::vector<OnFound>;

    void begin();
    void end(const Result<HolderReport>& report);

    systemd::Errand errand_;
    Clock clock_;
    Waiting asking_; ///< the look that is under way is for them
    Waiting next_;   ///< those that came after it began
};

} // namespace rdmad
