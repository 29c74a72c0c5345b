// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/inventory/model.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rdmad {

/// Somebody who does not want a device to be removed now.
struct Inhibitor {
    /// block: the device is not prepared. delay: not before the inhibitor is gone, or for a while.
    enum class Mode { block, delay };
    std::string device = {}; ///< name or GUID; empty: any
    std::string who = {};
    std::string why = {};
    Mode mode = Mode::block;

    friend bool operator==(const Inhibitor&, const Inhibitor&) = default;
};

[[nodiscard]] std::string_view to_string(Inhibitor::Mode mode);
[[nodiscard]] std::optional<Inhibitor::Mode> parse_mode(std::string_view word);

/// All of them, each for as long as the client that requested it stays connected.
class Inhibitors {
public:
    using Id = uint64_t;
    /// Called when a device that the inhibitor is about is to be prepared.
    using OnPrepare = std::function<void(const Device& device)>;

    Id add(Inhibitor inhibitor, OnPrepare on_prepare);
    void remove(Id id);
    [[nodiscard]] std::vector<Inhibitor> all() const;
    [[nodiscard]] std::vector<Inhibitor> against(const Device& device) const;
    /// Calls on_prepare of the inhibitors that are against it.
    void announce(const Device& device) const;

private:
    struct Entry {
        Inhibitor inhibitor;
        OnPrepare on_prepare;
    };
    Id last_ = 0;
    std::map<Id, Entry> entries_;
};

} // namespace rdmad
