// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/log.hpp"

#include "core/base/text.hpp"

#include <cstdio>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

namespace rdmad::log {

namespace {

/// Returns true on a terminal or in a test: there is no journal behind stderr.
bool is_by_hand()
{
    static const bool by_hand = getenv("JOURNAL_STREAM") == nullptr;
    return by_hand;
}

} // namespace

void write(int priority, std::string_view message_id, const std::string& text, const Fields& fields)
{
    const auto safe = text::escape_terminal(text);
    if (is_by_hand())
        fprintf(stderr, "rdmad: %s\n", safe.c_str());
    std::vector<std::string> lines = {"MESSAGE=" + safe, "PRIORITY=" + std::to_string(priority),
                                      "SYSLOG_IDENTIFIER=rdmad"};
    if (!message_id.empty())
        lines.push_back("MESSAGE_ID=" + std::string(message_id));
    const auto add = [&](std::string_view name, const std::string& value) {
        if (!value.empty())
            lines.push_back(std::string(name) + "=" + text::escape_terminal(value));
    };
    for (const auto& [name, value] : fields) {
        add(name, value);
        if (name == field::unit)
            add(field::unit_of_pid1, value);
    }
    std::vector<iovec> parts;
    for (auto& line : lines)
        parts.push_back({line.data(), line.size()});
    (void)sd_journal_sendv(parts.data(), static_cast<int>(parts.size()));
}

} // namespace rdmad::log
