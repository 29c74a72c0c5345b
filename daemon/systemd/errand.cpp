// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/systemd/errand.hpp"

#include "core/base/file.hpp"

#include <cerrno>
#include <unistd.h>
#include <utility>

namespace rdmad::systemd {

void Errand::begin(IsEarlier is_earlier, OnEnd on_end)
{
    is_earlier_ = std::move(is_earlier);
    on_end_ = std::move(on_end);
    is_repeated_ = false;
    if (!manager_ || !manager_->is_connected())
        return std::exchange(on_end_, nullptr)(fail(ENOTCONN, "systemd"));
    manager_->watch(unit_);
    run();
}

void Errand::run()
{
    // what an earlier run wrote does not count
    (void)unlink(record_.c_str());
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
        on_done(read_file(record_, max_size_));
    else
        end(fail(EIO, unit_ + " ended as " + result));
}

void Errand::on_connected()
{
    if (is_running())
        end(fail(ECONNRESET, "systemd"));
}

void Errand::on_done(const Result<std::string>& text)
{
    // systemd does not start a service that runs; its record may be gone since begin(), too
    const bool is_earlier = text ? is_earlier_(*text) : text.error().code == ENOENT;
    if (is_earlier && !std::exchange(is_repeated_, true)) {
        job_.reset();
        return run();
    }
    end(text && is_earlier ? fail(EBADMSG, unit_ + " reported an earlier run") : text);
}

void Errand::end(const Result<std::string>& text)
{
    job_.reset();
    manager_->unwatch(unit_);
    std::exchange(on_end_, nullptr)(text);
}

} // namespace rdmad::systemd
