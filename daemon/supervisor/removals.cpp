// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/supervisor/removals.hpp"

#include "core/base/file.hpp"
#include "core/base/state_link.hpp"
#include "core/base/text.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace rdmad {

namespace {

bool is_note_of(std::string_view note, const NodeId& node)
{
    const auto dot = note.find('.');
    const auto born =
        dot == std::string_view::npos ? 0 : text::parse_u64(note.substr(dot + 1)).value_or(0);
    return note.substr(0, dot) == node.node && born >= node.born;
}

} // namespace

std::string Removals::path(uint32_t index) const
{
    return directory_ + "/" + std::to_string(index);
}

Result<void> Removals::expect(uint32_t index) const
{
    const auto directory = path(index);
    (void)mkdir(directory_.c_str(), 0755);
    if (mkdir(directory.c_str(), 0755) < 0 && errno != EEXIST)
        return fail(errno, directory);
    return {};
}

void Removals::forget(uint32_t index) const
{
    const auto directory = path(index);
    for (const auto& name : names_in(directory))
        (void)unlink((directory + "/" + name).c_str());
    (void)rmdir(directory.c_str());
}

void Removals::keep_only(uint32_t index, const std::set<NodeId>& nodes) const
{
    const auto directory = path(index);
    for (const auto& name : names_in(directory))
        if (std::none_of(nodes.begin(), nodes.end(), [&](const NodeId& node) {
                return node.index == index && is_note_of(name, node);
            }))
            (void)unlink((directory + "/" + name).c_str());
}

std::vector<uint32_t> Removals::expected() const
{
    std::vector<uint32_t> indexes;
    for (const auto& name : names_in(directory_))
        if (const auto index = text::parse_u32(name); index)
            indexes.push_back(*index);
    return indexes;
}

std::optional<uint64_t> Removals::when(const NodeId& node) const
{
    std::optional<uint64_t> first;
    for (const auto& note : names_in(path(node.index)))
        if (const auto time = is_note_of(note, node) ? read(node.index, note) : std::nullopt; time)
            first = std::min(first.value_or(*time), *time);
    return first;
}

std::optional<uint64_t> Removals::read(uint32_t index, const std::string& note) const
{
    const auto text = read_link(path(index) + "/" + note);
    return text ? text::parse_u64(*text) : std::nullopt;
}

} // namespace rdmad
