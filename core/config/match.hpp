// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/ini.hpp"
#include "core/config/pattern.hpp"

#include <functional>
#include <map>
#include <optional>

namespace rdmad::config {

/// The facts that a [Match] section can ask about: of a device, or of one port of it. GUIDs are 16
/// lower-case digits.
struct Facts {
    std::string original_name = {}; ///< before rdmad gave the device its name
    std::string device = {};        ///< its name now
    std::string port = {};          ///< number of the one port that is asked about
    std::string driver = {};
    std::string path = {}; ///< "pci-0000:c1:00.0", as udev's ID_PATH
    std::string node_type = {};
    std::string node_guid = {};
    std::string sys_image_guid = {};
    std::vector<std::string> port_guids = {};
    std::vector<std::string> link_types = {};
    std::vector<std::string> netdevs = {};
    std::string host = {};
    std::string machine_id = {};
    std::string kernel_command_line = {};
    /// Returns a property of the udev event, nullopt if it is not set. Without the function the
    /// properties are unknown, and Property= holds.
    std::function<std::optional<std::string>(const std::string&)> property = {};
    /// Returns "vm kvm", "container lxc" or "none". Runs a program, so it is called only where it
    /// counts.
    std::function<std::string()> virtualization = {};
};

/// A [Match] section. All keys must hold.
class Match {
public:
    /// Kinds of files, which differ in their keys.
    enum class Of { device, port };
    Match() = default;
    explicit Match(Of of) : of_(of) {}

    /// Sets a key. Returns what is wrong, or an empty string. An empty value clears the key.
    [[nodiscard]] std::string set(const std::string& key, const std::string& value);
    [[nodiscard]] bool empty() const;
    [[nodiscard]] bool asks_for_property() const
    {
        return !properties_.empty();
    }
    [[nodiscard]] bool asks_for_driver() const
    {
        const auto found = lists_.find("Driver");
        return found != lists_.end() && !found->second.empty();
    }

    /// Returns the GUIDs that PortGUID= or NodeGUID= lists one by one; empty if it has patterns.
    [[nodiscard]] std::vector<std::string> port_guids() const;
    [[nodiscard]] std::vector<std::string> node_guids() const;

    /// Returns an empty string if it holds, else the key that does not: "Driver=mlx5_* does not
    /// match 'siw'".
    [[nodiscard]] std::string why_not(const Facts& facts) const;
    /// Returns true if a pattern of it does not match one of these facts; an empty fact is unknown,
    /// and rules nothing out.
    [[nodiscard]] bool is_ruled_out(const Facts& facts) const;

private:
    [[nodiscard]] std::vector<std::string> literals_of(std::string_view key) const;

    Of of_ = Of::device;
    /// By key; std::map keeps messages in one order.
    std::map<std::string, PatternList, std::less<>> lists_;
    std::vector<std::string> properties_;          ///< [!]KEY=GLOB
    std::vector<std::string> kernel_command_line_; ///< [!]WORD, or [!]KEY=VALUE
    std::optional<std::string> virtualization_;
};

/// Parses "yes", "y", "true", "t", "on", "1" and their opposites in capitals or not, as systemd has
/// it. Returns nullopt for anything else.
[[nodiscard]] std::optional<bool> parse_boolean(std::string_view text);

} // namespace rdmad::config
