// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/systemd/orders.hpp"

#include <functional>
#include <optional>
#include <string>

namespace rdmad::systemd {

/// Has a service, which may do what rdmad may not, run once, and reads what it wrote.
class Errand {
public:
    using OnEnd = std::function<void(const Result<std::string>& text)>;

    /// record: the file that the service writes, up to so many bytes.
    Errand(std::string unit, std::string record, size_t max_size)
        : unit_(std::move(unit)), record_(std::move(record)), max_size_(max_size)
    {
    }

    void use(Orders* manager)
    {
        manager_ = manager;
    }
    [[nodiscard]] bool is_running() const
    {
        return on_end_ != nullptr;
    }
    /// Only while it does not run. ENOTCONN, ECONNRESET: there is no systemd to ask, or not any
    /// more; EIO: the service failed; ENOENT: it wrote nothing, or by its conditions did not run.
    void begin(OnEnd on_end);
    /// Of a watched unit; result as JobRemoved of org.freedesktop.systemd1(5) has it.
    void on_job(const std::string& unit, uint32_t job, const std::string& result);
    /// Over an earlier connection nobody answers any more.
    void on_connected();

private:
    void end(const Result<std::string>& text);

    std::string unit_;
    std::string record_;
    size_t max_size_;
    Orders* manager_ = nullptr;
    std::optional<uint32_t> job_;
    OnEnd on_end_;
};

} // namespace rdmad::systemd
