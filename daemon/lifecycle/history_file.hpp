// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"
#include "daemon/holders/holder.hpp"
#include "daemon/lifecycle/evidence.hpp"

#include <string>
#include <string_view>
#include <vector>

// /run/rdmad/devices/N: the record of a device that first had index N.

namespace rdmad::lifecycle {

/// Nodes of an appearance that went and came back, as udev says, while it stayed.
struct Blinks {
    std::set<std::string> away = {};
    std::map<std::string, uint32_t> returns = {}; ///< of each node
    uint32_t count = 0;                           ///< of the node with most
};

/// The record of a device: who it is, and its life.
struct History {
    uint32_t id = 0; ///< its number in this boot: the index of its first appearance, as a rule
    uint64_t node_guid = 0;
    std::string path = {}; ///< ID_PATH
    std::string name = {};
    Place place = {};
    std::set<std::string> nodes = {}; ///< that the last appearance had: "uverbs0"
    Life life = {};
    // what follows is not in the file
    Evidence evidence = {}; ///< of the last appearance
    Blinks blinks = {};     ///< of the last appearance
    /// Those found while it is being removed; nullopt: nobody has looked.
    std::optional<std::vector<Holder>> holders = {};
    bool is_confirmed = true; ///< this rdmad has seen it; not: what an earlier one wrote down
};

[[nodiscard]] std::string format_history(const History& history);
/// Fails with EBADMSG if it is no such record, or of another version.
[[nodiscard]] Result<History> parse_history(std::string_view text);

class Histories {
public:
    explicit Histories(std::string directory) : directory_(std::move(directory)) {}

    struct Read {
        std::vector<History> histories;
        std::vector<Error> problems; ///< of files that cannot be read
    };
    [[nodiscard]] Read read() const;
    [[nodiscard]] Result<void> write(const History& history) const;
    void remove(uint32_t id) const;

private:
    std::string directory_;
};

} // namespace rdmad::lifecycle
