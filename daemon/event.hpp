// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/c_ptr.hpp"
#include "core/base/result.hpp"
#include "daemon/priority.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <systemd/sd-event.h>

// sd-event with C++ callbacks. A source owns its callback and ends with the object.

namespace rdmad {

class EventSource {
public:
    using Callback = std::function<void()>;

    EventSource() = default;

    /// Calls back when the descriptor has something to read. A lower priority is served first.
    [[nodiscard]] static Result<EventSource> io(sd_event* event, int fd, int64_t priority,
                                                Callback callback);
    /// Calls back once after each arm(), when its delay has passed.
    [[nodiscard]] static Result<EventSource> timer(sd_event* event, Callback callback);
    /// Calls back on a signal, which must be blocked.
    [[nodiscard]] static Result<EventSource> signal(sd_event* event, int number, Callback callback);
    /// Calls back once after arm_now(), when nothing of a lower priority is pending.
    [[nodiscard]] static Result<EventSource> deferred(sd_event* event, int64_t priority,
                                                      Callback callback);

    void arm(std::chrono::microseconds delay);
    void arm_now();
    void disarm();
    [[nodiscard]] bool is_armed() const;

private:
    template <typename Add>
    static Result<EventSource> make(const char* what, Callback callback, Add add);

    // the source goes before the callback that it calls
    std::unique_ptr<Callback> callback_;
    CPtr<sd_event_source, sd_event_source_disable_unref> source_;
};

} // namespace rdmad
