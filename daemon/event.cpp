// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/event.hpp"

#include <ctime>
#include <sys/epoll.h>

namespace rdmad {

namespace {

int call(void* callback)
{
    (*static_cast<EventSource::Callback*>(callback))();
    return 0;
}

int on_io(sd_event_source*, int, uint32_t, void* callback)
{
    return call(callback);
}

int on_time(sd_event_source*, uint64_t, void* callback)
{
    return call(callback);
}

int on_signal(sd_event_source*, const signalfd_siginfo*, void* callback)
{
    return call(callback);
}

int on_deferred(sd_event_source*, void* callback)
{
    return call(callback);
}

} // namespace

template <typename Add>
Result<EventSource> EventSource::make(const char* what, Callback callback, Add add)
{
    EventSource made;
    made.callback_ = std::make_unique<Callback>(std::move(callback));
    sd_event_source* source = nullptr;
    if (const int code = add(&source, made.callback_.get()); code < 0)
        return fail(-code, what);
    made.source_.reset(source);
    return made;
}

Result<EventSource> EventSource::io(sd_event* event, int fd, int64_t priority, Callback callback)
{
    return make("event loop, descriptor", std::move(callback),
                [&](sd_event_source** source, void* userdata) {
                    const int code = sd_event_add_io(event, source, fd, EPOLLIN, on_io, userdata);
                    return code < 0 ? code : sd_event_source_set_priority(*source, priority);
                });
}

Result<EventSource> EventSource::timer(sd_event* event, Callback callback)
{
    return make(
        "event loop, timer", std::move(callback), [&](sd_event_source** source, void* userdata) {
            const int code =
                sd_event_add_time(event, source, CLOCK_MONOTONIC, UINT64_MAX, 0, on_time, userdata);
            return code < 0 ? code : sd_event_source_set_enabled(*source, SD_EVENT_OFF);
        });
}

Result<EventSource> EventSource::signal(sd_event* event, int number, Callback callback)
{
    return make("event loop, signal", std::move(callback),
                [&](sd_event_source** source, void* userdata) {
                    return sd_event_add_signal(event, source, number, on_signal, userdata);
                });
}

Result<EventSource> EventSource::deferred(sd_event* event, int64_t priority, Callback callback)
{
    return make("event loop, deferred", std::move(callback),
                [&](sd_event_source** source, void* userdata) {
                    int code = sd_event_add_defer(event, source, on_deferred, userdata);
                    if (code >= 0)
                        code = sd_event_source_set_priority(*source, priority);
                    return code < 0 ? code : sd_event_source_set_enabled(*source, SD_EVENT_OFF);
                });
}

void EventSource::arm(std::chrono::microseconds delay)
{
    (void)sd_event_source_set_time_relative(source_.get(), static_cast<uint64_t>(delay.count()));
    (void)sd_event_source_set_enabled(source_.get(), SD_EVENT_ONESHOT);
}

void EventSource::arm_now()
{
    (void)sd_event_source_set_enabled(source_.get(), SD_EVENT_ONESHOT);
}

void EventSource::disarm()
{
    (void)sd_event_source_set_enabled(source_.get(), SD_EVENT_OFF);
}

bool EventSource::is_armed() const
{
    int enabled = SD_EVENT_OFF;
    return source_ && sd_event_source_get_enabled(source_.get(), &enabled) > 0;
}

} // namespace rdmad
