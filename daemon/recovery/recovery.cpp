// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/recovery/recovery.hpp"

#include "core/base/file.hpp"
#include "daemon/clock.hpp"
#include "daemon/log.hpp"
#include "daemon/record.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>
#include <utility>

namespace rdmad::recovery {

namespace {

using namespace std::chrono_literals;

constexpr size_t max_report = size_t{1} << 20U;
constexpr char nvme_service[] = "nvmf-autoconnect.service";
// 1, 2, 4 and so on: some four minutes
constexpr int max_tries = 8;

} // namespace

Recovery::Recovery(const std::string& directory, Settings settings, Events events)
    : orders_(directory + "/orders"),
      settings_(std::move(settings)),
      events_(std::move(events)),
      errand_("rdmad-recovery.service", directory + "/report", max_report),
      // the numbers of the rdmad before are lower
      last_order_(now_usec(CLOCK_BOOTTIME))
{
    (void)mkdir(directory.c_str(), 0755);
    // what the last rdmad knew; that of the server holds until systemd reports its state
    if (const auto text = read_file(orders_ + "/last"); text)
        if (const auto order = parse_order(*text); order)
            has_nfs_server_ = order->has_nfs_server;
    if (const auto text = read_file(orders_ + "/connected"); text)
        connected_ = parse_indexes(*text).value_or(std::set<uint32_t>());
}

void Recovery::use(systemd::Orders* manager)
{
    manager_ = manager;
    errand_.use(manager);
}

void Recovery::on_job(const std::string& unit, uint32_t job, const std::string& result)
{
    errand_.on_job(unit, job, result);
}

void Recovery::on_connected()
{
    errand_.on_connected();
    // an earlier connection brings no answer any more
    if (!connecting_.empty())
        give_up_connecting(std::set(connecting_));
}

void Recovery::settle(const std::set<uint32_t>& ready)
{
    if (!manager_ || !manager_->is_connected() || ready == ready_.value_or(std::set<uint32_t>()))
        return;
    ready_ = ready;
    tries_ = 0;
    restore();
}

void Recovery::retry()
{
    tries_ = std::min(tries_ + 1, max_tries);
    on_address();
}

void Recovery::on_address()
{
    if (is_missing_ || has_failed_)
        restore();
}

void Recovery::on_blocked()
{
    if (settings_.kinds.contains(Kind::nfs))
        restore();
}

void Recovery::on_nfs_server(bool is_up)
{
    has_nfs_server_ = is_up;
}

std::optional<std::chrono::microseconds> Recovery::pause() const
{
    const bool can_help = has_failed_ || (is_missing_ && ready_ && !ready_->empty());
    if (!can_help || tries_ >= max_tries)
        return std::nullopt;
    return 1s * (1 << tries_);
}

void Recovery::ask(Order::Mode mode, OnReport on_report)
{
    add({mode, ready_.value_or(std::set<uint32_t>()), std::move(on_report)});
}

void Recovery::release(uint32_t device, OnReport on_report)
{
    add({Order::Mode::release, {device}, std::move(on_report)});
}

void Recovery::restore()
{
    const auto ready = ready_.value_or(std::set<uint32_t>());
    if (tasks_.empty() && !events_.may_have_work()) {
        has_failed_ = false;
        return take({Order::Mode::restore, ready, {}}, Report());
    }
    // the last, if it has not begun, does what this would do
    if (tasks_.size() > 1 && tasks_.back().mode == Order::Mode::restore &&
        !tasks_.back().on_report) {
        tasks_.back().devices = ready;
        return;
    }
    add({Order::Mode::restore, ready, {}});
}

void Recovery::add(Task task)
{
    tasks_.push_back(std::move(task));
    if (tasks_.size() == 1)
        begin();
}

void Recovery::begin()
{
    const auto& task = tasks_.front();
    const Order order = {task.mode, task.devices, settings_.kinds, has_nfs_server_, ++last_order_};
    const auto outcome = write_record(orders_, "last", format_order(order));
    const auto is_earlier = [number = order.number](const std::string& text) {
        const auto report = parse_report(text);
        return report && report->order != number;
    };
    const auto on_end = [this](const Result<std::string>& text) { end(tasks_.front(), text); };
    if (outcome)
        errand_.begin(is_earlier, on_end);
    else
        on_end(tl::unexpected<Error>(outcome.error()));
}

void Recovery::end(const Task& ended, const Result<std::string>& text)
{
    const Task task = ended;
    const auto report = text ? parse_report(*text) : tl::unexpected<Error>(text.error());
    if (task.mode == Order::Mode::restore)
        has_failed_ = !report;
    if (report)
        take(task, *report);
    else
        log::warning(log::id::systemd_trouble,
                     "targets in the kernel were not looked at: " + report.error().message() +
                         "; see journalctl -u rdmad-recovery.service");
    if (task.on_report)
        task.on_report(report);
    tasks_.pop_front();
    events_.on_plan();
    if (!tasks_.empty())
        begin();
}

void Recovery::take(const Task& task, const Report& report)
{
    if (task.mode == Order::Mode::look)
        return;
    events_.on_report(report);
    if (task.mode != Order::Mode::restore)
        return;
    is_missing_ = std::any_of(report.targets.begin(), report.targets.end(), [](const auto& target) {
        return target.state != Target::State::up && target.state != Target::State::restored;
    });
    report_waiting(report);
    // what a newcomer is for has been put back by the run that knew of it
    if (task.devices != ready_)
        return;
    const auto has_gone = [&](uint32_t index) { return !task.devices.contains(index); };
    bool has_changed = std::erase_if(connected_, has_gone) > 0;
    std::erase_if(connecting_, has_gone);
    auto newcomers = task.devices;
    std::erase_if(newcomers, [this](uint32_t index) {
        return connected_.contains(index) || connecting_.contains(index);
    });
    if (!newcomers.empty() && settings_.nvme_host && report.connects_nvme)
        return connect_hosts(newcomers);
    has_changed |= !newcomers.empty();
    connected_.merge(newcomers);
    if (has_changed)
        record_connected();
}

/// Reports each target that waits once, and not before the last try: its address may be late.
void Recovery::report_waiting(const Report& report)
{
    const auto earlier = std::exchange(reported_, {});
    for (const auto& target : report.targets) {
        const auto name = describe(target);
        const bool is_known = earlier.contains(name);
        if (target.state != Target::State::waiting || (!is_known && tries_ < max_tries))
            continue;
        if (!is_known)
            events_.on_wait(target);
        reported_.insert(name);
    }
}

/// Has systemd connect NVMe hosts over newcomers, which counts once systemd has taken that.
void Recovery::connect_hosts(const std::set<uint32_t>& newcomers)
{
    connecting_.insert(newcomers.begin(), newcomers.end());
    manager_->start(nvme_service, [this, newcomers](const Result<uint32_t>& job) {
        if (!job) {
            log::notice(log::id::systemd_trouble,
                        std::string(nvme_service) + " was not started: " + job.error().message());
            return give_up_connecting(newcomers);
        }
        for (const auto index : newcomers)
            connected_.insert(connecting_.extract(index));
        record_connected();
    });
}

/// Has the next try find them to be newcomers again.
void Recovery::give_up_connecting(const std::set<uint32_t>& newcomers)
{
    for (const auto index : newcomers)
        connecting_.erase(index);
    has_failed_ = true;
    events_.on_plan();
}

void Recovery::record_connected() const
{
    if (const auto outcome = write_record(orders_, "connected", format_indexes(connected_));
        !outcome)
        log::warning(log::id::device_trouble, outcome.error().message());
}

} // namespace rdmad::recovery
