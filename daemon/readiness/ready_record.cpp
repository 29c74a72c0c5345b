// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/readiness/ready_record.hpp"

#include "core/base/text.hpp"

namespace rdmad {

namespace {

constexpr char due_mark = '?';

} // namespace

std::string format_ready_record(const ReadyRecord& record)
{
    const auto& [index, node, born] = record.node;
    return (record.is_due ? std::string(1, due_mark) : "") + std::to_string(index) + " " + node +
           " " + std::to_string(born);
}

std::optional<ReadyRecord> parse_ready_record(std::string_view text)
{
    const bool is_due = text.starts_with(due_mark);
    const auto words = text::split(text.substr(is_due ? 1 : 0), ' ');
    if (words.size() < 2)
        return std::nullopt;
    const auto index = text::parse_u32(words[0]);
    const auto born = words.size() == 2 ? 0 : text::parse_u64(words[2]);
    if (!index || !born)
        return std::nullopt;
    const auto node = words[1].substr(words[1].rfind('/') + 1);
    if (node.empty())
        return std::nullopt;
    return ReadyRecord{{*index, std::string(node), *born}, is_due};
}

} // namespace rdmad
