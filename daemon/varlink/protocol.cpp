// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/varlink/protocol.hpp"

#include "core/base/json_size.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace rdmad::varlink {

namespace {

constexpr size_t max_method_bytes = 255;
/// A buffer that became larger than this is freed when it is empty.
constexpr size_t kept_bytes = 4096;

tl::unexpected<Error> refuse(std::string why)
{
    return fail(EBADMSG, std::move(why));
}

Result<bool> flag_of(const Json& message, const char* name)
{
    const auto found = message.find(name);
    if (found == message.end())
        return false;
    if (!found->is_boolean())
        return refuse(std::string(name) + " is neither true nor false");
    return found->get<bool>();
}

Result<std::string> method_of(const Json& message)
{
    const auto found = message.find("method");
    if (found == message.end() || !found->is_string())
        return refuse("method is missing or no string");
    const auto& name = found->get_ref<const std::string&>();
    const bool is_name = std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '-';
    });
    if (!is_name || name.size() > max_method_bytes || !split_method(name))
        return refuse("method is no name of an interface and a method");
    return name;
}

Result<Json> parameters_of(Json& message)
{
    const auto found = message.find("parameters");
    if (found == message.end() || found->is_null())
        return Json::object();
    if (!found->is_object())
        return refuse("parameters are no object");
    return std::move(*found);
}

Result<Request> request_of(Json& message)
{
    auto method = method_of(message);
    if (!method)
        return tl::unexpected<Error>(std::move(method).error());
    auto parameters = parameters_of(message);
    if (!parameters)
        return tl::unexpected<Error>(std::move(parameters).error());
    Request request{.method = std::move(*method), .parameters = std::move(*parameters)};
    for (const auto& [name, flag] : {std::pair("more", &Request::wants_more),
                                     {"oneway", &Request::is_oneway},
                                     {"upgrade", &Request::is_upgrade}}) {
        const auto value = flag_of(message, name);
        if (!value)
            return tl::unexpected<Error>(value.error());
        request.*flag = *value;
    }
    if (request.wants_more + request.is_oneway + request.is_upgrade > 1)
        return refuse("more, oneway and upgrade exclude each other");
    return request;
}

std::string dump(const Json& value)
{
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace

void Splitter::push(std::string_view bytes)
{
    if (is_too_long_)
        return;
    drop_taken();
    bytes_.append(bytes);
    messages_ += static_cast<size_t>(std::count(bytes.begin(), bytes.end(), '\0'));
}

/// Moves what is left to the front only when that is no more than what has been taken since.
void Splitter::drop_taken()
{
    if (size() > start_)
        return;
    bytes_.erase(0, start_);
    start_ = 0;
    if (bytes_.empty() && bytes_.capacity() > kept_bytes)
        std::string().swap(bytes_); // an assignment keeps it
}

bool Splitter::has_next() const
{
    return messages_ > 0 || size() > message_bytes_;
}

std::optional<std::string_view> Splitter::next()
{
    if (!has_next()) {
        drop_taken();
        return {};
    }
    const auto rest = std::string_view(bytes_).substr(start_);
    const auto message = rest.substr(0, rest.find('\0'));
    if (message.size() > message_bytes_) {
        *this = Splitter(message_bytes_);
        is_too_long_ = true;
        return {};
    }
    start_ += message.size() + 1;
    messages_--;
    return message;
}

std::optional<MethodName> split_method(std::string_view name)
{
    const auto dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0 || dot + 1 == name.size())
        return {};
    return MethodName{.interface = name.substr(0, dot), .method = name.substr(dot + 1)};
}

Result<Request> parse(std::string_view message)
{
    const auto size = size_of_json(message);
    if (size.depth > max_depth)
        return refuse("the message is nested too deeply");
    if (size.values > max_values)
        return refuse("the message has too many values");
    auto json = Json::parse(message.begin(), message.end(), nullptr, false);
    if (json.is_discarded())
        return refuse("the message is no JSON");
    if (!json.is_object())
        return refuse("the message is no object");
    return request_of(json);
}

std::string format_reply(const Json& parameters, bool continues)
{
    std::string message = "{\"parameters\":" + dump(parameters);
    message += continues ? ",\"continues\":true}" : "}";
    message += '\0';
    return message;
}

std::string format_error(const std::string& error, const Json& parameters)
{
    std::string message = "{\"error\":" + dump(error) + ",\"parameters\":" + dump(parameters) + "}";
    message += '\0';
    return message;
}

} // namespace rdmad::varlink
