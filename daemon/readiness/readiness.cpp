// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/readiness/readiness.hpp"

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "daemon/log.hpp"
#include "daemon/readiness/ready_record.hpp"

#include <algorithm>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace rdmad {

namespace {

constexpr char leave_prefix[] = ".leave-";
constexpr unsigned max_repeats = 3;
// how long systemd may be behind with what it hears of udev
constexpr uint64_t longest_lag = 30'000'000;

std::string target_of(const std::string& guid)
{
    return "rdma-port-ready@" + guid + ".target";
}

bool is_guid(const std::string& name)
{
    const auto guid = text::parse_hex_u64(name);
    return guid && text::format_guid(*guid) == name;
}

} // namespace

std::string Readiness::path(const std::string& guid) const
{
    return directory_ + "/" + guid;
}

std::string Readiness::leave_mark(const std::string& guid) const
{
    return path(leave_prefix + guid);
}

void Readiness::write(const std::string& file, const std::string& text) const
{
    (void)mkdir(directory_.c_str(), 0755);
    if (const auto outcome = replace_file(file, path(".new"), text); !outcome)
        log::warning(log::id::device_trouble, outcome.error().message());
}

void Readiness::read()
{
    for (const auto& name : names_in(directory_)) {
        const bool is_mark = name.starts_with(leave_prefix);
        const auto guid = is_mark ? name.substr(strlen(leave_prefix)) : name;
        if (!is_guid(guid)) {
            (void)unlink(path(name).c_str());
        } else if (is_mark) {
            reached_.insert({guid, {.node = {}, .is_due = true}});
        } else {
            auto& target = reached_[guid];
            target = {.since = clock_(CLOCK_BOOTTIME)};
            if (auto record = parse_ready_record(read_file(path(guid)).value_or(""))) {
                target.node = std::move(record->node);
                target.is_due = record->is_due;
            }
        }
    }
}

void Readiness::on_connected()
{
    for (const auto& [guid, order] : std::exchange(unconfirmed_, {}))
        reached_[guid].is_due = true;
}

void Readiness::on_job(const std::string& unit, uint32_t job, const std::string& result)
{
    const auto found = std::find_if(reached_.begin(), reached_.end(), [&](const auto& entry) {
        return target_of(entry.first) == unit;
    });
    if (found == reached_.end())
        return;
    auto& target = found->second;
    // a job that ends before the reply is of an earlier request
    if (unconfirmed_.contains(found->first) || target.is_due || target.repeats == max_repeats)
        return;
    const bool is_ours = job == target.job;
    if (is_ours ? result == "done" || result == "skipped"
                : clock_(CLOCK_BOOTTIME) > target.since + longest_lag)
        return;
    target.is_due = true;
    target.repeats++;
    log::notice(log::id::systemd_trouble,
                unit +
                    (is_ours ? " was not reached: the job ended as " + result
                             : " was started or stopped by another job") +
                    "; it is requested again");
}

bool Readiness::has_due() const
{
    return manager_ && manager_->is_connected() &&
           std::any_of(reached_.begin(), reached_.end(),
                       [](const auto& entry) { return entry.second.is_due; });
}

void Readiness::settle(const ReadyPorts& ready, const std::set<uint32_t>& unknown)
{
    if (!manager_ || !manager_->is_connected())
        return;
    if (!std::exchange(is_read_, true))
        read();
    const auto before = reached_;
    for (const auto& [guid, reached] : before)
        if (!ready.contains(guid) && !(reached.node && unknown.contains(reached.node->index)))
            leave(guid);
    for (const auto& [guid, node] : ready) {
        const auto found = reached_.find(guid);
        if (found == reached_.end() || found->second.is_due || !found->second.node ||
            !found->second.node->may_be(node)) {
            reach(guid, node);
        } else if (found->second.node->born < node.born && !unconfirmed_.contains(guid)) {
            found->second.node = node;
            write(path(guid), format_ready_record({node}));
        }
    }
}

void Readiness::reach(const std::string& guid, const NodeId& node)
{
    auto& target = reached_[guid];
    target = {.node = node, .repeats = target.node == node ? target.repeats : 0};
    write(path(guid), format_ready_record({.node = node, .is_due = true}));
    (void)unlink(leave_mark(guid).c_str());
    manager_->start(target_of(guid), [this, guid, node, order = note_order(guid)](const auto& job) {
        if (job) {
            if (!confirm(guid, order))
                return;
            reached_[guid].job = *job;
            reached_[guid].since = clock_(CLOCK_BOOTTIME);
            write(path(guid), format_ready_record({node}));
            return;
        }
        log::notice(log::id::systemd_trouble,
                    target_of(guid) + " was not reached: " + job.error().context);
        const auto found = reached_.find(guid);
        if (found == reached_.end() || !systemd::is_lost_on_its_way(job.error()) ||
            found->second.repeats == max_repeats || !confirm(guid, order))
            return;
        found->second.is_due = true;
        found->second.repeats++;
    });
}

void Readiness::leave(const std::string& guid)
{
    reached_.erase(guid);
    write(leave_mark(guid), "");
    (void)unlink(path(guid).c_str());
    manager_->stop(target_of(guid), [this, guid, order = note_order(guid)](const auto& job) {
        if (job && confirm(guid, order))
            (void)unlink(leave_mark(guid).c_str());
    });
}

uint64_t Readiness::note_order(const std::string& guid)
{
    return unconfirmed_[guid] = ++last_order_;
}

/// Confirms a request; returns false if a later one came.
bool Readiness::confirm(const std::string& guid, uint64_t order)
{
    const auto found = unconfirmed_.find(guid);
    if (found == unconfirmed_.end() || found->second != order)
        return false;
    unconfirmed_.erase(found);
    return true;
}

ReadyPorts ready_ports(const Inventory& inventory, const lifecycle::Lifecycle& lives)
{
    ReadyPorts ready;
    for (const auto& [index, device] : inventory.devices()) {
        if (!device.uverbs || !lives.is_ready(index))
            continue;
        for (const auto& port : device.ports)
            if (port.guid && port.is_ready())
                ready.try_emplace(text::format_guid(*port.guid),
                                  NodeId{index, device.uverbs->sysname, device.uverbs->born});
    }
    return ready;
}

} // namespace rdmad
