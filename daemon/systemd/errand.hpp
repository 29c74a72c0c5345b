// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/systemd/orders.hpp"

#include <functional>
#include <optional>
#include <string>

namespace rdmad::systemd {

/// Runs a service once, which may do what rdmad may not, and reads the record that it wrote.
class Errand {
public:
    using OnEnd = std::function<void(const Result<std::string>& text)>;

    /// Takes the file that the service writes, up to so many bytes.
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
    /// Starts the service, which must not run yet. Passes ENOTCONN, ECONNRESET: systemd is not
    /// connected, or no longer; EIO: the service failed; ENOENT: it wrote nothing.
    void begin(OnEnd on_end);
    /// Ends the errand with its job; result is JobRemoved's, org.freedesktop.systemd1(5).
    void on_job(const std::string& unit, uint32_t job, const std::string& result);
    /// Ends the errand: an earlier connection gets no reply any more.
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
