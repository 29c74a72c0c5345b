// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/known_names.hpp"

#include "core/base/text.hpp"
#include "core/naming/links.hpp"
#include "udev-helpers/rdma_id/state_link.hpp"

#include <unistd.h>

namespace rdmad::rdma_id {

std::string KnownNames::path(uint32_t index) const
{
    return directory_ + "/" + std::to_string(index);
}

std::optional<KnownName> KnownNames::find(uint32_t index) const
{
    const auto text = read_link(path(index));
    return text ? parse_known_name(*text) : std::nullopt;
}

void KnownNames::remember(uint32_t index, const KnownName& name) const
{
    // a name with a blank cannot be kept apart; the kernel gives none
    if (naming::is_safe_name(name.original) && naming::is_safe_name(name.given))
        replace_link(name.original + " " + name.given, path(index));
}

bool KnownNames::remember_first(uint32_t index, const std::string& name) const
{
    return naming::is_safe_name(name) && make_link(name, path(index)) == 0;
}

void KnownNames::forget(uint32_t index) const
{
    unlink(path(index).c_str());
}

std::optional<KnownName> parse_known_name(std::string_view text)
{
    const auto words = text::split(text, ' ');
    if (words.empty() || words.size() > 2 || !naming::is_safe_name(words.front()) ||
        !naming::is_safe_name(words.back()))
        return std::nullopt;
    return KnownName{std::string(words.front()), std::string(words.back()), words.size() == 2};
}

} // namespace rdmad::rdma_id
