// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace rdmad {

/// A failure: a positive errno value and, from the outside in, what was tried.
struct [[nodiscard]] Error {
    int code;
    std::string context;

    /// Puts what the caller was doing before the context.
    [[nodiscard]] tl::unexpected<Error> while_doing(std::string_view what) &&
    {
        context.insert(0, ": ");
        context.insert(0, what);
        return tl::unexpected<Error>(std::move(*this));
    }

    [[nodiscard]] std::string message() const
    {
        return context + ": " + strerror(code);
    }
};

/// A value, or the reason why there is none. That a device has vanished is a value, not an error.
template <typename T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(int code, std::string context)
{
    return tl::unexpected<Error>(Error{code, std::move(context)});
}

/// The return value of a function whose lookup gave nothing: the error of the lookup, or an empty
/// value if what was looked for is not there.
class Missing {
public:
    explicit Missing(std::optional<Error> error) : error_(std::move(error)) {}

    template <typename T>
    operator Result<T>() &&
    {
        if (error_)
            return tl::unexpected<Error>(std::move(*error_));
        return Result<T>();
    }

private:
    std::optional<Error> error_;
};

/// Passes on why a lookup gave nothing: if (!found || !*found) return missing(found);
template <typename T>
[[nodiscard]] Missing missing(const Result<std::optional<T>>& found)
{
    return Missing(found ? std::nullopt : std::optional(found.error()));
}

} // namespace rdmad
