// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/known_names.hpp"

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/naming/device_name.hpp"
#include "core/naming/links.hpp"
#include "core/sysfs/rdma_device.hpp"
#include "udev-helpers/rdma_id/state_link.hpp"

#include <array>
#include <unistd.h>
#include <utility>

namespace rdmad::rdma_id {

namespace {

using State = KnownName::State;

/// The third word. A state that is not in it has none.
constexpr std::array<std::pair<State, std::string_view>, 2> words_of_states = {
    {{State::late, "late"}, {State::waiting, "waiting"}}};

} // namespace

std::string KnownNames::path(const Appearance& device) const
{
    return directory_ + "/" + std::to_string(device.index) + "-" + std::to_string(device.inode);
}

std::optional<KnownName> KnownNames::find(const Appearance& device) const
{
    const auto text = read_link(path(device));
    return text ? parse_known_name(*text) : std::nullopt;
}

void KnownNames::remember(const Appearance& device, const KnownName& name) const
{
    // a name with a blank cannot be kept apart; the kernel gives none
    if (!naming::is_safe_name(name.original) || !naming::is_safe_name(name.given))
        return;
    auto text = name.original + " " + name.given;
    for (const auto& [state, word] : words_of_states)
        if (name.state == state)
            text.append(" ").append(word);
    replace_link(text, path(device));
}

bool KnownNames::remember_first(const Appearance& device, const std::string& name) const
{
    return naming::is_safe_name(name) && !naming::is_temporary(name) &&
           make_link(name, path(device)) == 0;
}

void KnownNames::forget_gone(uint32_t index, const sysfs::Directory& root) const
{
    const auto prefix = std::to_string(index) + "-";
    for (const auto& entry : names_in(directory_)) {
        const auto inode =
            entry.starts_with(prefix) ? text::parse_u64(entry.substr(prefix.size())) : std::nullopt;
        if (!inode)
            continue;
        const auto name = find({index, *inode});
        if (!name || (sysfs::RdmaDevice::inode(root, name->given) != inode &&
                      sysfs::RdmaDevice::inode(root, name->original) != inode))
            unlink((directory_ + "/" + entry).c_str());
    }
}

std::optional<KnownName> parse_known_name(std::string_view text)
{
    const auto words = text::split(text, ' ');
    if (words.empty() || words.size() > 3 || !naming::is_safe_name(words[0]))
        return std::nullopt;
    const std::string original(words[0]);
    if (words.size() == 1)
        return KnownName{original, original, State::undecided};
    if (!naming::is_safe_name(words[1]))
        return std::nullopt;
    KnownName name{original, std::string(words[1]), State::decided};
    if (words.size() == 2)
        return name;
    for (const auto& [state, word] : words_of_states) {
        name.state = state;
        if (words[2] == word)
            return name;
    }
    return std::nullopt;
}

} // namespace rdmad::rdma_id
