// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/settings.hpp"

#include "core/base/text.hpp"
#include "core/config/sections.hpp"
#include "core/config/time_span.hpp"

#include <array>
#include <utility>

namespace rdmad {

namespace {

using lifecycle::Time;

const std::vector<std::string> folders = {"/etc/rdmad", "/run/rdmad", "/usr/local/lib/rdmad",
                                          "/usr/lib/rdmad"};

// nobody would wait for more returns than that
constexpr uint32_t max_flaps = 1000;

constexpr std::array<std::pair<std::string_view, Time lifecycle::Settings::*>, 9> times = {{
    {"QuietSec", &lifecycle::Settings::quiet},
    {"ReadyTimeoutSec", &lifecycle::Settings::deadline},
    {"GraceSec", &lifecycle::Settings::grace},
    {"RecoveryGraceSec", &lifecycle::Settings::grace_recovery},
    {"BlockedSec", &lifecycle::Settings::blocked_after},
    {"FlapWindowSec", &lifecycle::Settings::flap_window},
    {"HoldSec", &lifecycle::Settings::hold_first},
    {"HoldMaxSec", &lifecycle::Settings::hold_last},
    {"InhibitDelaySec", &lifecycle::Settings::inhibit_delay},
}};

const std::array<std::pair<std::string_view, recovery::Kind>, 4> recoveries = {{
    {"NVMeTarget", recovery::Kind::nvmet},
    {"ISERPortal", recovery::Kind::iser},
    {"SRPTarget", recovery::Kind::srpt},
    {"NFSListener", recovery::Kind::nfs},
}};

/// Returns what is wrong, or an empty string. An empty value sets the default.
std::string set(recovery::Settings& settings, const std::string& key, const std::string& value)
{
    bool is_on = true;
    if (const auto what = value.empty() ? "" : config::set_boolean(is_on, value); !what.empty())
        return what;
    if (key == "NVMeHost") {
        settings.nvme_host = is_on;
        return {};
    }
    for (const auto& [name, kind] : recoveries) {
        if (key != name)
            continue;
        settings.kinds.erase(kind);
        if (is_on)
            settings.kinds.insert(kind);
        return {};
    }
    return "unknown key in [Recovery]";
}

/// Returns what is wrong, or an empty string. An empty value sets the default.
std::string set(lifecycle::Settings& settings, const std::string& key, const std::string& value)
{
    const lifecycle::Settings defaults;
    const auto quoted = "'" + text::escape_terminal(value) + "'";
    for (const auto& [name, member] : times) {
        if (key != name)
            continue;
        const auto span = value.empty() ? defaults.*member : config::parse_time_span(value);
        if (!span)
            return quoted +
                   " is not a time span of systemd.time(7) in whole numbers, up to 366 days";
        settings.*member = *span;
        return {};
    }
    if (key != "FlapLimit")
        return "unknown key in [Lifecycle]";
    const auto limit = value.empty() ? defaults.flap_limit : text::parse_u32(value);
    if (!limit || *limit > max_flaps)
        return quoted + " is not a number from 0 (never hold) to " + std::to_string(max_flaps);
    settings.flap_limit = *limit;
    return {};
}

} // namespace

Settings parse_settings(const config::File& file)
{
    Settings settings{.problems = file.problems};
    for (const auto& assignment : file.assignments) {
        const auto what =
            assignment.section == "Lifecycle"
                ? set(settings.lifecycle, assignment.key, assignment.value)
            : assignment.section == "Recovery"
                ? set(settings.recovery, assignment.key, assignment.value)
                : "unknown section [" + text::escape_terminal(assignment.section) + "]";
        if (!what.empty())
            settings.problems.push_back(
                {assignment.file, assignment.line, assignment.section, assignment.key, what});
    }
    return settings;
}

Settings read_settings(const std::string& root)
{
    return parse_settings(config::read_one_file(root, folders, "rdmad.conf"));
}

} // namespace rdmad
