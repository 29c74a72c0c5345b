// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"
#include "tests/catch.hpp"

#include <optional>

namespace rdmad::test {

/// The value, if there is one to be, or the test ends here and shows the error.
template <typename T>
T must(Result<T> result)
{
    INFO((result ? std::string("a value") : result.error().message()));
    REQUIRE(result.has_value());
    if constexpr (!std::is_void_v<T>)
        return std::move(*result);
}

/// The value inside both.
template <typename T>
T must_find(Result<std::optional<T>> result)
{
    auto value = must(std::move(result));
    REQUIRE(value.has_value());
    return std::move(*value);
}

/// Worked, and there is nothing.
template <typename T>
bool is_none(const Result<std::optional<T>>& result)
{
    return result && !*result;
}

/// The error's code, 0 if there is no error.
template <typename T>
int error_of(const Result<T>& result)
{
    return result ? 0 : result.error().code;
}

} // namespace rdmad::test
