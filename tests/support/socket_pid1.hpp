// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/unique_fd.hpp"
#include "daemon/event.hpp"
#include "daemon/systemd/bus.hpp"
#include "daemon/systemd/unit_state.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace rdmad::test {

/// PID 1 at the other end of a socket, as systemd's own tools reach it; and as clients of the bus
/// do, as it grants them a name and their matches as well. Writes down what it is asked for, and
/// does nothing of it by itself.
class SocketPid1 {
public:
    /// A row of ListUnitsByPatterns.
    struct Listed {
        std::string unit;
        std::string active_state;
        uint32_t job = 0;
        std::string job_type = {};
    };
    /// A row of DumpUnitFileDescriptorStore.
    struct StoredFile {
        uint32_t mode;
        uint32_t major; ///< of the device; that of the file system is 0:5
        uint32_t minor;
        std::string path;
    };

    std::vector<std::string> asked = {};             ///< "StartUnit a.service replace"
    bool answers = true;                             ///< not: calls are kept until answer_kept()
    std::vector<std::string> matches = {};           ///< rules that a bus was asked for
    std::map<std::string, std::string> refused = {}; ///< names of errors, by what is asked
    std::map<std::string, systemd::UnitState> units = {};
    std::vector<Listed> listed = {};
    std::map<std::string, std::vector<StoredFile>> stores = {}; ///< by unit
    uint32_t next_job = 17;

    SocketPid1(sd_event* event, const std::string& path);
    SocketPid1(const SocketPid1&) = delete;
    SocketPid1& operator=(const SocketPid1&) = delete;
    ~SocketPid1();

    /// What was asked since the last time.
    std::vector<std::string> take();
    [[nodiscard]] int64_t count(const std::string& question) const;
    void answer_kept();
    [[nodiscard]] int64_t connections() const;
    /// Returns true if some client takes descriptors in messages.
    [[nodiscard]] bool can_pass_descriptors() const;
    /// As when PID 1 is executed anew.
    void drop_connections();

    // Signals

    void tell_job_removed(uint32_t job, const std::string& unit, const std::string& result,
                          bool is_for_client_alone = false);
    void tell_changed(const std::string& unit);
    void tell_reloading(bool is_active);
    /// From the bus: PID 1 has left it (empty), or is there.
    void tell_owner(const std::string& owner);

private:
    void accept();
    static int on_message(sd_bus_message* message, void* pid1, sd_bus_error* error);
    void answer(sd_bus_message* call);
    template <typename Append>
    void send(const char* path, const char* interface, const char* member, const char* sender,
              Append append);

    sd_event* event_;
    std::string path_;
    UniqueFd socket_;
    std::vector<systemd::Bus> peers_;
    std::vector<systemd::Message> kept_;
    EventSource source_;
};

} // namespace rdmad::test
