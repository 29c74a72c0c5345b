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

std::string name_of_note(const NodeId& node)
{
    return node.node + "." + std::to_string(node.born);
}

bool is_note_of(const std::string& note, const NodeId& node)
{
    return node.born == 0 ? note == node.node || note.starts_with(node.node + ".")
                          : note == name_of_note(node);
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
    if (node.born != 0)
        return read(node.index, name_of_note(node));
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
