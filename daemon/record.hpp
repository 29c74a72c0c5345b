// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

// What rdmad remembers in /run/rdmad: files that hold one JSON object with a version.

namespace rdmad {

/// Reads a key of an object, if it is there and of the type.
template <typename T>
void read(const nlohmann::json& object, const char* key, T& target)
{
    const auto found = object.find(key);
    if (found == object.end())
        return;
    if constexpr (std::is_same_v<T, std::string>) {
        if (found->is_string())
            target = found->template get<std::string>();
    } else if constexpr (std::is_same_v<T, bool>) {
        if (found->is_boolean())
            target = found->template get<bool>();
    } else if (found->is_number_unsigned() && std::in_range<T>(found->template get<uint64_t>())) {
        target = found->template get<T>();
    }
}

/// Adds the strings of a list, if there is one, to a vector or set.
template <typename Container>
void read_list(const nlohmann::json& object, const char* key, Container& target)
{
    const auto found = object.find(key);
    if (found == object.end() || !found->is_array())
        return;
    for (const auto& text : *found)
        if (text.is_string())
            target.insert(target.end(), text.template get<std::string>());
}

/// EBADMSG: no such object, of another version, or far larger than any that rdmad writes.
[[nodiscard]] Result<nlohmann::json> parse_versioned(std::string_view text, int version);

/// With a line break at its end; what is no UTF-8 is replaced.
[[nodiscard]] std::string format_versioned(nlohmann::json object, int version);

/// Makes the directory if it is not there, and puts the file there in one step. No name of a record
/// may be ".new", and no two programs may write into one directory.
[[nodiscard]] Result<void> write_record(const std::string& directory, const std::string& name,
                                        const std::string& text);

} // namespace rdmad
