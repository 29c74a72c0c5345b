// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/unique_fd.hpp"
#include "ctl/complaint.hpp"

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace rdmad::ctl {

using Json = nlohmann::json;

/// When to give up; nullopt: never.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;

/// Returns a deadline long enough for systemd to start rdmad for the call.
[[nodiscard]] Deadline answer_deadline();

/// One reply of several, or the only one.
struct Message {
    Json parameters = Json::object();
    std::string error = {}; ///< empty: it worked
    bool continues = false;
};

/// Parses what rdmad sent, without the NUL. Never throws, whatever the bytes are.
[[nodiscard]] Answer<Message> parse_message(std::string_view bytes);

/// Returns what an error of varlink means to a person.
[[nodiscard]] std::string explain_error(const std::string& error, const Json& parameters);

/// Where rdmad listens, unless rdmad.socket says otherwise.
constexpr char default_socket[] = "/run/rdmad/io.rdmad";

/// Returns what a refused connection means, and what to do.
[[nodiscard]] std::string explain_no_connection(const std::string& path, int code);

/// Speaks varlink with rdmad, a call after the other.
class Client {
public:
    static constexpr size_t max_message = size_t{64} << 20U;

    [[nodiscard]] static Answer<Client> connect(const std::string& path, Deadline deadline);
    explicit Client(UniqueFd socket) : socket_(std::move(socket)) {}

    /// Makes a call that has one reply. Returns its parameters, an object.
    [[nodiscard]] Answer<Json> call(const std::string& method, const Json& parameters,
                                    Deadline deadline = answer_deadline());

    /// Makes a call that has many; take them with next().
    [[nodiscard]] Answer<void> call_more(const std::string& method, const Json& parameters,
                                         Deadline deadline = answer_deadline());
    /// Returns the next reply. Returns nullopt if an error on the descriptor watched, as when its
    /// other end goes, or one of watched_events of poll(2) ends the wait.
    [[nodiscard]] Answer<std::optional<Json>> next(Deadline deadline, int watched = -1,
                                                   short watched_events = 0);

private:
    [[nodiscard]] Answer<void> send(const Json& message, Deadline deadline);
    [[nodiscard]] std::optional<std::string> take();
    [[nodiscard]] Answer<void> read_some();

    UniqueFd socket_;
    std::string inbox_;
    size_t searched_ = 0; ///< of inbox_, where no NUL was found
};

} // namespace rdmad::ctl
