// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/nldev/attributes.hpp"

#include <cerrno>
#include <cstring>

namespace rdmad::nldev::wire {

namespace {

/// Returns nullopt unless the value has just the size of T. Attributes are aligned to 4 bytes only.
template <typename T>
std::optional<T> decode(Bytes value)
{
    if (value.size() != sizeof(T))
        return std::nullopt;
    T number;
    memcpy(&number, value.data(), sizeof number);
    return number;
}

/// Returns nullopt unless the value ends in its only NUL, as the kernel's strings do
/// (nla_put_string()).
template <>
std::optional<std::string> decode<std::string>(Bytes value)
{
    const auto* text = reinterpret_cast<const char*>(value.data());
    if (value.empty() || memchr(text, '\0', value.size()) != text + value.size() - 1)
        return std::nullopt;
    return std::string(text, value.size() - 1);
}

bool store(Bytes* target, Bytes value)
{
    *target = value;
    return true;
}

template <typename T>
bool store(T* target, Bytes value)
{
    auto decoded = decode<T>(value);
    if (!decoded)
        return false;
    *target = std::move(*decoded);
    return true;
}

template <typename T>
bool store(std::optional<T>* target, Bytes value)
{
    auto decoded = decode<T>(value);
    if (!decoded)
        return false;
    *target = std::move(decoded);
    return true;
}

} // namespace

tl::unexpected<Error> malformed(std::string what)
{
    return fail(EBADMSG, std::move(what));
}

Result<void> parse_attributes(Bytes payload, std::initializer_list<Field> fields)
{
    return walk_attributes(payload, [&](uint16_t type, Bytes value) -> Result<void> {
        for (const Field& field : fields)
            if (field.type == type &&
                !std::visit([&](auto* target) { return store(target, value); }, field.target))
                return malformed("netlink attribute " + std::to_string(type) +
                                 " has a bad value of " + std::to_string(value.size()) + " bytes");
        return {};
    });
}

} // namespace rdmad::nldev::wire
