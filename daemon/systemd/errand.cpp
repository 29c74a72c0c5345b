// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/systemd/errand.hpp"

#include "core/base/file.hpp"

#include <cerrno>
#include <unistd.h>
#include <utility>

namespace rdmad::systemd {

void Errand::begin(OnEnd on_end)
{
    on_end_ = std::move(on_end);
    if (!manager_ || !manager_->is_connected())
        return std::exchange(on_end_, nullptr)(fail(ENOTCONN, "systemd"));
    // what an earlier run wrote does not count
    (void)unlink(record_.c_str());
    manager_->watch(unit_);
    manager_->start(unit_, [this](Result<uint32_t> job) {
        if (job)
            job_ = *job;
        else if (is_running()) // not over a connection that is gone
            end(tl::unexpected<Error>(std::move(job).error().while_doing(unit_)));
    });
}

void Errand::on_job(const std::string& unit, uint32_t job, const std::string& result)
{
    if (unit != unit_ || job_ != job)
        return;
    if (result == "done")
        end(read_file(record_, max_size_));
    else
        end(fail(EIO, unit_ + " ended as " + result));
}

void Errand::on_connected()
{
    if (is_running())
        end(fail(ECONNRESET, "systemd"));
}

void Errand::end(const Result<std::string>& text)
{
    job_.reset();
    manager_->unwatch(unit_);
    std::exchange(on_end_, nullptr)(text);
}

} // namespace rdmad::systemd
