// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/support/socket_pid1.hpp"

#include "tests/catch.hpp"

#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace rdmad::test {

namespace {

constexpr char manager_path[] = "/org/freedesktop/systemd1";
constexpr char manager_interface[] = "org.freedesktop.systemd1.Manager";
constexpr char unit_interface[] = "org.freedesktop.systemd1.Unit";
constexpr char name_on_bus[] = ":1.0";
constexpr char client_on_bus[] = ":1.7";

std::string job_path(uint32_t job)
{
    return std::string(manager_path) + "/job/" + std::to_string(job);
}

/// Reads a variant: text, a truth value, or a list.
std::string read_value(sd_bus_message* message)
{
    const char* contents = nullptr;
    REQUIRE(sd_bus_message_peek_type(message, nullptr, &contents) > 0);
    const std::string type = contents;
    REQUIRE(sd_bus_message_enter_container(message, 'v', type.c_str()) > 0);
    std::string text;
    const char* word = nullptr;
    int flag = 0;
    if (type == "as") {
        REQUIRE(sd_bus_message_enter_container(message, 'a', "s") > 0);
        while (sd_bus_message_read(message, "s", &word) > 0)
            text += (text.empty() ? "" : ",") + std::string(word);
        REQUIRE(sd_bus_message_exit_container(message) >= 0);
    } else if (type == "b") {
        REQUIRE(sd_bus_message_read(message, "b", &flag) > 0);
        text = flag ? "yes" : "no";
    } else {
        REQUIRE(sd_bus_message_read(message, "s", &word) > 0);
        text = word;
    }
    REQUIRE(sd_bus_message_exit_container(message) >= 0);
    return text;
}

/// Reads the properties of a transient unit, each as " Key=value".
std::string read_properties(sd_bus_message* message)
{
    std::string text;
    REQUIRE(sd_bus_message_enter_container(message, 'a', "(sv)") > 0);
    while (sd_bus_message_enter_container(message, 'r', "sv") > 0) {
        const char* key = nullptr;
        REQUIRE(sd_bus_message_read(message, "s", &key) > 0);
        text += " " + std::string(key) + "=";
        text += read_value(message);
        REQUIRE(sd_bus_message_exit_container(message) >= 0);
    }
    REQUIRE(sd_bus_message_exit_container(message) >= 0);
    return text;
}

/// Reads what a transient unit brings with it, each as " + name Key=value".
std::string read_auxiliary(sd_bus_message* message)
{
    std::string text;
    REQUIRE(sd_bus_message_enter_container(message, 'a', "(sa(sv))") >= 0);
    while (sd_bus_message_enter_container(message, 'r', "sa(sv)") > 0) {
        const char* name = nullptr;
        REQUIRE(sd_bus_message_read(message, "s", &name) > 0);
        text += " + " + std::string(name);
        text += read_properties(message);
        REQUIRE(sd_bus_message_exit_container(message) >= 0);
    }
    return text;
}

std::string read_question(sd_bus_message* message)
{
    std::string question = sd_bus_message_get_member(message);
    const char* word = nullptr;
    uint32_t number = 0;
    if (question == "GetAll")
        return question + " " + systemd::unit_of_path(sd_bus_message_get_path(message));
    if (question == "CancelJob" && sd_bus_message_read(message, "u", &number) > 0)
        return question + " " + std::to_string(number);
    if (question == "ListUnitsByPatterns") {
        REQUIRE(sd_bus_message_skip(message, "as") >= 0);
        REQUIRE(sd_bus_message_enter_container(message, 'a', "s") > 0);
    }
    // unit and mode, or patterns
    while (sd_bus_message_read(message, "s", &word) > 0) {
        question += " " + std::string(word);
        char type = 0;
        if (sd_bus_message_peek_type(message, &type, nullptr) <= 0 || type != 's')
            break;
    }
    if (question.starts_with("StartTransientUnit")) {
        question += read_properties(message);
        question += read_auxiliary(message);
    }
    return question;
}

void append_state(sd_bus_message* reply, const systemd::UnitState& state)
{
    const auto text = [&](const char* key, const std::string& value) {
        REQUIRE(sd_bus_message_append(reply, "{sv}", key, "s", value.c_str()) >= 0);
    };
    const auto time = [&](const char* key, uint64_t value) {
        REQUIRE(sd_bus_message_append(reply, "{sv}", key, "t", value) >= 0);
    };
    REQUIRE(sd_bus_message_open_container(reply, 'a', "{sv}") >= 0);
    text("Id", state.id);
    text("LoadState", state.load_state);
    text("ActiveState", state.active_state);
    text("SubState", state.sub_state);
    text("UnitFileState", state.file_state);
    REQUIRE(sd_bus_message_append(reply, "{sv}", "Job", "(uo)", state.has_job ? 5U : 0U,
                                  job_path(5).c_str()) >= 0);
    // one that nobody asked for
    REQUIRE(sd_bus_message_append(reply, "{sv}", "Names", "as", 1, state.id.c_str()) >= 0);
    time("InactiveExitTimestampMonotonic", state.inactive_exit);
    time("ActiveExitTimestampMonotonic", state.active_exit);
    time("StateChangeTimestampMonotonic", state.state_change);
    REQUIRE(sd_bus_message_close_container(reply) >= 0);
}

void append_listed(sd_bus_message* reply, const std::vector<SocketPid1::Listed>& listed)
{
    REQUIRE(sd_bus_message_open_container(reply, 'a', "(ssssssouso)") >= 0);
    for (const auto& [unit, active_state, job, job_type] : listed)
        REQUIRE(sd_bus_message_append(reply, "(ssssssouso)", unit.c_str(), "", "loaded",
                                      active_state.c_str(), "", "",
                                      systemd::unit_path(unit).c_str(), job, job_type.c_str(),
                                      job_path(job).c_str()) >= 0);
    REQUIRE(sd_bus_message_close_container(reply) >= 0);
}

void append_store(sd_bus_message* reply, const std::vector<SocketPid1::StoredFile>& store)
{
    constexpr uint64_t inode = 300;
    REQUIRE(sd_bus_message_open_container(reply, 'a', "(suuutuusu)") >= 0);
    for (const auto& [mode, major, minor, path] : store)
        REQUIRE(sd_bus_message_append(reply, "(suuutuusu)", "stored", mode, 0, 5, inode, major,
                                      minor, path.c_str(), 2) >= 0);
    REQUIRE(sd_bus_message_close_container(reply) >= 0);
}

} // namespace

SocketPid1::SocketPid1(sd_event* event, const std::string& path)
    : event_(event),
      path_(path),
      socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0))
{
    sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
    REQUIRE(path.size() < sizeof address.sun_path);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    REQUIRE(bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(listen(socket_.get(), SOMAXCONN) == 0);
    auto source = EventSource::io(event, socket_.get(), 0, [this] { accept(); });
    REQUIRE(source.has_value());
    source_ = std::move(*source);
}

SocketPid1::~SocketPid1()
{
    (void)unlink(path_.c_str());
}

std::vector<std::string> SocketPid1::take()
{
    return std::exchange(asked, {});
}

int64_t SocketPid1::count(const std::string& question) const
{
    return std::count(asked.begin(), asked.end(), question);
}

int64_t SocketPid1::connections() const
{
    return std::count_if(peers_.begin(), peers_.end(),
                         [](const systemd::Bus& peer) { return sd_bus_is_open(peer.get()) > 0; });
}

bool SocketPid1::can_pass_descriptors() const
{
    return std::any_of(peers_.begin(), peers_.end(), [](const systemd::Bus& peer) {
        return sd_bus_can_send(peer.get(), 'h') > 0;
    });
}

void SocketPid1::drop_connections()
{
    kept_.clear();
    peers_.clear();
}

void SocketPid1::accept()
{
    const int fd = accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    REQUIRE(fd >= 0);
    sd_bus* raw = nullptr;
    REQUIRE(sd_bus_new(&raw) >= 0);
    peers_.emplace_back(raw);
    REQUIRE(sd_bus_set_fd(raw, fd, fd) >= 0);
    REQUIRE(sd_bus_set_server(raw, 1, sd_id128_t{}) >= 0);
    REQUIRE(sd_bus_add_filter(raw, nullptr, on_message, this) >= 0);
    REQUIRE(sd_bus_start(raw) >= 0);
    REQUIRE(sd_bus_attach_event(raw, event_, 0) >= 0);
}

int SocketPid1::on_message(sd_bus_message* message, void* userdata, sd_bus_error*)
{
    auto* pid1 = static_cast<SocketPid1*>(userdata);
    if (sd_bus_message_is_method_call(message, nullptr, nullptr) <= 0)
        return 0;
    const std::string_view member = sd_bus_message_get_member(message);
    if (member == "Hello")
        return sd_bus_reply_method_return(message, "s", client_on_bus);
    if (member == "AddMatch")
        pid1->matches.push_back(read_question(message));
    if (member == "AddMatch" || member == "RemoveMatch")
        return sd_bus_reply_method_return(message, nullptr);
    pid1->asked.push_back(read_question(message));
    if (pid1->answers)
        pid1->answer(message);
    else
        pid1->kept_.emplace_back(sd_bus_message_ref(message));
    return 1;
}

void SocketPid1::answer_kept()
{
    answers = true;
    for (const auto& call : std::exchange(kept_, {}))
        answer(call.get());
}

void SocketPid1::answer(sd_bus_message* call)
{
    REQUIRE(sd_bus_message_rewind(call, 1) >= 0);
    const auto question = read_question(call);
    if (const auto error = refused.find(question); error != refused.end()) {
        (void)sd_bus_reply_method_errorf(call, error->second.c_str(), "PID 1 refuses");
        return;
    }
    sd_bus_message* raw = nullptr;
    REQUIRE(sd_bus_message_new_method_return(call, &raw) >= 0);
    const systemd::Message reply(raw);
    if (question.starts_with("GetAll "))
        append_state(raw, units[question.substr(std::strlen("GetAll "))]);
    else if (question.starts_with("ListUnits"))
        append_listed(raw, listed);
    else if (question.starts_with("DumpUnitFileDescriptorStore "))
        append_store(raw, stores[question.substr(std::strlen("DumpUnitFileDescriptorStore "))]);
    else if (question.starts_with("Start") || question.starts_with("StopUnit"))
        REQUIRE(sd_bus_message_append(raw, "o", job_path(next_job++).c_str()) >= 0);
    REQUIRE(sd_bus_send(nullptr, raw, nullptr) >= 0);
}

template <typename Append>
void SocketPid1::send(const char* path, const char* interface, const char* member,
                      const char* sender, Append append)
{
    for (const auto& peer : peers_) {
        if (sd_bus_is_open(peer.get()) <= 0)
            continue;
        sd_bus_message* raw = nullptr;
        REQUIRE(sd_bus_message_new_signal(peer.get(), &raw, path, interface, member) >= 0);
        const systemd::Message signal(raw);
        REQUIRE(sd_bus_message_set_sender(raw, sender) >= 0);
        REQUIRE(append(raw) >= 0);
        REQUIRE(sd_bus_send(peer.get(), raw, nullptr) >= 0);
    }
}

void SocketPid1::tell_job_removed(uint32_t job, const std::string& unit, const std::string& result,
                                  bool is_for_client_alone)
{
    send(manager_path, manager_interface, "JobRemoved", name_on_bus, [&](sd_bus_message* signal) {
        if (is_for_client_alone)
            REQUIRE(sd_bus_message_set_destination(signal, client_on_bus) >= 0);
        return sd_bus_message_append(signal, "uoss", job, job_path(job).c_str(), unit.c_str(),
                                     result.c_str());
    });
}

void SocketPid1::tell_changed(const std::string& unit)
{
    // that of the type first, where it has properties that change (send_changed_signal())
    std::vector<const char*> interfaces = {unit_interface};
    if (unit.ends_with(".service"))
        interfaces.insert(interfaces.begin(), "org.freedesktop.systemd1.Service");
    for (const auto* changed : interfaces)
        send(systemd::unit_path(unit).c_str(), "org.freedesktop.DBus.Properties",
             "PropertiesChanged", name_on_bus, [&](sd_bus_message* signal) {
                 return sd_bus_message_append(signal, "sa{sv}as", changed, 0, 0);
             });
}

void SocketPid1::tell_reloading(bool is_active)
{
    send(manager_path, manager_interface, "Reloading", name_on_bus, [&](sd_bus_message* signal) {
        return sd_bus_message_append(signal, "b", static_cast<int>(is_active));
    });
}

void SocketPid1::tell_owner(const std::string& owner)
{
    send("/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged",
         "org.freedesktop.DBus", [&](sd_bus_message* signal) {
             return sd_bus_message_append(signal, "sss", "org.freedesktop.systemd1",
                                          owner.empty() ? name_on_bus : "", owner.c_str());
         });
}

} // namespace rdmad::test
