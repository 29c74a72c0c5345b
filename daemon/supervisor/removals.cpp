// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/supervisor/removals.hpp"

#include "core/base/file.hpp"
#include "core/base/state_link.hpp"
#include "core/base/text.hpp"
#include "core/device/removal_note.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace rdmad {

namespace {

bool is_note_of(std::string_view name, const NodeId& node)
{
    const auto note = parse_note_name(name);
    return note.node == node.node && note.born >= node.born;
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
    const auto directory = path(node.index);
    for (const auto& name : names_in(directory)) {
        if (!is_note_of(name, node))
            continue;
        const auto text = read_link(directory + "/" + name);
        if (const auto time = text ? text::parse_u64(*text) : std::nullopt; time)
            first = std::min(first.value_or(*time), *time);
    }
    return first;
}

} // namespace rdmad
