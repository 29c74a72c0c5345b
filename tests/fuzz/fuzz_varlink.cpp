// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/varlink/protocol.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/oracle.hpp"

#include <algorithm>
#include <string>
#include <vector>

// The input is what a client sends: messages that end with a NUL. Its bytes also say in which
// pieces it comes.

namespace rdmad::fuzz {

namespace {

using namespace varlink;

struct Cut {
    std::vector<std::string> messages;
    bool is_too_long = false;

    bool operator==(const Cut& other) const
    {
        return messages == other.messages && is_too_long == other.is_too_long;
    }
};

/// As the limit says, without a splitter.
Cut cut_at_once(std::string_view input, size_t limit)
{
    Cut cut;
    for (;;) {
        const auto end = std::min(input.find('\0'), input.size());
        cut.is_too_long = end > limit;
        if (cut.is_too_long || end == input.size())
            return cut;
        cut.messages.emplace_back(input.substr(0, end));
        input.remove_prefix(end + 1);
    }
}

/// In pieces; takes a message now and then, as a server that has other things to do.
Cut cut_in_pieces(std::string_view input, size_t limit, bool is_eager)
{
    Splitter splitter(limit);
    Cut cut;
    const auto take = [&] {
        const auto message = splitter.next();
        if (message)
            cut.messages.emplace_back(*message);
        return message.has_value();
    };
    for (size_t at = 0; at < input.size();) {
        const size_t size = 1 + static_cast<unsigned char>(input[at]) % 61;
        const size_t before = splitter.size();
        splitter.push(input.substr(at, size));
        require(splitter.size() <= before + size, "no more is kept than came");
        at += size;
        while (take() && is_eager) {
        }
        require(!is_eager || splitter.size() <= limit, "no more is kept than the limit");
    }
    while (take()) {
    }
    require(!splitter.has_next() && splitter.messages() == 0, "nothing waits at the end");
    cut.is_too_long = splitter.is_too_long();
    return cut;
}

size_t depth_of(const varlink::Json& json)
{
    size_t depth = 0;
    for (const auto& value : json)
        if (value.is_structured())
            depth = std::max(depth, depth_of(value));
    return depth + 1;
}

size_t values_of(const varlink::Json& json)
{
    size_t values = 1;
    if (json.is_structured())
        for (const auto& value : json)
            values += values_of(value);
    return values;
}

varlink::Json parsed(const std::string& message)
{
    require(!message.empty() && message.find('\0') == message.size() - 1,
            "a message ends with its only NUL");
    require(decode_utf8(message).has_value(), "a message is UTF-8");
    const auto json = varlink::Json::parse(message.substr(0, message.size() - 1), nullptr, false);
    require(json.is_object(), "a message is an object");
    return json;
}

void check_call(const Request& request)
{
    require(request.parameters.is_object(), "parameters are an object");
    require(depth_of(request.parameters) < max_depth, "no call is nested too deeply");
    require(values_of(request.parameters) <= max_values, "no call has too many values");
    require(request.wants_more + request.is_oneway + request.is_upgrade <= 1, "one flag is set");
    const auto name = split_method(request.method);
    require(name && !name->interface.empty() && !name->method.empty(), "a method has an interface");
    require(std::string(name->interface) + '.' + std::string(name->method) == request.method,
            "a method is its parts");
    auto message = varlink::Json::object();
    message["method"] = request.method;
    message["parameters"] = request.parameters;
    // no more than was there: it may be as large as a call may be
    if (request.wants_more)
        message["more"] = true;
    if (request.is_oneway)
        message["oneway"] = true;
    if (request.is_upgrade)
        message["upgrade"] = true;
    const auto again = parse(message.dump());
    require(again && again->method == request.method && again->parameters == request.parameters &&
                again->wants_more == request.wants_more && again->is_oneway == request.is_oneway &&
                again->is_upgrade == request.is_upgrade,
            "a call that is written again is the same call");
    require(parsed(format_reply(request.parameters))["parameters"] == request.parameters,
            "a reply says what it is to say");
}

void check_message(std::string_view message)
{
    const auto request = parse(message);
    if (request)
        return check_call(*request);
    const auto& why = request.error().context;
    const auto text = decode_utf8(why);
    require(!why.empty() && text && !has_control_character(*text), "a reason may go to a log");
}

} // namespace

void run_one(std::string_view input)
{
    for (const size_t limit : {size_t(0), size_t(7), size_t(200), size_t(64 * 1024)}) {
        const auto expected = cut_at_once(input, limit);
        require(cut_in_pieces(input, limit, true) == expected, "pieces make the same messages");
        require(cut_in_pieces(input, limit, false) == expected, "messages may wait");
    }
    for (const auto& message : cut_at_once(input, 64 * 1024).messages)
        check_message(message);
    check_message(input);
    auto parameters = varlink::Json::object();
    parameters[std::string(input)] = std::string(input);
    parsed(format_reply(parameters, true));
    const auto error = parsed(format_error(std::string(input), parameters));
    require(error.contains("error") && error.contains("parameters"), "an error has its parts");
}

} // namespace rdmad::fuzz
