// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

// The records of rdmad in /run/rdmad: files that hold one JSON object with a version.

namespace rdmad {

/// Reads a key of an object if it exists and has the type.
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

/// Adds the strings of a list, if it exists, to a vector or set.
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

/// Fails with EBADMSG if it is no object, of another version, or far larger than what rdmad writes.
[[nodiscard]] Result<nlohmann::json> parse_versioned(std::string_view text, int version);

/// Ends the text with a line break; replaces what is not UTF-8.
[[nodiscard]] std::string format_versioned(nlohmann::json object, int version);

/// Makes the directory if it does not exist, and puts the file there in one step. No name of a
/// record may be ".new", and no two programs may write into one directory.
[[nodiscard]] Result<void> write_record(const std::string& directory, const std::string& name,
                                        const std::string& text);

} // namespace rdmad
