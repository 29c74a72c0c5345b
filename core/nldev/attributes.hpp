// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/nldev/wire.hpp"

#include <initializer_list>
#include <netlink/attr.h>
#include <variant>

// Netlink attributes as bytes; the rules are those of wire.hpp.

namespace rdmad::nldev::wire {

[[nodiscard]] tl::unexpected<Error> malformed(std::string what);

/// One attribute that we know: its number and where its value goes.
struct Field {
    uint16_t type;
    std::variant<std::string*, uint32_t*, std::optional<std::string>*, std::optional<uint8_t>*,
                 std::optional<uint32_t>*, std::optional<uint64_t>*, uint64_t*, Bytes*>
        target; ///< Bytes: what is inside is for another parser
};

[[nodiscard]] Result<void> parse_attributes(Bytes payload, std::initializer_list<Field> fields);

/// Passes type and value of each attribute to take, until that fails. Fails if an attribute is
/// longer than what is left, where libnl's walk stops without a word.
template <typename Take>
[[nodiscard]] Result<void> walk_attributes(Bytes payload, Take take)
{
    int left = static_cast<int>(payload.size());
    const auto* attribute = reinterpret_cast<const nlattr*>(payload.data());
    while (nla_ok(attribute, left)) {
        const Bytes value(static_cast<const std::byte*>(nla_data(attribute)),
                          static_cast<size_t>(nla_len(attribute)));
        if (auto taken = take(static_cast<uint16_t>(nla_type(attribute)), value); !taken)
            return taken;
        attribute = nla_next(attribute, &left);
    }
    if (left > 0)
        return malformed("netlink attributes end in " + std::to_string(left) +
                         " bytes that are none");
    return {};
}

template <typename T>
[[nodiscard]] Result<T> parsed(T value, Result<void> outcome)
{
    if (!outcome)
        return tl::unexpected<Error>(std::move(outcome).error());
    return value;
}

} // namespace rdmad::nldev::wire
