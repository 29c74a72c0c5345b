// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/daemon.hpp"

#include "core/sysfs/rdma_device.hpp"
#include "daemon/clock.hpp"
#include "daemon/known_guids.hpp"
#include "daemon/lifecycle/tell.hpp"
#include "daemon/log.hpp"
#include "daemon/recovery/tell.hpp"
#include "daemon/recovery/work.hpp"

#include <algorithm>
#include <cerrno>
#include <net/if.h>
#include <sysexits.h>
#include <systemd/sd-daemon.h>

namespace rdmad {

namespace {

using namespace std::chrono_literals;

constexpr auto poll_interval = 1s;
constexpr auto silent_interval = 10s; ///< of looks at ports for which nobody waits
// the kernel changes GIDs after it has reported the network device (roce_gid_mgmt.c), mostly before
// the first look; the last look comes a whole interval after the report
constexpr int looks_after_change = 2;
constexpr auto idle_before_exit = 30s;
constexpr auto guard_interval = 5s;
constexpr auto write_interval = 60s;
constexpr char nfs_server[] = "nfs-server.service";
// between looks for holders while a removal waits; the first look is before it is blocked
constexpr auto first_pause = 2s;
constexpr auto longest_pause = 64s;

/// Returns true if the NFS server may listen on the address of one device. The kernel cannot remove
/// that device then, and does not say so. Each listener keeps the module from being unloaded.
bool may_hinder_unseen(const sysfs::Directory& root)
{
    return root.contains("module/nfsd") && root.read("module/rpcrdma/refcnt").text != "0" &&
           root.contains("module/rpcrdma");
}

std::chrono::microseconds until(lifecycle::Time due)
{
    const auto now = now_usec(CLOCK_BOOTTIME);
    return std::chrono::microseconds(due > now ? due - now : 0);
}

/// Logs what is wrong with a file; a file that is no binding at all is wrong in each line.
void log_problems(const config::BindingFile& file)
{
    constexpr size_t most_lines = 5;
    const std::vector<log::Field> fields = {{log::field::binding, file.name}};
    const auto count = file.problems.size();
    for (size_t i = 0; i < std::min(count, most_lines); i++)
        log::warning(log::id::bad_binding, file.problems[i].message(), fields);
    if (count > most_lines)
        log::warning(log::id::bad_binding,
                     file.path + ": has " + std::to_string(count - most_lines) +
                         " more problems; run rdmactl verify",
                     fields);
}

const varlink::Info info = {
    .vendor = "rdmad", .product = "rdmad", .version = RDMAD_VERSION, .url = "man:rdmad.service(8)"};

} // namespace

Result<std::unique_ptr<Daemon>> Daemon::create(sd_event* event, const sysfs::Directory& root)
{
    auto udev = UdevMonitor::create();
    if (!udev)
        return tl::unexpected<Error>(std::move(udev).error());
    std::unique_ptr<Daemon> daemon(new Daemon(event, root, std::move(*udev)));
    if (auto outcome = daemon->add_sources(); !outcome)
        return tl::unexpected<Error>(std::move(outcome).error());
    for (const auto& problem : daemon->settings_.problems)
        log::warning(log::id::device_trouble, problem.message());
    daemon->inventory_.remember(read_known_guids("/run/rdmad/units", "/run/rdmad/ready"));
    daemon->resync();
    daemon->reconcile();
    daemon->kernel_events_.listen_to_devlink();
    daemon->reload();
    if (auto outcome = daemon->connect_to_systemd(); !outcome)
        return tl::unexpected<Error>(std::move(outcome).error());
    daemon->plan_exit();
    return daemon;
}

Daemon::Daemon(sd_event* event, const sysfs::Directory& root, UdevMonitor udev)
    : event_(event),
      root_(root),
      udev_(std::move(udev)),
      holders_pause_(first_pause),
      inventory_(client_, root, [this](const DeviceChange& change) { on_device(change); }),
      lives_(
          root, lifecycle::Histories("/run/rdmad/devices"), settings_.lifecycle,
          [] { return now_usec(CLOCK_BOOTTIME); },
          {.on_change = [this](const auto& history,
                               const auto& change) { on_life(history, change); },
           .on_plan = [this] { work_.arm_now(); },
           .on_trouble =
               [](const Error& error) { log::warning(log::id::device_trouble, error.message()); }}),
      supervisor_(inventory_, bindings_, host_, {},
                  {.on_unit = [this](const std::string& name,
                                     const BoundUnit& unit) { api_.on_unit(name, unit); },
                   .obstacle =
                       [this](uint32_t index, const config::BindingFile& file) {
                           return lives_.obstacle(
                               index, {.ready = file.wait_for == config::WaitFor::ready,
                                       .accepted = file.on_replaced == config::OnReplaced::wait});
                       },
                   .is_removing = [this](uint32_t index) { return lives_.is_removing(index); },
                   .on_work = [this] { work_.arm_now(); }}),
      record_refresh_(inventory_, [] { return now_usec(CLOCK_BOOTTIME); }),
      recovery_("/run/rdmad/recovery", settings_.recovery,
                {.on_report = [away = std::set<std::string>()](
                                  const auto& report) mutable { recovery::tell(report, away); },
                 .on_wait = recovery::tell_waiting,
                 .may_have_work = [] { return recovery::may_have_work(""); },
                 .on_plan = [this] { work_.arm_now(); }}),
      preparations_(inhibitors_, settings_.lifecycle.inhibit_delay, preparation_parts()),
      server_(event, info),
      api_(
          server_, inventory_, bindings_, supervisor_, lives_, inhibitors_, preparations_,
          recovery_, host_, [this] { reload(); }, [this] { look_at_ports(); },
          [this] { work_.arm_now(); }),
      kernel_events_(event, kernel_callbacks())
{
    server_.on_trouble([](const std::string& what) { log::notice(log::id::client_dropped, what); });
    server_.on_connections_changed([this] { plan_exit(); });
    api_.on_monitors_changed([this] { plan_polling(); });
}

/// Ends the server first: calls that end call back into parts that are destroyed before it.
Daemon::~Daemon()
{
    server_.end();
    supervisor_.write_again();
    lives_.remember();
}

Result<void> Daemon::add_sources()
{
    auto udev = EventSource::io(event_, udev_.fd(), priority::udev, [this] { on_udev(); });
    auto work = EventSource::deferred(event_, priority::work, [this] { settle(); });
    auto poll_timer = EventSource::timer(event_, [this] { poll(); });
    auto silent_timer = EventSource::timer(event_, [this] { look_at_silent(); });
    auto lives_timer = EventSource::timer(event_, [this] {
        lives_.pass_time();
        settle();
    });
    auto holders_timer = EventSource::timer(event_, [this] { look_for_holders(); });
    auto exit_timer = EventSource::timer(event_, [this] { leave(); });
    auto preparations_timer = EventSource::timer(event_, [this] { settle(); });
    auto recovery_timer = EventSource::timer(event_, [this] {
        recovery_.retry();
        plan_recovery();
    });
    auto guard_timer = EventSource::timer(event_, [this] { guard(); });
    auto refresh_timer = EventSource::timer(event_, [this] { refresh_records(); });
    auto write_timer = EventSource::timer(event_, [this] {
        supervisor_.write_again();
        settle();
    });
    for (auto* source : {&udev, &work, &poll_timer, &silent_timer, &lives_timer, &holders_timer,
                         &preparations_timer, &recovery_timer, &guard_timer, &refresh_timer,
                         &write_timer, &exit_timer})
        if (!*source)
            return tl::unexpected<Error>(std::move(*source).error());
    udev_source_ = std::move(*udev);
    work_ = std::move(*work);
    poll_ = std::move(*poll_timer);
    silent_timer_ = std::move(*silent_timer);
    lives_timer_ = std::move(*lives_timer);
    holders_timer_ = std::move(*holders_timer);
    preparations_timer_ = std::move(*preparations_timer);
    recovery_timer_ = std::move(*recovery_timer);
    guard_timer_ = std::move(*guard_timer);
    refresh_timer_ = std::move(*refresh_timer);
    write_timer_ = std::move(*write_timer);
    exit_ = std::move(*exit_timer);
    return {};
}

Result<void> Daemon::connect_to_systemd()
{
    auto manager = systemd::Manager::create(
        event_,
        {.on_connected =
             [this] {
                 // create() may connect at once
                 if (manager_)
                     on_connected();
             },
         .on_unit =
             [this](const auto& unit, const auto& state) {
                 supervisor_.on_unit(unit, state);
                 if (unit == nfs_server)
                     recovery_.on_nfs_server(state.is_up() && state.active_state != "activating");
                 work_.arm_now();
             },
         .on_job =
             [this](const auto& unit, uint32_t job, const auto& result) {
                 supervisor_.on_job(unit, job, result);
                 holders_.on_job(unit, job, result);
                 recovery_.on_job(unit, job, result);
                 readiness_.on_job(unit, job, result);
                 work_.arm_now();
             },
         .on_anchor_job =
             [this](const auto& anchor) {
                 supervisor_.on_anchor_job(anchor);
                 work_.arm_now();
             },
         .on_trouble =
             [](const Error& error) { log::warning(log::id::systemd_trouble, error.message()); }});
    if (!manager)
        return tl::unexpected<Error>(std::move(manager).error());
    manager_ = std::move(*manager);
    supervisor_.use(manager_.get());
    readiness_.use(manager_.get());
    record_refresh_.use(manager_.get());
    holders_.use(manager_.get());
    recovery_.use(manager_.get());
    // its start or stop is a moment to look at its listeners
    if (settings_.recovery.kinds.contains(recovery::Kind::nfs))
        manager_->watch(nfs_server);
    if (manager_->is_connected())
        on_connected();
    return {};
}

void Daemon::on_connected()
{
    supervisor_.on_connected();
    readiness_.on_connected();
    is_readiness_due_ = true;
    holders_.on_connected();
    recovery_.on_connected();
    manager_->refresh(nfs_server);
    if (!lives_.removing().empty()) {
        look_for_holders();
        recovery_.on_blocked();
    }
    work_.arm_now();
}

Result<void> Daemon::serve(UniqueFd socket)
{
    return server_.listen(std::move(socket));
}

void Daemon::end()
{
    if (const auto count = supervisor_.tied_count(); count > 0)
        log::info(log::id::units_stay_tied,
                  "units that stay tied to their devices: " + std::to_string(count) +
                      "; systemd stops them with the devices, and nothing starts them again "
                      "before rdmad runs; rdmactl unbind --all deletes what rdmactl bind wrote, "
                      "and unties them");
    (void)sd_event_exit(event_, 0);
}

void Daemon::reload()
{
    const auto changes = bindings_.read();
    const auto& files = bindings_.files();
    if (std::any_of(files.begin(), files.end(),
                    [](const auto& file) { return file.wait_for != config::WaitFor::present; }))
        look_at_ports();
    for (const auto& file : files)
        if (changes.contains(file.name))
            log_problems(file);
    supervisor_.on_bindings();
    for (const auto& [name, change] : changes)
        api_.on_binding(name, change);
}

// -- devices --------------------------------------------------------------------------------------

void Daemon::on_udev()
{
    // an event of a device that is gone opens the kernel sockets, too; settle() closes them
    work_.arm_now();
    // at most one burst: other sources want their turn, too
    for (int i = 0; i < 64; i++) {
        auto event = udev_.receive();
        if (!event) {
            on_lost("udev");
            return;
        }
        if (!*event)
            return;
        // before the kernel is asked: it reports later changes
        if ((*event)->index)
            kernel_events_.listen(client_);
        inventory_.handle(**event);
        lives_.on_udev(**event);
        if (const auto error = inventory_.take_error(); error)
            log::warning(log::id::device_trouble, error->message());
    }
}

/// Closes the kernel sockets: there is no device to ask about.
void Daemon::let_go_of_kernel()
{
    kernel_events_.end();
    looks_due_ = 0;
    transport_.close();
}

KernelEvents::Callbacks Daemon::kernel_callbacks()
{
    return {.on_device = [this](uint32_t index) { refresh(index); },
            .on_netdev = [this] { look_soon(); },
            .on_links = [this](const auto& links) { on_links(links); },
            .on_devlink = [this](const auto& notice) { lives_.on_devlink(notice); },
            .on_lost = [this] { on_lost("RDMA"); },
            .on_trouble =
                [](const Error& error) { log::warning(log::id::device_trouble, error.message()); }};
}

/// Looks at all ports once a port's network device went up or down, or got an address or a name:
/// once for all changes within a second, and once more after that.
void Daemon::on_links(const std::optional<std::set<uint32_t>>& links)
{
    bool may_be_ours = !links;
    bool may_have_address = !links;
    for (const auto ifindex : links.value_or(std::set<uint32_t>())) {
        char name[IF_NAMESIZE];
        const bool is_there = if_indextoname(ifindex, name) != nullptr;
        const bool is_ours = is_there && inventory_.is_concerned(name, ifindex);
        // a netdev that is gone, or moved to another network namespace, may have been ours; one
        // from there may be ours
        may_be_ours |= is_ours || !is_there || inventory_.lacks_netdev();
        may_have_address |= is_ours;
    }
    // a missing target may be restored at a new address, which containers that end do not bring
    is_retry_due_ |= may_have_address;
    if (may_be_ours)
        look_soon();
}

/// Has all ports looked at a second from now, and once more: once for all that happens until then,
/// as a container may rename its network devices as fast as it likes.
void Daemon::look_soon()
{
    if (std::exchange(looks_due_, looks_after_change) == 0)
        poll_.arm(poll_interval);
}

void Daemon::refresh(uint32_t index)
{
    // an error is logged once; the request is repeated until there is a reply
    const bool is_told = inventory_.unanswered().contains(index);
    const auto outcome = inventory_.refresh(index);
    if (!outcome && !is_told)
        log::warning(log::id::device_trouble, outcome.error().message(),
                     {{log::field::index, std::to_string(index)}});
    if (outcome && is_told)
        work_.arm_now();
}

void Daemon::on_lost(const std::string& whose)
{
    log::warning(log::id::events_lost, whose + " events were lost: looking at all devices");
    resync();
    // udev may have told of the end of a removal
    lives_.pass_time();
    api_.on_lost();
}

void Daemon::resync()
{
    const auto events = udev_.enumerate();
    // lost events are not sent again
    const bool was_due = std::exchange(is_resync_due_, !events);
    if (!events) {
        if (!was_due)
            log::warning(log::id::device_trouble, events.error().message());
        return;
    }
    // if these are all gone, settle() closes the kernel sockets again
    if (std::any_of(events->begin(), events->end(),
                    [](const UdevEvent& event) { return event.index.has_value(); }))
        kernel_events_.listen(client_);
    work_.arm_now();
    next_look_at_ports_ = std::chrono::steady_clock::now() + poll_interval;
    if (auto outcome = inventory_.resync(*events); !outcome)
        log::warning(log::id::device_trouble, outcome.error().message());
}

void Daemon::on_device(const DeviceChange& change)
{
    is_readiness_due_ = true;
    lives_.on_device(change);
    supervisor_.on_device(change);
    api_.on_device(change);
    plan_exit();
    work_.arm_now();
}

void Daemon::on_life(const lifecycle::History& history, const lifecycle::Change& change)
{
    is_readiness_due_ = true;
    tell(history, change);
    supervisor_.on_obstacle(history.life.index);
    api_.on_life(history, change);
    const bool is_step = change.kind == lifecycle::Change::Kind::state;
    if (is_step && change.now == lifecycle::State::removing) {
        recovery_.on_blocked();
        holders_pause_ = first_pause;
        holders_timer_.arm(first_pause);
    }
    plan_exit();
}

// -- who keeps a device from being removed --------------------------------------------------------

void Daemon::look_for_holders()
{
    // udev may have lost the end of a removal
    lives_.pass_time();
    if (!lives_.removing().empty())
        holders_.look([this](const auto& found) { on_holders(found); });
}

void Daemon::on_holders(const Result<HolderReport>& found)
{
    if (found)
        lives_.on_holders(*found);
    for (const auto* history : lives_.removing())
        if (history->life.is_blocked && history->holders)
            supervisor_.on_blocked(history->life.index, units_of(*history->holders));
    if (!found)
        log::warning(log::id::device_trouble,
                     "who uses devices is not known: " + found.error().message() +
                         "; see journalctl -u rdmad-holders.service");
    else if (found->unread)
        log::warning(log::id::device_trouble,
                     "not everybody who uses devices may be known: " + describe_unread(*found));
    if (lives_.removing().empty())
        return;
    // the device is blocked soon, and then there is no hurry
    holders_pause_ = std::min<std::chrono::microseconds>(holders_pause_ * 2, longest_pause);
    holders_timer_.arm(holders_pause_);
}

// -- what is done before the loop sleeps ----------------------------------------------------------

void Daemon::settle()
{
    reconcile();
    supervisor_.settle();
    preparations_.advance();
    if (!is_resync_due_ && std::exchange(is_readiness_due_, false)) {
        readiness_.settle(ready_ports(inventory_, lives_), inventory_.unknown());
        recovery_.settle(recoverable());
    }
    record_refresh_.settle();
    lives_.remember();
    if (inventory_.devices().empty() && inventory_.unanswered().empty())
        let_go_of_kernel();
    plan_polling();
    plan_lives();
    plan_preparations();
    plan_recovery();
    plan_guard();
    plan_refresh();
    plan_writing();
    plan_exit();
}

/// Ends the lives of devices that went while rdmad did not run. A device that the kernel cannot
/// describe yet keeps its state: a restart of rdmad stops nothing.
void Daemon::reconcile()
{
    if (!is_resync_due_)
        lives_.reconcile(inventory_.unknown());
}

void Daemon::poll()
{
    supervisor_.retry();
    if (is_resync_due_)
        resync();
    const bool is_first_look = looks_due_ == looks_after_change;
    const bool are_due = looks_due_ > 0;
    if (are_due) {
        looks_due_--;
        next_look_at_ports_ = {}; // what makes them due may have come after the last look
    }
    if (are_due || api_.wants_port_states())
        look_at_ports();
    if (is_first_look && std::exchange(is_retry_due_, false))
        recovery_.on_address();
    if (readiness_.has_due()) {
        is_readiness_due_ = true;
        work_.arm_now();
    }
    poll_.arm(look_at(awaited(), poll_interval));
    plan_polling();
}

/// Returns the devices whose ports a unit waits for, which settle, or whose last request to the
/// kernel failed.
std::set<uint32_t> Daemon::awaited() const
{
    auto indexes = supervisor_.awaited();
    indexes.insert(inventory_.unanswered().begin(), inventory_.unanswered().end());
    indexes.merge(lives_.awaited());
    return indexes;
}

/// Looks at these devices. Returns the time until the next such look, at least pause, so that looks
/// take no more than a tenth of the time: a driver may be slow to answer.
std::chrono::microseconds Daemon::look_at(const std::set<uint32_t>& indexes,
                                          std::chrono::microseconds pause)
{
    const auto begin = std::chrono::steady_clock::now();
    for (const auto index : indexes)
        refresh(index);
    const auto taken = std::chrono::steady_clock::now() - begin;
    return std::max(pause, std::chrono::duration_cast<std::chrono::microseconds>(10 * taken));
}

/// Looks at all ports, at most once a second, however often clients ask.
void Daemon::look_at_ports()
{
    if (std::chrono::steady_clock::now() < next_look_at_ports_)
        return;
    std::set<uint32_t> indexes;
    for (const auto& [index, device] : inventory_.devices())
        indexes.insert(index);
    const auto pause = look_at(indexes, poll_interval);
    next_look_at_ports_ = std::chrono::steady_clock::now() + pause;
}

/// Looks at the ports that become active without an event: a subnet manager may come late.
void Daemon::look_at_silent()
{
    silent_timer_.arm(look_at(with_silent_port(inventory_.devices()), silent_interval));
    plan_polling();
}

/// Arms the timers of looks, one while somebody waits, one while a port is silent: the kernel does
/// not report that a port is active.
void Daemon::plan_polling()
{
    if (with_silent_port(inventory_.devices()).empty())
        silent_timer_.disarm();
    else if (!silent_timer_.is_armed())
        silent_timer_.arm(silent_interval);
    const bool is_needed = is_resync_due_ || looks_due_ > 0 || supervisor_.has_failed() ||
                           readiness_.has_due() || api_.wants_port_states() || !awaited().empty();
    if (!is_needed)
        poll_.disarm();
    else if (!poll_.is_armed())
        poll_.arm(poll_interval);
}

void Daemon::plan_lives()
{
    const auto next = lives_.next_deadline();
    if (!next)
        return lives_timer_.disarm();
    lives_timer_.arm(until(*next));
}

/// Records that could not be written are tried again without a change, too: the next rdmad goes by
/// them.
void Daemon::plan_writing()
{
    if (!lives_.has_unwritten() && !supervisor_.has_unwritten())
        write_timer_.disarm();
    else if (!write_timer_.is_armed())
        write_timer_.arm(write_interval);
}

void Daemon::plan_preparations()
{
    const auto next = preparations_.next_deadline();
    if (!next)
        return preparations_timer_.disarm();
    preparations_timer_.arm(until(*next));
}

Preparations::Parts Daemon::preparation_parts()
{
    return {
        .device =
            [this](uint32_t index) {
                const auto found = inventory_.devices().find(index);
                return found == inventory_.devices().end() ? nullptr : &found->second;
            },
        // also those that udev has yet to handle, or failed to
        .nodes =
            [this](const Device& device) {
                auto nodes = nodes_of(device);
                nodes.merge(sysfs::node_names(root_, device.name));
                return nodes;
            },
        .contexts = [this](const Device& device) { return client_.contexts(device.index); },
        .drain = [this](uint32_t index) { lives_.drain(index); },
        .resume = [this](uint32_t index) { lives_.resume(index); },
        .stop =
            [this](uint32_t index, std::map<std::string, int>& asked) {
                return supervisor_.drain(index, asked);
            },
        .look = [this](uint32_t index, auto on_found) { find_users(index, std::move(on_found)); },
        .clock = [] { return now_usec(CLOCK_BOOTTIME); }};
}

/// Releases the kernel's targets on a device, then looks for its other users.
void Daemon::find_users(uint32_t index, Preparations::OnUsers on_found)
{
    recovery_.release(index, [this, on_found = std::move(on_found)](const auto& report) {
        holders_.look([this, on_found, report](const auto& found) {
            if (report && found)
                on_found(Users{.processes = *found, .kernel = report->users});
            else
                on_found(tl::unexpected<Error>(report ? found.error() : report.error()));
            work_.arm_now();
        });
    });
}

/// Returns the ready devices, without those that replaced another and await an administrator's
/// acceptance: storage targets wait for that, too.
std::set<uint32_t> Daemon::recoverable() const
{
    std::set<uint32_t> indexes;
    for (const auto& [index, device] : inventory_.devices())
        indexes.insert(index);
    indexes.merge(inventory_.unknown());
    std::erase_if(indexes, [this](uint32_t index) {
        return !lives_.is_ready(index) || lives_.obstacle(index, {.accepted = true}) != Obstacle();
    });
    return indexes;
}

void Daemon::plan_recovery()
{
    const auto pause = recovery_.pause();
    if (!pause)
        recovery_timer_.disarm();
    else if (!recovery_timer_.is_armed())
        recovery_timer_.arm(*pause);
}

void Daemon::guard()
{
    if (const auto outcome = inventory_.look_for_leaving(); !outcome)
        log::warning(log::id::device_trouble, outcome.error().message());
    plan_guard();
}

void Daemon::plan_guard()
{
    if (inventory_.devices().empty() || !settings_.recovery.kinds.contains(recovery::Kind::nfs) ||
        !may_hinder_unseen(root_))
        guard_timer_.disarm();
    else if (!guard_timer_.is_armed())
        guard_timer_.arm(guard_interval);
}

/// Asks the kernel first: it may have changed since the difference was seen.
void Daemon::refresh_records()
{
    for (const auto index : record_refresh_.due())
        refresh(index);
    settle();
}

void Daemon::plan_refresh()
{
    const auto next = record_refresh_.next_deadline();
    if (!next)
        return refresh_timer_.disarm();
    refresh_timer_.arm(until(*next));
}

bool Daemon::is_idle() const
{
    return !is_resync_due_ && inventory_.devices().empty() && inventory_.unanswered().empty() &&
           lives_.removing().empty() && server_.connection_count() == 0 && recovery_.is_idle();
}

/// Ends rdmad if it is idle. systemd starts it again for what appears after STOPPING=1. What came
/// before shows here; then rdmad exits with EX_TEMPFAIL, to be restarted.
void Daemon::leave()
{
    if (!is_idle())
        return;
    // something is still to be logged about a device that went
    if (const auto due = lives_.next_deadline(); due)
        return exit_.arm(until(*due) + 1s);
    (void)sd_notify(0, "STOPPING=1");
    on_udev();
    (void)sd_event_exit(event_, is_idle() ? 0 : EX_TEMPFAIL);
}

/// Arms the exit timer if idle. rdmad.socket or the next device starts rdmad again.
void Daemon::plan_exit()
{
    if (!is_idle())
        exit_.disarm();
    else if (!exit_.is_armed())
        exit_.arm(idle_before_exit);
}

} // namespace rdmad
