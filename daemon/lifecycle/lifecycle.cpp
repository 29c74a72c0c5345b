// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/lifecycle/lifecycle.hpp"

#include <algorithm>
#include <tuple>

namespace rdmad::lifecycle {

namespace {

using Kind = Event::Kind;

// of devices that are gone; what an administrator swaps in a boot is far less
constexpr size_t max_gone = 512;

bool has_usable_port(const Device& device)
{
    return std::any_of(device.ports.begin(), device.ports.end(),
                       [](const Port& port) { return port.is_ready(); });
}

/// Returns the path of the device or of a node, which is beside it; empty if udev reported none.
std::string syspath_of(const Device& device)
{
    if (!device.syspath.empty())
        return device.syspath;
    if (device.uverbs)
        return device.uverbs->syspath;
    for (const auto& port : device.ports)
        for (const auto& node : {port.umad, port.issm})
            if (node)
                return node->syspath;
    return {};
}

std::string above(const std::string& path)
{
    return path.substr(0, path.rfind('/'));
}

/// Returns the folder, below /sys, of ".../infiniband/mlx5_0", or of another class with its node.
std::string folder_of(const std::string& syspath)
{
    constexpr std::string_view root = "/sys/";
    const auto folder = above(above(syspath));
    const bool is_there = syspath.starts_with("/sys/devices/") && folder.starts_with(root);
    return is_there ? folder.substr(root.size()) : "";
}

Cause cause_of(Kinship kinship)
{
    if (kinship == Kinship::replaced)
        return Cause::replaced;
    return kinship == Kinship::moved ? Cause::moved : Cause::unknown;
}

/// Returns true if more has changed than when it was last touched.
bool is_worth_writing(Life before, const Life& now)
{
    before.active = now.active;
    return before != now;
}

} // namespace

Lifecycle::Lifecycle(const sysfs::Directory& root, Histories records, Settings settings,
                     Clock clock, Events events)
    : root_(root),
      records_(std::move(records)),
      settings_(settings),
      clock_(std::move(clock)),
      events_(std::move(events))
{
    auto known = records_.read();
    for (const auto& problem : known.problems)
        events_.on_trouble(problem);
    for (auto& history : known.histories) {
        history.is_confirmed = !is_present(history.life);
        // what is known of why it went may be all that there is
        history.evidence.is_partial = !history.life.is_judged;
        if (history.life.is_recovering)
            history.evidence.recovering = history.life.active;
        // one that is gone may have had the index before
        const auto [holder, is_only] = ids_.emplace(history.life.index, history.id);
        if (!is_only && history.life.appeared > histories_.at(holder->second).life.appeared)
            holder->second = history.id;
        histories_.emplace(history.id, std::move(history));
    }
}

History* Lifecycle::find_mutable(uint32_t index)
{
    return const_cast<History*>(find(index));
}

const History* Lifecycle::find(uint32_t index) const
{
    const auto id = ids_.find(index);
    return id == ids_.end() ? nullptr : &histories_.at(id->second);
}

// -- what is reported -----------------------------------------------------------------------------

void Lifecycle::on_device(const DeviceChange& change)
{
    const auto& device = change.device;
    auto* history = find_mutable(device.index);
    if (change.kind == DeviceChange::Kind::removed) {
        if (history)
            end(*history);
        return;
    }
    if (history && is_present(history->life) && !syspath_of(device).empty() &&
        is_another(device, *history)) {
        end_unseen(*history);
        history = nullptr;
    }
    if (!history || !is_present(history->life) || history->life.state == State::removing) {
        // before that its place is unknown, and so whom it was
        if (!syspath_of(device).empty())
            begin(device);
        return;
    }
    history->is_confirmed = true;
    if (change.kind == DeviceChange::Kind::port)
        happen(*history, {.kind = Kind::touched});
    update(*history, device);
}

void Lifecycle::reconcile(const std::set<uint32_t>& unknown)
{
    for (auto& [id, history] : histories_)
        if (!history.is_confirmed && !unknown.contains(history.life.index))
            end_unseen(history);
}

/// Ends an appearance that an earlier rdmad saw; udev will not report its end any more.
void Lifecycle::end_unseen(History& history)
{
    history.is_confirmed = true;
    history.evidence.is_partial = true;
    look_at_hardware(history);
    end(history);
}

void Lifecycle::begin(const Device& device)
{
    end_namesakes(device);
    auto [history, kinship] = ancestor_of(device);
    // the same appearance: it went into another network namespace, and came back
    const bool has_moved =
        history && kinship == Kinship::same && history->life.index == device.index && may_move();
    if (history && !history->is_confirmed)
        end_unseen(*history);
    if (!history || kinship == Kinship::replaced)
        history = add_history(device.index, history);
    history->node_guid = device.node_guid;
    // the kernel's first name tells an administrator nothing
    if (history->name.empty())
        history->name = device.name;
    happen(*history, {.kind = Kind::appeared,
                      .index = device.index,
                      .cause = has_moved ? Cause::netns_move : cause_of(kinship)});
    history->evidence = {};
    history->blinks = {};
    history->nodes.clear();
    update(*history, device);
}

/// Returns true if a device can be in another network namespace, where the kernel shows it to
/// nobody else. Where all see it, one with its index of before is one that ib_core, loaded anew,
/// counts.
bool Lifecycle::may_move() const
{
    return root_.read("module/ib_core/parameters/netns_mode").text == "N";
}

/// Adds a device. It goes on with the life of one that it replaced, which may come back elsewhere.
History* Lifecycle::add_history(uint32_t index, const History* predecessor)
{
    auto life = predecessor ? predecessor->life : Life();
    life.is_judged = true;
    drop_oldest();
    auto id = index;
    while (histories_.contains(id))
        id++;
    auto& history = histories_[id];
    history = {.id = id, .life = std::move(life)};
    return &history;
}

/// Ends removals whose end udev did not report, and appearances that an earlier rdmad saw: the
/// device has the index, or the name in its place.
void Lifecycle::end_namesakes(const Device& device)
{
    const auto folder = folder_of(syspath_of(device));
    for (auto& [id, history] : histories_) {
        if (history.life.state != State::removing && history.is_confirmed)
            continue;
        const bool has_place =
            history.name == device.name && folder_of(history.place.syspath) == folder;
        const bool is_over =
            history.life.index == device.index ? is_another(device, history) : has_place;
        if (!is_over)
            continue;
        if (!history.is_confirmed)
            end_unseen(history);
        if (history.life.state == State::removing)
            go(history);
    }
}

/// Returns true if the device with the index of this history is not the one that had it: ib_core,
/// when loaded anew, counts from 0 again. A GUID of 0 or empty hardware shows nothing.
bool Lifecycle::is_another(const Device& device, const History& history) const
{
    if (device.node_guid != 0 && history.node_guid != 0)
        return device.node_guid != history.node_guid;
    const auto hardware = hardware_of(syspath_of(device));
    return !hardware.empty() && !history.place.hardware.empty() &&
           hardware != history.place.hardware;
}

/// Returns which known device it was before, if any: rather by its GUID than by its place, and of
/// several the last that was there.
std::pair<History*, Kinship> Lifecycle::ancestor_of(const Device& device)
{
    if (auto* history = find_mutable(device.index); history && !is_another(device, *history))
        return {history, Kinship::same};
    const auto rank = [](const History& known, Kinship how) {
        return std::tuple(how == Kinship::same, how == Kinship::moved, known.life.appeared);
    };
    std::pair<History*, Kinship> best = {nullptr, Kinship::none};
    const auto hardware = hardware_of(syspath_of(device));
    for (auto& [id, history] : histories_) {
        const auto kin =
            kinship(device.node_guid, hardware, history.node_guid, history.place.hardware);
        const bool is_here = is_present(history.life) && history.is_confirmed;
        if (is_here || kin == Kinship::none)
            continue;
        if (!best.first || rank(history, kin) > rank(*best.first, best.second))
            best = {&history, kin};
    }
    return best;
}

void Lifecycle::update(History& history, const Device& device)
{
    history.name = device.name;
    history.path = device.path;
    // they go one after the other before the device does
    history.nodes.merge(nodes_of(device));
    // where it was is still to be known when its nodes have gone
    const auto syspath = syspath_of(device);
    if (!syspath.empty() && history.place.syspath != syspath)
        history.place = {syspath, device.driver, hardware_of(syspath)};
    happen(history, {.kind = Kind::ports, .flag = has_usable_port(device)});
    if (device.is_named)
        happen(history, {.kind = Kind::named});
}

/// Returns what a device hangs on: in sysfs a node above ".../infiniband/mlx5_0", or above the
/// auxiliary device there.
std::string Lifecycle::hardware_of(const std::string& syspath) const
{
    const auto parent = folder_of(syspath);
    if (parent.empty() || parent.starts_with("devices/virtual"))
        return {};
    return root_.link_name(parent + "/subsystem") == "auxiliary" ? above(parent) : parent;
}

void Lifecycle::look_at_hardware(History& history) const
{
    if (!history.place.hardware.empty() && !root_.contains(history.place.hardware))
        history.evidence.was_bus_removed = true;
}

/// Begins a removal, and ends it if sysfs lacks the device. The kernel refuses to describe a device
/// from its begin on; in sysfs it stays until its holders have let go.
void Lifecycle::end(History& history)
{
    happen(history, {.kind = Kind::removing});
    if (!is_in_sysfs(history))
        go(history);
}

void Lifecycle::go(History& history)
{
    happen(history, {.kind = Kind::gone});
    judge(history);
}

bool Lifecycle::is_in_sysfs(const History& history) const
{
    // another device may have its name by now
    const auto folder = folder_of(history.place.syspath);
    return root_.contains("class/infiniband/" + history.name) &&
           (folder.empty() || root_.contains(folder + "/infiniband/" + history.name));
}

/// Returns true for the first node to be back. When udev handles a node that went, the device may
/// be there again, and be taken for what it was: a storm of returns is faster than udev.
bool Lifecycle::has_blinked(History& history, const UdevEvent& event)
{
    const bool is_there = is_present(history.life) && history.life.state != State::removing;
    if (event.subsystem == "infiniband" || event.index != history.life.index || !is_there ||
        !history.is_confirmed || event.is_synthetic)
        return false;
    auto& [away, returns, count] = history.blinks;
    const auto& node = event.node.sysname;
    if (event.action == "remove")
        away.insert(node);
    const bool is_back = event.action == "add" && away.erase(node) > 0;
    return is_back && ++returns[node] > count && ++count > 0;
}

void Lifecycle::on_udev(const UdevEvent& event)
{
    const bool is_end = event.subsystem == "infiniband" && event.action == "remove";
    for (auto& [id, history] : histories_) {
        if (is_end && history.life.state == State::removing && history.name == event.node.sysname)
            go(history);
        else if (has_blinked(history, event))
            happen(history, {.kind = Kind::blinked});
        else if (is_present(history.life) || !history.life.is_judged)
            learn(history, event);
    }
}

void Lifecycle::learn(History& history, const UdevEvent& event)
{
    if (!add(history.evidence, event, history.place, clock_()))
        return;
    if (!is_present(history.life))
        judge(history);
    else if (!event.error_event.empty())
        happen(history, {.kind = Kind::recovery, .flag = history.evidence.recovering.has_value()});
}

void Lifecycle::on_devlink(const nldev::DevlinkNotice& notice)
{
    const auto news = functions_.learn(notice);
    if (news == Functions::News::none)
        return;
    for (auto& [id, history] : histories_)
        if (hangs_on(history.place, notice.device))
            learn(history, news);
}

/// Takes devlink's news. As a rule, it reports a reload when the device is back.
void Lifecycle::learn(History& history, Functions::News news)
{
    const auto before = history.life.cause;
    if (news == Functions::News::reloaded)
        happen(history, {.kind = Kind::reload});
    const bool is_over = is_present(history.life) && history.life.cause != before;
    if (!is_over)
        add(history.evidence, news, clock_());
    if (!is_present(history.life) && !history.life.is_judged)
        judge(history);
}

void Lifecycle::judge(History& history)
{
    look_at_hardware(history);
    const auto cause = classify(history.evidence, history.place, history.life.went);
    // an earlier rdmad may have known more
    if (cause != Cause::unknown)
        happen(history, {.kind = Kind::cause, .cause = cause});
}

void Lifecycle::pass_time()
{
    for (auto& [id, history] : histories_) {
        // in case that udev did not report it
        if (history.life.state == State::removing && !is_in_sysfs(history))
            go(history);
        else if (!history.life.is_judged)
            judge(history);
        happen(history, {.kind = Kind::time});
    }
}

void Lifecycle::on_holders(const HolderReport& report)
{
    // the numbers of nodes that went may be others' by now
    std::set<std::string> others;
    for (const auto& [id, history] : histories_)
        if (is_present(history.life) && history.life.state != State::removing)
            others.insert(history.nodes.begin(), history.nodes.end());
    for (auto& [id, history] : histories_) {
        if (history.life.state != State::removing)
            continue;
        auto left = history.nodes;
        std::erase_if(left, [&](const std::string& node) { return others.contains(node); });
        auto holders = holders_of(report.holders, left, history.nodes);
        if (history.holders == holders || (report.unread && holders.empty()))
            continue;
        history.holders = std::move(holders);
        if (history.life.is_blocked)
            tell_holders(history);
    }
}

void Lifecycle::tell_holders(const History& history) const
{
    const auto state = history.life.state;
    events_.on_change(history, {.kind = Change::Kind::holders, .before = state, .now = state});
}

std::vector<const History*> Lifecycle::removing() const
{
    std::vector<const History*> all;
    for (const auto& [id, history] : histories_)
        if (history.life.state == State::removing)
            all.push_back(&history);
    return all;
}

bool Lifecycle::is_removing(uint32_t index) const
{
    const auto* history = find(index);
    return history && history->life.state == State::removing;
}

// -- what follows ---------------------------------------------------------------------------------

void Lifecycle::happen(History& history, const Event& event)
{
    const auto before = history.life;
    auto outcome = step(before, event, settings_, clock_());
    history.life = std::move(outcome.life);
    if (event.kind == Kind::appeared)
        follow_index(history, before.index);
    if (history.life.state != State::removing)
        history.holders.reset();
    if (is_worth_writing(before, history.life))
        unwritten_.insert(history.id);
    for (const auto& change : outcome.changes)
        events_.on_change(history, change);
    if (history.life.is_blocked && !before.is_blocked && history.holders)
        tell_holders(history);
    events_.on_plan();
}

void Lifecycle::follow_index(const History& history, uint32_t before)
{
    if (const auto known = ids_.find(before); known != ids_.end() && known->second == history.id)
        ids_.erase(known);
    ids_.insert_or_assign(history.life.index, history.id);
}

void Lifecycle::remember()
{
    std::erase_if(unwritten_, [this](uint32_t id) {
        const auto found = histories_.find(id);
        if (found == histories_.end())
            return true;
        const auto outcome = records_.write(found->second);
        if (!outcome && !std::exchange(is_trouble_told_, true))
            events_.on_trouble(outcome.error());
        return outcome.has_value();
    });
    is_trouble_told_ = has_unwritten();
}

std::optional<Time> Lifecycle::next_deadline() const
{
    std::optional<Time> next;
    const auto consider = [&](Time due) { next = std::min(next.value_or(due), due); };
    for (const auto& [id, history] : histories_)
        if (const auto due = lifecycle::next_deadline(history.life, settings_); due)
            consider(*due);
    return next;
}

std::set<uint32_t> Lifecycle::awaited() const
{
    std::set<uint32_t> indexes;
    for (const auto& [id, history] : histories_)
        if (history.life.state == State::settling && !history.life.has_ports)
            indexes.insert(history.life.index);
    return indexes;
}

bool Lifecycle::is_ready(uint32_t index) const
{
    const auto* history = find(index);
    return history && may_start(history->life) && lifecycle::is_ready(history->life);
}

Obstacle Lifecycle::obstacle(uint32_t index, const Wishes& wishes) const
{
    const auto* history = find(index);
    if (!history)
        return {};
    const auto& life = history->life;
    if (wishes.accepted && !life.is_accepted)
        return {history->name + " is in place of another device; rdmactl accept " + history->name +
                " if that is right"};
    // while none of its ports can be used, the unit waits for that
    const bool settles = wishes.ready && life.has_ports && !lifecycle::is_ready(life);
    if (may_start(life))
        return settles ? Obstacle{history->name + " has yet to settle", true} : Obstacle();
    if (life.state == State::draining)
        return {history->name + " is prepared for removal; rdmactl resume " + history->name +
                " undoes that"};
    if (life.held_until)
        return {history->name + " came back " + std::to_string(life.returns.size()) +
                    " times in a short while, and is held; rdmactl release " + history->name +
                    " ends that",
                true};
    return {history->name + " is being removed"};
}

bool Lifecycle::order(uint32_t index, Kind kind)
{
    auto* history = find_mutable(index);
    if (history)
        happen(*history, {.kind = kind});
    return history != nullptr;
}

bool Lifecycle::release(uint32_t index)
{
    return order(index, Kind::release);
}

bool Lifecycle::accept(uint32_t index)
{
    return order(index, Kind::accept);
}

bool Lifecycle::drain(uint32_t index)
{
    return order(index, Kind::drain);
}

bool Lifecycle::resume(uint32_t index)
{
    return order(index, Kind::resume);
}

void Lifecycle::drop_oldest()
{
    const auto count = std::count_if(histories_.begin(), histories_.end(), [](const auto& entry) {
        return !is_present(entry.second.life);
    });
    if (static_cast<size_t>(count) < max_gone)
        return;
    auto oldest = histories_.end();
    for (auto entry = histories_.begin(); entry != histories_.end(); ++entry)
        if (!is_present(entry->second.life) &&
            (oldest == histories_.end() || entry->second.life.went < oldest->second.life.went))
            oldest = entry;
    records_.remove(oldest->first);
    if (const auto id = ids_.find(oldest->second.life.index);
        id != ids_.end() && id->second == oldest->first)
        ids_.erase(id);
    histories_.erase(oldest);
}

} // namespace rdmad::lifecycle
