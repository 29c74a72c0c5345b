// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/answers.hpp"

namespace rdmad::ctl {

/// The options that all verbs have.
struct Common {
    std::string socket = {};
    bool is_socket_given = false;
    std::string root = {}; ///< of an image; empty: this machine
    bool json = false;
    bool has_legend = true;

    /// Returns false for an image: the rdmad that runs has nothing to do with it.
    [[nodiscard]] bool asks_rdmad() const
    {
        return root.empty() || is_socket_given;
    }
};

/// A reply as it came, checked, and what it says.
template <typename T>
struct Asked {
    Json raw;
    T value;
};

[[nodiscard]] Answer<Client> connect(const Common& common);

/// Requests all devices, or the one that a name or GUID means.
[[nodiscard]] Answer<Asked<std::vector<Device>>>
ask_devices(Client& client, const std::optional<std::string>& device = {});

/// Requests all bindings and bound units, or those of one unit.
[[nodiscard]] Answer<Asked<Bindings>> ask_bindings(Client& client,
                                                   const std::optional<std::string>& unit = {});

/// Has rdmad read its files again. Returns what is wrong with them, and warns of it.
[[nodiscard]] Answer<std::vector<std::string>> ask_reload(Client& client);

/// Returns one line, in ASCII: a terminal shows nothing but what it says.
[[nodiscard]] std::string to_line(const Json& json);

} // namespace rdmad::ctl
