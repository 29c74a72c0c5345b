// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace rdmad::ctl {

enum ExitCode {
    exit_fine = 0,
    exit_failed = 1,
    exit_usage = 2,
    exit_not_active = 3,
    exit_inhibited = 4,
    exit_in_use = 5
};

/// The reason why something was not done, for a person. Nothing in it is escaped yet.
struct [[nodiscard]] Complaint {
    enum class Kind {
        failed,
        usage,
        unreachable, ///< rdmad does not run
        late,        ///< a deadline has passed
        hung_up,     ///< rdmad did
        broken,      ///< its reply makes no sense
        refused,     ///< rdmad replied with an error
    };
    Kind kind = Kind::failed;
    std::string text = {};
    std::string error = {}; ///< of varlink, where it is refused: "io.rdmad.Devices.NoSuchDevice"
    nlohmann::json parameters = {}; ///< of that error
};

/// Returns true if rdmad cannot have got a request: systemd takes connections for it, and breaks
/// them where it must not start it.
[[nodiscard]] inline bool does_not_run(const Complaint& complaint)
{
    return complaint.kind == Complaint::Kind::unreachable ||
           complaint.kind == Complaint::Kind::hung_up;
}

/// A value, or why there is none.
template <typename T>
using Answer = tl::expected<T, Complaint>;

[[nodiscard]] inline tl::unexpected<Complaint> complaint(Complaint::Kind kind, std::string text)
{
    return tl::unexpected<Complaint>(Complaint{kind, std::move(text)});
}

[[nodiscard]] inline tl::unexpected<Complaint> failed(std::string text)
{
    return complaint(Complaint::Kind::failed, std::move(text));
}

/// Passes on the complaint of another answer.
template <typename T>
[[nodiscard]] tl::unexpected<Complaint> as_told(Answer<T>& answer)
{
    return tl::unexpected<Complaint>(std::move(answer.error()));
}

} // namespace rdmad::ctl
