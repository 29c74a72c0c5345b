// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/name_records.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "udev-helpers/rdma_id/link_owners.hpp"

#include <algorithm>
#include <cctype>

// The input is what a symbolic link below /run/rdmad/claims, /run/rdmad/contested or
// /run/rdmad/names points to.

namespace rdmad::fuzz {

namespace {

using rdma_id::parse_claimant;
using rdma_id::parse_mark;

bool is_path_component(std::string_view name)
{
    return !name.empty() && name.size() < 64 && name != "." && name != ".." &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
           });
}

void check(const rdma_id::Claimant& claimant, std::string_view input)
{
    require(claimant.node == Node::umad, "the node is the one that was asked for");
    require(is_path_component(claimant.sysname), "a name can be part of a path");
    require(input.find(claimant.sysname) != std::string_view::npos, "a name is the input's");
    const auto text = std::to_string(claimant.index) + " " + std::to_string(claimant.port) + " " +
                      claimant.sysname;
    const auto again = parse_claimant(text, Node::umad);
    require(again && again->index == claimant.index && again->port == claimant.port &&
                again->sysname == claimant.sysname,
            "a claim that is written again reads the same");
}

void check_name_record(std::string_view input)
{
    const auto record = parse_name_record(input);
    if (!record)
        return;
    require(is_path_component(record->original), "an original name can be part of a path");
    require(!record->given || is_path_component(*record->given), "so can a given one");
    const auto text = record->original + (record->given ? " " + *record->given : "");
    const auto again = parse_name_record(text);
    require(again && again->original == record->original && again->given == record->given,
            "a record that is written again reads the same");
}

} // namespace

void run_one(std::string_view input)
{
    check_name_record(input);
    const auto mark = parse_mark(input, Node::umad);
    const auto claimant = parse_claimant(input, Node::umad);
    require(!claimant || mark, "a claim could be a mark");
    if (!mark)
        return;
    require(claimant.has_value() == (mark->state == rdma_id::Mark::State::told),
            "a claim has no state");
    check(mark->claimant, input);
}

} // namespace rdmad::fuzz
