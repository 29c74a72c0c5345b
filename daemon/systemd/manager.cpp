// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/systemd/manager.hpp"

#include "core/base/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace rdmad::systemd {

namespace {

using namespace std::chrono_literals;

// a bus whose socket exists replies soon
constexpr auto patience = 5s;
constexpr auto retry_delay = 1s;
constexpr auto longest_pause = 64s;

/// Returns true if PID 1 says that there is no such unit, not that it cannot say.
bool is_no_unit(const Error& error)
{
    // UnknownObject, NoSuchUnit, InvalidArgs
    return error.code == EBADR || error.code == ENOENT || error.code == EINVAL;
}

std::string unix_address(const std::string& path)
{
    return "unix:path=" + path;
}

/// Reads the next property of an a{sv}, or skips it if UnitState has none for it.
void read_property(sd_bus_message* message, const char* name, UnitState& state)
{
    const auto text = [&](std::string& target) {
        const char* value = "";
        if (sd_bus_message_read(message, "v", "s", &value) > 0)
            target = value;
    };
    const auto time = [&](uint64_t& target) {
        (void)sd_bus_message_read(message, "v", "t", &target);
    };
    const std::string_view key = name;
    if (key == "Id")
        return text(state.id);
    if (key == "LoadState")
        return text(state.load_state);
    if (key == "ActiveState")
        return text(state.active_state);
    if (key == "SubState")
        return text(state.sub_state);
    if (key == "UnitFileState")
        return text(state.file_state);
    if (key == "InactiveExitTimestampMonotonic")
        return time(state.inactive_exit);
    if (key == "ActiveExitTimestampMonotonic")
        return time(state.active_exit);
    if (key == "StateChangeTimestampMonotonic")
        return time(state.state_change);
    if (key == "Job") {
        uint32_t job = 0;
        const char* path = nullptr;
        if (sd_bus_message_read(message, "v", "(uo)", &job, &path) > 0)
            state.has_job = job != 0;
        return;
    }
    (void)sd_bus_message_skip(message, "v");
}

UnitState read_state(sd_bus_message* message)
{
    UnitState state;
    if (sd_bus_message_enter_container(message, 'a', "{sv}") < 0)
        return state;
    while (sd_bus_message_enter_container(message, 'e', "sv") > 0) {
        const char* name = nullptr;
        if (sd_bus_message_read(message, "s", &name) <= 0)
            break;
        read_property(message, name, state);
        if (sd_bus_message_exit_container(message) < 0)
            break;
    }
    return state;
}

/// Returns the number at the end of "/org/freedesktop/systemd1/job/17".
Result<uint32_t> job_of(sd_bus_message* message)
{
    const char* path = nullptr;
    if (sd_bus_message_read(message, "o", &path) <= 0)
        return fail(EBADMSG, "systemd: a job without a path");
    const std::string_view text = path;
    const auto id = text::parse_u32(text.substr(text.rfind('/') + 1));
    if (!id)
        return fail(EBADMSG, "systemd: a job without a number");
    return *id;
}

struct ListedAnchor {
    Orders::AnchorState state;
    uint32_t job; ///< 0: none
};

/// Returns the anchors by name.
std::map<std::string, ListedAnchor> read_anchors(sd_bus_message* message)
{
    std::map<std::string, ListedAnchor> anchors;
    if (sd_bus_message_enter_container(message, 'a', "(ssssssouso)") < 0)
        return anchors;
    const char* name = nullptr;
    const char* active = nullptr;
    const char* job = nullptr;
    uint32_t id = 0;
    while (sd_bus_message_read(message, "(ssssssouso)", &name, nullptr, nullptr, &active, nullptr,
                               nullptr, nullptr, &id, &job, nullptr) > 0) {
        const auto job_type = id == 0 ? std::string_view() : std::string_view(job);
        if (job_type == "stop")
            anchors.emplace(name, ListedAnchor{Orders::AnchorState::stopping, id});
        else if (std::string_view(active) == "active")
            anchors.emplace(name, ListedAnchor{Orders::AnchorState::up, id});
        else if (job_type == "start")
            anchors.emplace(name, ListedAnchor{Orders::AnchorState::starting, id});
    }
    return anchors;
}

void append_list(sd_bus_message* message, const char* key, const std::vector<std::string>& words)
{
    std::vector<char*> pointers;
    for (const auto& word : words)
        pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    (void)sd_bus_message_open_container(message, 'r', "sv");
    (void)sd_bus_message_append(message, "s", key);
    (void)sd_bus_message_open_container(message, 'v', "as");
    (void)sd_bus_message_append_strv(message, pointers.data());
    (void)sd_bus_message_close_container(message);
    (void)sd_bus_message_close_container(message);
}

/// Appends what hands a stop on to the unit.
void append_tie(sd_bus_message* message, const std::string& unit)
{
    append_list(message, "PropagatesStopTo", {unit});
    append_list(message, "Before", {unit});
}

void append_properties(sd_bus_message* message, const Anchor& anchor)
{
    (void)sd_bus_message_open_container(message, 'a', "(sv)");
    (void)sd_bus_message_append(message, "(sv)", "Description", "s", anchor.description.c_str());
    if (!anchor.device_unit.empty())
        append_list(message, "BindsTo", {anchor.device_unit});
    if (anchor.device_unit.empty()) {
        append_list(message, "After", {anchor.unit});
    } else if (anchor.group) {
        append_list(message, "After", {anchor.device_unit, *anchor.group});
        append_list(message, "Requires", {*anchor.group});
    } else {
        append_list(message, "After", {anchor.device_unit});
        append_tie(message, anchor.unit);
    }
    (void)sd_bus_message_close_container(message);
}

void append_group(sd_bus_message* message, const Anchor& anchor)
{
    (void)sd_bus_message_open_container(message, 'r', "sa(sv)");
    (void)sd_bus_message_append(message, "s", anchor.group->c_str());
    (void)sd_bus_message_open_container(message, 'a', "(sv)");
    const auto description = "any port for " + anchor.unit;
    (void)sd_bus_message_append(message, "(sv)(sv)", "Description", "s", description.c_str(),
                                "StopWhenUnneeded", "b", 1);
    append_tie(message, anchor.unit);
    (void)sd_bus_message_close_container(message);
    (void)sd_bus_message_close_container(message);
}

} // namespace

bool is_lost_on_its_way(const Error& error)
{
    constexpr std::array codes = {ETIMEDOUT,    ECONNRESET, ENOTCONN,
                                  ENOBUFS,      // the bus takes no more calls
                                  EHOSTUNREACH, // systemd is not on the bus for a moment
                                  ENXIO};
    return std::find(codes.begin(), codes.end(), error.code) != codes.end();
}

Result<std::unique_ptr<Manager>> Manager::create(sd_event* event, Events events,
                                                 Addresses addresses)
{
    std::unique_ptr<Manager> manager(new Manager(event, std::move(events), std::move(addresses)));
    if (auto outcome = manager->prepare(); !outcome)
        return tl::unexpected<Error>(std::move(outcome).error());
    manager->connect_to_bus();
    return manager;
}

Result<void> Manager::prepare()
{
    auto retry = EventSource::timer(event_, [this] {
        if (connection_ && sd_bus_is_open(connection_->get()) <= 0)
            connection_.reset();
        connect_to_bus();
    });
    auto impatience = EventSource::timer(event_, [this] { connect_directly(); });
    auto sweep = EventSource::deferred(event_, priority::work, [this] { spent_.clear(); });
    auto lost = EventSource::timer(event_, [this] { fetch_lost(); });
    for (auto* source : {&retry, &impatience, &sweep, &lost})
        if (!*source)
            return tl::unexpected<Error>(std::move(*source).error());
    retry_ = std::move(*retry);
    impatience_ = std::move(*impatience);
    sweep_ = std::move(*sweep);
    lost_ = std::move(*lost);
    return {};
}

/// Waits for the bus to come up if it is not there (sd_bus_set_watch_bind(3)).
void Manager::connect_to_bus()
{
    sd_bus* raw = nullptr;
    int code = sd_bus_new(&raw);
    coming_.reset(raw);
    if (code >= 0)
        code = sd_bus_set_address(raw, unix_address(addresses_.bus).c_str());
    if (code >= 0)
        code = sd_bus_set_bus_client(raw, 1);
    // anybody may send us a signal, and a descriptor in it could take minutes to close
    if (code >= 0)
        code = sd_bus_negotiate_fds(raw, 0);
    if (code >= 0)
        code = sd_bus_set_watch_bind(raw, 1);
    if (code >= 0)
        code = sd_bus_set_connected_signal(raw, 1);
    if (code >= 0)
        code = sd_bus_match_signal_async(
            raw, nullptr, "org.freedesktop.DBus.Local", "/org/freedesktop/DBus/Local",
            "org.freedesktop.DBus.Local", nullptr, on_local_signal, nullptr, this);
    if (code >= 0)
        code = sd_bus_start(raw);
    if (code >= 0)
        code = sd_bus_attach_event(raw, event_, priority::systemd);
    if (code < 0) {
        coming_.reset();
        retry_.arm(retry_delay);
        connect_directly();
        return;
    }
    // a bus that hangs up again and again before it says hello must not keep rdmad from PID 1
    if (!impatience_.is_armed())
        impatience_.arm(access(addresses_.bus.c_str(), F_OK) == 0 ? patience : 0s);
}

int Manager::on_local_signal(sd_bus_message* message, void* userdata, sd_bus_error*)
{
    auto* manager = static_cast<Manager*>(userdata);
    sd_bus* bus = sd_bus_message_get_bus(message);
    const bool is_coming = bus == manager->coming_.get();
    if (sd_bus_message_is_signal(message, nullptr, "Connected") > 0 && is_coming)
        manager->use(std::make_unique<Connection>(std::move(manager->coming_)));
    else if (sd_bus_message_is_signal(message, nullptr, "Disconnected") > 0)
        manager->lose(is_coming ? "" : "systemd: the connection broke off");
    return 0;
}

/// Connects to the socket that systemd(1) calls private. systemctl uses it, too, and early boot has
/// nothing else. Only root may.
void Manager::connect_directly()
{
    if (connection_)
        return;
    sd_bus* raw = nullptr;
    int code = sd_bus_new(&raw);
    Bus direct(raw);
    if (code >= 0)
        code = sd_bus_set_address(raw, unix_address(addresses_.direct).c_str());
    if (code >= 0)
        code = sd_bus_match_signal_async(
            raw, nullptr, "org.freedesktop.DBus.Local", "/org/freedesktop/DBus/Local",
            "org.freedesktop.DBus.Local", "Disconnected", on_local_signal, nullptr, this);
    if (code >= 0)
        code = sd_bus_start(raw);
    if (code >= 0)
        code = sd_bus_attach_event(raw, event_, priority::systemd);
    if (code < 0) {
        if (!std::exchange(is_absence_told_, true))
            events_.on_trouble({-code, "neither the system bus nor " + addresses_.direct});
        retry_.arm(retry_delay);
        return;
    }
    use(std::make_unique<Connection>(std::move(direct)));
}

void Manager::use(std::unique_ptr<Connection> connection)
{
    impatience_.disarm();
    // the old one may be the one whose signal is being handled
    for (auto& subscription : subscriptions_)
        spent_.push_back(std::move(subscription));
    subscriptions_.clear();
    for (auto& [interface, subscription] : changes_)
        spent_.push_back(std::move(subscription));
    changes_.clear();
    pending_.clear();
    aliases_.clear();
    for (auto& [unit, watch] : watches_)
        watch = {.watchers = watch.watchers};
    lost_.disarm();
    lost_pause_ = retry_delay;
    is_absence_told_ = false;
    connection_ = std::move(connection);
    subscribe();
    sweep_.arm_now();
    events_.on_connected();
}

void Manager::lose(const char* what)
{
    if (what[0] != '\0')
        events_.on_trouble({ENOTCONN, what});
    retry_.arm(retry_delay);
}

void Manager::subscribe()
{
    subscriptions_.push_back(
        connection_->on_manager_signal("Reloading", [this](sd_bus_message* message) {
            int is_active = 0;
            if (sd_bus_message_read(message, "b", &is_active) <= 0 || is_active)
                return;
            for (const auto& [unit, watch] : watches_)
                refresh(unit);
        }));
    subscriptions_.push_back(connection_->on_owner_changed([this](sd_bus_message* message) {
        const char* now = nullptr;
        if (sd_bus_message_read(message, "sss", nullptr, nullptr, &now) <= 0 || now[0] == '\0')
            return;
        // PID 1 was executed anew
        connection_->call(connection_->manager_call("Subscribe"), [](const auto&) {});
        events_.on_connected();
    }));
    subscriptions_.push_back(connection_->on_manager_signal(
        "JobRemoved", [this](sd_bus_message* message) { end_job(message); }));
    for (const auto& [unit, watch] : watches_)
        listen_to_changes(unit);
    connection_->call(connection_->manager_call("Subscribe"), [](const auto&) {});
}

/// Subscribes to what tells of changes of a unit and of others like it, once.
void Manager::listen_to_changes(const std::string& unit)
{
    const std::string interface = interface_of_changes(unit);
    if (changes_.contains(interface))
        return;
    changes_.emplace(
        interface,
        connection_->on_unit_changed(interface.c_str(), [this, interface](sd_bus_message* message) {
            for (const auto& changed : watched(unit_of_path(sd_bus_message_get_path(message))))
                if (interface == interface_of_changes(changed))
                    refresh(changed);
        }));
}

void Manager::end_job(sd_bus_message* message)
{
    uint32_t job = 0;
    const char* name = nullptr;
    const char* result = nullptr;
    if (sd_bus_message_read(message, "uoss", &job, nullptr, &name, &result) <= 0)
        return;
    const std::string unit = name;
    const std::string outcome = result;
    if (const auto pending = pending_.find(unit); pending != pending_.end()) {
        // another job is the stop of the anchor before it
        if (pending->second.job == job)
            end_pending(unit, outcome == "done" ? Result<void>()
                                                : fail(ECANCELED, unit + ": " + outcome));
    } else if (parse_anchor_name(unit) || unit.ends_with(keeper_suffix)) {
        events_.on_anchor_job(unit);
    } else if (unit.starts_with("rdma-port-ready@") && !watches_.contains(unit)) {
        events_.on_job(unit, job, outcome);
    } else {
        for (const auto& known : watched(unit))
            events_.on_job(known, job, outcome);
    }
}

/// Returns the names by which a unit is watched. PID 1 reports a unit by its own name alone.
std::vector<std::string> Manager::watched(const std::string& id) const
{
    std::vector<std::string> names;
    if (watches_.contains(id))
        names.push_back(id);
    const auto [first, last] = aliases_.equal_range(id);
    for (auto alias = first; alias != last; ++alias)
        names.push_back(alias->second);
    return names;
}

void Manager::watch(const std::string& unit)
{
    auto& watch = watches_[unit];
    watch.watchers++;
    if (!connection_)
        return;
    listen_to_changes(unit);
    fetch(unit, watch);
}

void Manager::unwatch(const std::string& unit)
{
    const auto found = watches_.find(unit);
    if (found == watches_.end() || --found->second.watchers > 0)
        return;
    watches_.erase(found);
    std::erase_if(aliases_, [&](const auto& alias) { return alias.second == unit; });
}

void Manager::refresh(const std::string& unit)
{
    const auto found = watches_.find(unit);
    if (found != watches_.end() && connection_)
        fetch(unit, found->second);
}

bool Manager::is_current(const std::string& unit) const
{
    const auto found = watches_.find(unit);
    return found != watches_.end() && !found->second.is_asked && !found->second.is_lost;
}

void Manager::fetch(const std::string& unit, Watch& watch)
{
    if (watch.is_asked) {
        watch.is_stale = true;
        return;
    }
    watch.is_asked = true;
    connection_->call(connection_->get_unit(unit), [this, unit](Result<sd_bus_message*> reply) {
        take_state(unit, std::move(reply));
    });
}

void Manager::take_state(const std::string& unit, Result<sd_bus_message*> reply)
{
    const auto found = watches_.find(unit);
    if (found == watches_.end())
        return;
    found->second.is_asked = false;
    if (std::exchange(found->second.is_stale, false)) {
        fetch(unit, found->second);
        return;
    }
    if (reply)
        return tell_state(unit, found->second, read_state(*reply));
    if (is_no_unit(reply.error()))
        return tell_state(unit, found->second,
                          {.load_state = "not-found", .active_state = "inactive"});
    // the next connection requests all
    if (!is_connected())
        return;
    // nobody else would request it again
    if (!lost_.is_armed()) {
        lost_.arm(lost_pause_);
        lost_pause_ = std::min<std::chrono::microseconds>(lost_pause_ * 2, longest_pause);
    }
    if (!std::exchange(found->second.is_lost, true))
        events_.on_trouble({reply.error().code, unit + ": " + reply.error().context});
}

void Manager::tell_state(const std::string& unit, Watch& watch, const UnitState& state)
{
    // what kept PID 1 from replying is over, for others as well
    if (std::exchange(watch.is_lost, false)) {
        lost_pause_ = retry_delay;
        lost_.arm(lost_pause_);
    }
    follow_alias(unit, watch, state.id);
    events_.on_unit(unit, state);
}

void Manager::fetch_lost()
{
    if (!is_connected())
        return;
    for (auto& [unit, watch] : watches_)
        if (watch.is_lost)
            fetch(unit, watch);
}

void Manager::follow_alias(const std::string& unit, Watch& watch, const std::string& id)
{
    if (id.empty() || id == unit || watch.id == id)
        return;
    watch.id = id;
    aliases_.emplace(id, unit);
    // earlier changes were not reported
    fetch(unit, watch);
}

void Manager::run_job(const char* method, const std::string& unit, const char* mode, OnJob on_job)
{
    if (!connection_)
        return on_job(fail(ENOTCONN, "systemd"));
    auto message = connection_->manager_call(method);
    if (message)
        (void)sd_bus_message_append(message.get(), "ss", unit.c_str(), mode);
    connection_->call(std::move(message),
                      [on_job = std::move(on_job)](Result<sd_bus_message*> reply) {
                          if (reply)
                              on_job(job_of(*reply));
                          else
                              on_job(tl::unexpected<Error>(std::move(reply).error()));
                      });
}

void Manager::start(const std::string& unit, OnJob on_job)
{
    run_job("StartUnit", unit, "replace", std::move(on_job));
}

void Manager::stop(const std::string& unit, OnJob on_job)
{
    run_job("StopUnit", unit, "replace", std::move(on_job));
}

void Manager::drop_anchor(const std::string& name, OnDone on_done)
{
    // otherwise its stop would be handed on to the unit
    run_job("StopUnit", name, "ignore-requirements",
            [on_done = std::move(on_done)](const Result<uint32_t>& job) {
                on_done(job || is_no_unit(job.error()) ? Result<void>()
                                                       : tl::unexpected<Error>(job.error()));
            });
}

void Manager::start_anchor(const Anchor& anchor, OnDone on_done)
{
    if (!connection_)
        return on_done(fail(ENOTCONN, "systemd"));
    pending_.insert_or_assign(anchor.name, Pending{std::move(on_done)});
    transient_call(anchor, anchor.group.has_value());
}

/// Starts an anchor, with its group or without. A group that exists cannot be made again: retries
/// without it. If it ended meanwhile, systemd knows no such unit: retries with it.
void Manager::transient_call(const Anchor& anchor, bool with_group)
{
    auto message = connection_->manager_call("StartTransientUnit");
    if (message) {
        (void)sd_bus_message_append(message.get(), "ss", anchor.name.c_str(), "replace");
        append_properties(message.get(), anchor);
        (void)sd_bus_message_open_container(message.get(), 'a', "(sa(sv))");
        if (with_group)
            append_group(message.get(), anchor);
        (void)sd_bus_message_close_container(message.get());
    }
    connection_->call(std::move(message), [this, anchor,
                                           with_group](Result<sd_bus_message*> reply) {
        const int refusal = reply ? 0 : reply.error().code;
        if (anchor.group && refusal == (with_group ? EEXIST : ENOENT))
            return transient_call(anchor, !with_group);
        take_anchor_job(anchor.name, reply ? job_of(*reply) : tl::unexpected<Error>(reply.error()));
    });
}

void Manager::take_anchor_job(const std::string& anchor, Result<uint32_t> job)
{
    const auto pending = pending_.find(anchor);
    if (pending == pending_.end())
        return;
    if (!job)
        return end_pending(anchor, tl::unexpected<Error>(std::move(job).error()));
    pending->second.job = *job;
    if (pending->second.is_cancelled)
        cancel_job(*job);
}

void Manager::cancel_anchor(const std::string& name)
{
    const auto pending = pending_.find(name);
    if (pending == pending_.end())
        return;
    pending->second.is_cancelled = true;
    if (pending->second.job)
        cancel_job(*pending->second.job);
}

/// Cancels a job. One that has ended meanwhile no longer exists, and its anchor stays.
void Manager::cancel_job(uint32_t job) const
{
    if (!connection_)
        return;
    auto message = connection_->manager_call("CancelJob");
    if (message)
        (void)sd_bus_message_append(message.get(), "u", job);
    connection_->call(std::move(message), [](const auto&) {});
}

void Manager::end_pending(const std::string& anchor, Result<void> outcome)
{
    auto pending = pending_.extract(anchor);
    if (!pending)
        return;
    pending.mapped().on_done(std::move(outcome));
}

/// Returns the anchors. Records the job of one that waits, so that it can be cancelled; drops that
/// of one that is up, as the job's end may not have been reported.
Manager::Anchors Manager::take_anchors(sd_bus_message* message)
{
    Anchors anchors;
    for (const auto& [name, anchor] : read_anchors(message)) {
        anchors.emplace(name, anchor.state);
        if (anchor.state == AnchorState::up)
            pending_.erase(name);
        else if (anchor.state == AnchorState::starting)
            pending_.try_emplace(
                name, Pending{[this, name = name](const auto&) { events_.on_anchor_job(name); },
                              anchor.job});
    }
    return anchors;
}

void Manager::list_anchors(OnAnchors on_anchors)
{
    if (!connection_)
        return on_anchors(fail(ENOTCONN, "systemd"));
    auto message = connection_->manager_call("ListUnitsByPatterns");
    if (message)
        (void)sd_bus_message_append(message.get(), "asas", 0, 1, anchor_pattern);
    connection_->call(std::move(message),
                      [this, on_anchors = std::move(on_anchors)](Result<sd_bus_message*> reply) {
                          if (reply)
                              on_anchors(take_anchors(*reply));
                          else
                              on_anchors(tl::unexpected<Error>(std::move(reply).error()));
                      });
}

} // namespace rdmad::systemd
