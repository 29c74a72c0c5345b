// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

// The varlink protocol as bytes: a message is a JSON object and a NUL. Nothing here reads or
// writes; all of it takes any bytes.

namespace rdmad::varlink {

using Json = nlohmann::json;

/// How deep objects and lists of a call may be nested, and how many values it may have. No call
/// needs more, and a value takes far more memory than it has bytes.
constexpr size_t max_depth = 16;
constexpr size_t max_values = 1024;

/// Cuts a stream of bytes into messages. Each byte is looked at a fixed number of times, however
/// the stream comes in.
class Splitter {
public:
    explicit Splitter(size_t message_bytes) : message_bytes_(message_bytes) {}

    void push(std::string_view bytes);

    /// Returns the next message without its NUL, valid until push(); nullopt if its end has not
    /// come, or it is too long.
    [[nodiscard]] std::optional<std::string_view> next();

    /// Returns true if next() would find a message, or one that is too long.
    [[nodiscard]] bool has_next() const;

    /// Returns true if next() found a message longer than message_bytes. All that follows is lost.
    [[nodiscard]] bool is_too_long() const
    {
        return is_too_long_;
    }

    /// Returns how many whole messages wait for next().
    [[nodiscard]] size_t messages() const
    {
        return messages_;
    }

    /// Returns how many bytes wait for next().
    [[nodiscard]] size_t size() const
    {
        return bytes_.size() - start_;
    }

private:
    void drop_taken();

    size_t message_bytes_;
    std::string bytes_;
    size_t start_ = 0; ///< of what next() has not given yet
    size_t messages_ = 0;
    bool is_too_long_ = false;
};

/// A method call. At most one of the flags is set.
struct Request {
    std::string method; ///< "io.rdmad.Devices.List"; letters, digits, dots and dashes
    Json parameters = Json::object();
    bool wants_more = false;
    bool is_oneway = false;
    bool is_upgrade = false;
};

/// Fails with EBADMSG if it is no method call; the context says why and has no byte of it.
[[nodiscard]] Result<Request> parse(std::string_view message);

struct MethodName {
    std::string_view interface;
    std::string_view method;
};

/// Splits "io.rdmad.Devices.List" into io.rdmad.Devices and List; nullopt if one is missing.
[[nodiscard]] std::optional<MethodName> split_method(std::string_view name);

/// Returns a whole message, with the NUL. What is not UTF-8 becomes U+FFFD.
[[nodiscard]] std::string format_reply(const Json& parameters, bool continues = false);
[[nodiscard]] std::string format_error(const std::string& error, const Json& parameters);

} // namespace rdmad::varlink
