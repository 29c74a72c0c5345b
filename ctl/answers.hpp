// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/client.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// The replies of rdmad, as interfaces/*.varlink have them: checked, so that nothing behind needs
// to. What is null may be left out, and so may what an older rdmad does not have; unknown members
// are skipped. Pure.

namespace rdmad::ctl {

struct Port {
    uint32_t number = 0;
    std::optional<std::string> guid = {};
    std::string link_type = {};
    std::optional<std::string> state = {};
    bool is_ready = false;
    std::optional<std::string> netdev = {};
    std::optional<std::string> umad = {};
    std::optional<std::string> issm = {};
    std::optional<std::vector<std::string>> units = {}; ///< nullopt: an older rdmad lacks them
};

/// A process that has nodes of a device open.
struct Holder {
    uint32_t pid = 0;
    std::string command = {};
    std::optional<std::string> unit = {};
    bool is_stored = false; ///< systemd keeps a descriptor for the unit
    std::vector<std::string> nodes = {};
};

/// The life of a device, over its appearances.
struct Life {
    std::string device = {};
    uint32_t index = 0;
    std::string state = {};
    bool is_degraded = false;
    bool is_blocked = false;
    bool is_accepted = true;                         ///< not: it replaced another device
    std::optional<std::vector<Holder>> holders = {}; ///< none: not known
    std::optional<std::string> cause = {};
    uint32_t returns = 0;
    std::optional<int64_t> held_until = {}; ///< microseconds of CLOCK_BOOTTIME
};

struct Device {
    std::string name = {};
    uint32_t index = 0;
    std::optional<std::string> driver = {};
    std::optional<std::string> path = {};
    std::string node_guid = {};
    std::string sys_image_guid = {};
    std::string protocol = {};
    std::optional<std::string> firmware = {};
    std::optional<std::string> uverbs = {};
    std::vector<Port> ports = {};
    std::vector<std::string> units = {};
    std::optional<Life> life = {};
};

struct BoundPort {
    std::string device = {};
    uint32_t index = 0;
    uint32_t port = 0;
    std::optional<std::string> guid = {};
    std::string node_guid = {};
    std::optional<std::string> node = {};
    bool is_present = false;
    bool is_ready = false;
    std::optional<std::string> anchor = {};
};

struct Stop {
    std::string cause = {};
    int64_t timestamp = 0; ///< microseconds since 1970
    std::optional<std::string> device = {};
    std::optional<uint32_t> index = {};
    std::optional<uint32_t> port = {};
    std::optional<std::string> guid = {};
};

struct Unit {
    std::string name = {};
    std::optional<std::string> active_state = {};
    std::optional<std::string> load_state = {};
    bool is_wanted = false;
    std::string reason = {};
    std::vector<std::string> bindings = {};
    std::vector<BoundPort> ports = {};
    std::optional<Stop> stop = {};
};

struct Binding {
    std::string name = {};
    std::string path = {};
    bool is_runtime = false;
    std::vector<std::string> units = {};
    std::string node = {};
    std::string require = {};
    std::string wait_for = {};
    std::string restart = {};
    std::vector<std::string> matches = {};
    std::vector<std::string> missing = {}; ///< GUIDs
    std::vector<std::string> problems = {};
};

struct Bindings {
    std::vector<Binding> bindings = {};
    std::vector<Unit> units = {};
};

/// A reply of Monitor.
struct Event {
    uint64_t sequence = 0;
    int64_t timestamp = 0; ///< microseconds since 1970
    std::string name = {};
    std::optional<std::vector<Device>> devices = {};
    std::optional<Device> device = {};
    std::optional<uint32_t> port = {};
    std::optional<std::string> old_name = {};
    std::optional<std::string> binding = {};
    std::optional<std::string> unit = {};
    std::optional<std::string> unit_state = {};
    std::optional<std::string> reason = {};
    std::optional<std::string> change = {};
    std::optional<Life> life = {};
};

struct Inhibitor {
    std::optional<std::string> device = {}; ///< none: any
    std::string who = {};
    std::string why = {};
    std::string mode = {};
};

/// The progress of a device's preparation, or why it was refused.
struct Progress {
    std::string stage = {}; ///< empty: refused
    std::vector<Inhibitor> inhibitors = {};
    std::vector<std::string> units = {};
    std::vector<Holder> holders = {};
    std::optional<std::string> reason = {}; ///< why the holders are not known
};

/// Something in the kernel that waits for connections.
struct KernelTarget {
    std::string kind = {};
    std::string name = {};
    std::string address = {};
    std::string state = {};
    std::optional<std::string> reason = {};
};

struct Added {
    std::string name = {};
    std::string path = {};
};

[[nodiscard]] Answer<std::vector<Device>> read_devices(const Json& parameters);
/// Reads the devices that the kernel removes, "removing" of that reply; none from an older rdmad.
[[nodiscard]] Answer<std::vector<Life>> read_removing(const Json& parameters);
[[nodiscard]] Answer<Bindings> read_bindings(const Json& parameters);
[[nodiscard]] Answer<Event> read_event(const Json& parameters);
[[nodiscard]] Answer<Added> read_added(const Json& parameters);
[[nodiscard]] Answer<Progress> read_progress(const Json& parameters);
[[nodiscard]] Answer<std::vector<KernelTarget>> read_targets(const Json& parameters);
[[nodiscard]] Answer<std::vector<Inhibitor>> read_inhibitors(const Json& parameters);
/// Reads a list of strings that is the only member: "removed", "problems".
[[nodiscard]] Answer<std::vector<std::string>> read_words(const Json& parameters, const char* name);

} // namespace rdmad::ctl
