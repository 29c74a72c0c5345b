// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace rdmad::varlink {

/// Keeps what strangers can cause from filling a log: one line for each reason and 10 seconds. It
/// needs no timer: what was kept back is counted in the next line for that reason.
class Throttle {
public:
    /// Returns the line; nullopt if kept back. Reasons come from a fixed set: each takes memory.
    [[nodiscard]] std::optional<std::string> line(const std::string& reason,
                                                  const std::string& details, uint64_t now_usec);

private:
    struct Past {
        uint64_t told_usec;
        uint64_t kept_back;
    };
    std::map<std::string, Past> past_;
};

} // namespace rdmad::varlink
