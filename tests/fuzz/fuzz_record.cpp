// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/config/ini.hpp"
#include "core/device/removal_note.hpp"
#include "daemon/holders/holder.hpp"
#include "daemon/lifecycle/history_file.hpp"
#include "daemon/readiness/ready_record.hpp"
#include "daemon/recovery/debts.hpp"
#include "daemon/recovery/target.hpp"
#include "daemon/settings.hpp"
#include "daemon/supervisor/memory_file.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/oracle.hpp"

// The input is what rdmad reads of itself: a record of a device, a unit, a port that is ready,
// holders, or kernel targets and what is owed to them in /run/rdmad, and the name of a note of
// rdma_id there; what a link in /proc shows; and rdmad.conf.

namespace rdmad::fuzz {

namespace {

/// What was read is written so that it is read alike.
template <typename Parse, typename Format>
void check_record(std::string_view input, Parse parse, Format format)
{
    const auto value = parse(input);
    if (!value)
        return;
    const auto text = format(*value);
    const auto again = parse(text);
    require(again.has_value(), "what is written can be read");
    require(format(*again) == text, "and nothing of it gets lost");
}

void check_debts(std::string_view input)
{
    const auto debts = recovery::Debts::parse("", input);
    if (!debts)
        return;
    for (const auto& target : debts->owed("")) {
        const auto* what = debts->find(target);
        require(what && what->is_object(), "what is owed is an object");
        require(debts->owed(target).contains(""), "a target begins with its own name");
        (void)debts->seen(target);
    }
}

void check_settings(std::string_view input)
{
    constexpr const char* path = "rdmad.conf";
    auto ini = config::parse_ini(input, path);
    const auto broken_lines = ini.problems.size();
    const auto settings = parse_settings({.name = path,
                                          .path = path,
                                          .assignments = std::move(ini.assignments),
                                          .problems = std::move(ini.problems)});
    require(settings.problems.size() >= broken_lines, "no problem of the file gets lost");
    for (const auto& problem : settings.problems) {
        const auto message = decode_utf8(problem.message());
        require(message && !has_control_character(*message), "a problem may go to a terminal");
    }
}

void check_link(std::string_view input)
{
    const auto node = node_of_link(input);
    require(node.name.empty() || (is_node(node.name) && input.find(node.name) != input.npos),
            "a node is one that the link names");
}

} // namespace

void run_one(std::string_view input)
{
    check_record(input, lifecycle::parse_history, lifecycle::format_history);
    check_record(input, parse_record,
                 [](const UnitRecord& record) { return format_record("a.service", record); });
    check_record(input, parse_ready_record, format_ready_record);
    check_record(input, parse_holders, format_holders);
    check_record(input, recovery::parse_order, recovery::format_order);
    check_record(input, recovery::parse_report, recovery::format_report);
    check_record(input, recovery::parse_indexes, recovery::format_indexes);
    check_record(
        input, [](std::string_view text) { return recovery::Debts::parse("", text); },
        [](const recovery::Debts& debts) { return debts.format(); });
    const auto note = parse_note_name(input);
    require(parse_note_name(note_name(note)) == note, "a note keeps its node and its birth");
    check_debts(input);
    check_link(input);
    check_settings(input);
}

} // namespace rdmad::fuzz
