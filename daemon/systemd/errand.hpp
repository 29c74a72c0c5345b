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
    /// Returns true if this is the record of a run that began before the errand.
    using IsEarlier = std::function<bool(const std::string& text)>;

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
    /// Starts the service, which this errand must not have started yet, and once more if it was
    /// running for a rdmad that was killed, and did not fail. Passes ENOTCONN, ECONNRESET: systemd
    /// is not connected, or no longer; EIO: the service failed; ENOENT: it wrote nothing; EBADMSG:
    /// nothing about this errand.
    void begin(IsEarlier is_earlier, OnEnd on_end);
    /// Ends the errand with its job; result is JobRemoved's, org.freedesktop.systemd1(5).
    void on_job(const std::string& unit, uint32_t job, const std::string& result);
    /// Ends the errand: an earlier connection gets no reply any more.
    void on_connected();

private:
    void run();
    void on_done(const Result<std::string>& text);
    void end(const Result<std::string>& text);

    std::string unit_;
    std::string record_;
    size_t max_size_;
    Orders* manager_ = nullptr;
    std::optional<uint32_t> job_;
    bool is_repeated_ = false;
    IsEarlier is_earlier_;
    OnEnd on_end_;
};

} // namespace rdmad::systemd
