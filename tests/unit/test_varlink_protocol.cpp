// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/varlink/output.hpp"
#include "daemon/varlink/protocol.hpp"
#include "daemon/varlink/throttle.hpp"
#include "tests/support/must.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

using namespace rdmad;
using namespace rdmad::test;
using namespace rdmad::varlink;
using namespace std::string_literals;

namespace {

using Messages = std::vector<std::string>;

constexpr size_t limit = 10;

/// What comes out if the stream comes in pieces of that size.
Messages messages_of(const std::string& stream, size_t piece)
{
    Splitter splitter(limit);
    Messages messages;
    for (size_t at = 0; at < stream.size(); at += piece) {
        splitter.push(std::string_view(stream).substr(at, piece));
        while (const auto message = splitter.next())
            messages.emplace_back(*message);
    }
    if (splitter.is_too_long())
        messages.emplace_back("too long");
    return messages;
}

std::string repeat(const std::string& text, size_t times)
{
    std::string all;
    for (size_t i = 0; i < times; i++)
        all += text;
    return all;
}

std::string call_with(const std::string& parameters)
{
    return R"({"method":"a.b.C","parameters":)" + parameters + "}";
}

std::string nested(size_t depth, const std::string& open, const std::string& close)
{
    return call_with(R"({"x":)" + repeat(open, depth) + "1" + repeat(close, depth) + "}");
}

std::string why_not(const std::string& message)
{
    const auto request = parse(message);
    return request ? "" : request.error().context;
}

} // namespace

TEST_CASE("a stream is cut at each NUL, in pieces of any size", "[varlink]")
{
    const size_t piece = GENERATE(range(size_t(1), size_t(20)));
    CHECK(messages_of("one\0two\0\0three\0fo"s, piece) == Messages{"one", "two", "", "three"});
    CHECK(messages_of("\0"s, piece) == Messages{""});
    CHECK(messages_of("", piece).empty());
}

TEST_CASE("a message may have as many bytes as the limit, and no more", "[varlink]")
{
    const size_t piece = GENERATE(range(size_t(1), size_t(40)));
    CHECK(messages_of("1234567890\0"s, piece) == Messages{"1234567890"});
    CHECK(messages_of("1234567890", piece).empty());
    CHECK(messages_of("12345678901", piece) == Messages{"too long"});
    CHECK(messages_of("12345678901\0"s, piece) == Messages{"too long"});
    CHECK(messages_of("ok\0ok\0a message that is too long\0ok\0"s, piece) ==
          Messages{"ok", "ok", "too long"});
}

TEST_CASE("after a message that is too long nothing is kept", "[varlink]")
{
    Splitter splitter(limit);
    splitter.push("ok\0"s + std::string(100, 'x'));
    REQUIRE(splitter.next() == std::optional<std::string_view>("ok"));
    CHECK_FALSE(splitter.is_too_long());
    CHECK(splitter.has_next());
    CHECK_FALSE(splitter.next().has_value());
    CHECK(splitter.is_too_long());
    splitter.push("ok\0ok\0"s);
    CHECK(splitter.size() == 0);
    CHECK(splitter.messages() == 0);
    CHECK_FALSE(splitter.has_next());
    CHECK_FALSE(splitter.next().has_value());
}

TEST_CASE("messages that wait are counted", "[varlink]")
{
    Splitter splitter(limit);
    splitter.push("a\0bc\0d"s);
    CHECK(splitter.messages() == 2);
    CHECK(splitter.size() == 6);
    REQUIRE(splitter.next().has_value());
    CHECK(splitter.messages() == 1);
    CHECK(splitter.size() == 4);
    REQUIRE(splitter.next().has_value());
    CHECK_FALSE(splitter.has_next());
    CHECK_FALSE(splitter.next().has_value());
    CHECK(splitter.size() == 1);
    splitter.push("e\0"s);
    CHECK(splitter.next() == std::optional<std::string_view>("de"));
}

TEST_CASE("messages that wait are not moved for each byte that comes", "[varlink]")
{
    // quadratic, this would move 100 GB
    constexpr size_t count = 500'000;
    Splitter splitter(limit);
    splitter.push(repeat("\0"s, count));
    for (size_t i = 0; i < count; i++) {
        splitter.push("\0"s);
        REQUIRE(splitter.next().has_value());
    }
    CHECK(splitter.messages() == count);
    CHECK(splitter.size() == count);
}

TEST_CASE("what was written or taken keeps no memory", "[varlink]")
{
    // a short string stands in the object itself
    const auto is_in = [](const auto& object, const char* bytes) {
        const auto* begin = reinterpret_cast<const char*>(&object);
        return bytes >= begin && bytes < begin + sizeof object;
    };
    Output output;
    output.push(repeat("x", 100'000));
    CHECK_FALSE(is_in(output, output.rest().data()));
    output.drop(60'000);
    output.clear();
    CHECK(is_in(output, output.rest().data()));

    Splitter splitter(100'000);
    splitter.push(repeat("x", 100'000) + "\0"s);
    REQUIRE(splitter.next().has_value());
    CHECK_FALSE(splitter.next().has_value());
    splitter.push("\0"s);
    const auto empty = splitter.next();
    REQUIRE(empty.has_value());
    CHECK(is_in(splitter, empty->data()));
}

TEST_CASE("a call is read with all that it has", "[varlink]")
{
    const auto plain = must(parse(R"({"method":"io.rdmad.Devices.List"})"));
    CHECK(plain.method == "io.rdmad.Devices.List");
    CHECK(plain.parameters == Json::object());
    CHECK_FALSE(plain.wants_more);
    CHECK_FALSE(plain.is_oneway);
    CHECK_FALSE(plain.is_upgrade);

    const auto more = must(parse(
        R"( {"more":true,"oneway":false,"parameters":{"a":[1,"\u00e9"]},"method":"a-1.b.C","x":0} )"));
    CHECK(more.method == "a-1.b.C");
    CHECK(more.parameters.dump() == "{\"a\":[1,\"\u00e9\"]}");
    CHECK(more.wants_more);
    CHECK_FALSE(more.is_oneway);
    CHECK(must(parse(R"({"method":"a.B","oneway":true})")).is_oneway);
    CHECK(must(parse(R"({"method":"a.B","upgrade":true})")).is_upgrade);
    CHECK(must(parse(call_with("null"))).parameters == Json::object());
}

TEST_CASE("what is no call is refused with a reason", "[varlink]")
{
    struct Row {
        std::string message;
        std::string why;
    };
    const auto row = GENERATE(values<Row>({
        {"", "the message is no JSON"},
        {"rubbish", "the message is no JSON"},
        {"]", "the message is no JSON"},
        {"{\"method\":\"a.B\"}{}", "the message is no JSON"},
        {"{\"method\":\"a.B\",}", "the message is no JSON"},
        {"{\"method\":\"a.\xff\"}", "the message is no JSON"},
        {"{\"method\":\"a.B\",\"parameters\":{\"x\":1e999}}", "the message is no JSON"},
        {"[]", "the message is no object"},
        {"null", "the message is no object"},
        {"\"a.B\"", "the message is no object"},
        {"1", "the message is no object"},
        {"{}", "method is missing or no string"},
        {R"({"method":null})", "method is missing or no string"},
        {R"({"method":1})", "method is missing or no string"},
        {R"({"method":["a.B"]})", "method is missing or no string"},
        {R"({"method":""})", "method is no name of an interface and a method"},
        {R"({"method":"List"})", "method is no name of an interface and a method"},
        {R"({"method":".List"})", "method is no name of an interface and a method"},
        {R"({"method":"a.b."})", "method is no name of an interface and a method"},
        {R"({"method":"a.B\n"})", "method is no name of an interface and a method"},
        {R"({"method":"a.\u0000B"})", "method is no name of an interface and a method"},
        {R"({"method":"a.)" + std::string(254, 'B') + "\"}",
         "method is no name of an interface and a method"},
        {call_with("[]"), "parameters are no object"},
        {call_with("\"x\""), "parameters are no object"},
        {call_with("0"), "parameters are no object"},
        {call_with("false"), "parameters are no object"},
        {R"({"method":"a.B","more":1})", "more is neither true nor false"},
        {R"({"method":"a.B","more":null})", "more is neither true nor false"},
        {R"({"method":"a.B","oneway":"true"})", "oneway is neither true nor false"},
        {R"({"method":"a.B","upgrade":{}})", "upgrade is neither true nor false"},
        {R"({"method":"a.B","more":true,"oneway":true})",
         "more, oneway and upgrade exclude each other"},
        {R"({"method":"a.B","more":true,"upgrade":true})",
         "more, oneway and upgrade exclude each other"},
    }));
    INFO(row.message);
    CHECK(why_not(row.message) == row.why);
    CHECK(error_of(parse(row.message)) == EBADMSG);
}

TEST_CASE("a method may have a name of 255 bytes", "[varlink]")
{
    CHECK(why_not(R"({"method":"a.)" + std::string(253, 'B') + "\"}").empty());
}

TEST_CASE("a call that is cut anywhere is refused", "[varlink]")
{
    const std::string whole = R"({"method":"a.B","parameters":{"x":[1,{"y":"\"{"}]},"more":true})";
    REQUIRE(parse(whole).has_value());
    for (size_t size = 0; size < whole.size(); size++) {
        INFO(size);
        CHECK_FALSE(parse(whole.substr(0, size)).has_value());
    }
}

TEST_CASE("nesting is bounded", "[varlink]")
{
    // the message and its parameters are two
    CHECK(why_not(nested(max_depth - 2, "[", "]")).empty());
    CHECK(why_not(nested(max_depth - 2, "{\"x\":", "}")).empty());
    const std::string deep = "the message is nested too deeply";
    CHECK(why_not(nested(max_depth - 1, "[", "]")) == deep);
    CHECK(why_not(nested(max_depth - 1, "{\"x\":", "}")) == deep);
    CHECK(why_not(repeat("[", 60'000)) == deep);
    CHECK(why_not(repeat("]", 10) + repeat("[", max_depth + 1)) == deep);
}

TEST_CASE("brackets in a string are no nesting", "[varlink]")
{
    const auto text =
        GENERATE(as<std::string>(), "[[[[[[[[[[[[[[[[[[[[", "\\\"[[[[[[[[[[[[[[[[[[[[[[",
                 "\\\\\\\"{{{{{{{{{{{{{{{{{{{{", "]]]]");
    CHECK(why_not(call_with("{\"x\":\"" + text + "\"}")).empty());
    // the string ends here, and nesting begins
    CHECK(why_not(call_with("{\"x\":\"" + text + "\\\\\"" + repeat("[", 20))) ==
          "the message is nested too deeply");
}

TEST_CASE("the number of values is bounded", "[varlink]")
{
    // each of these is a list of n values in two objects with two values
    const auto list = [](const std::string& value, size_t n) {
        return call_with("{\"x\":[" + repeat(value + ",", n - 1) + value + "]}");
    };
    CHECK(why_not(list("1", max_values - 4)).empty());
    CHECK(why_not(list("1", max_values)) == "the message has too many values");
    CHECK(why_not(list("[]", max_values / 2)) == "the message has too many values");
    CHECK(why_not(list("\",,,,,,,,,,,,,,,,,,,,,,\"", max_values / 2)).empty());
}

TEST_CASE("the method is what stands after the last dot", "[varlink]")
{
    const auto name = split_method("io.rdmad.Devices.List");
    REQUIRE(name.has_value());
    CHECK(name->interface == "io.rdmad.Devices");
    CHECK(name->method == "List");
    CHECK_FALSE(split_method("List").has_value());
    CHECK_FALSE(split_method("").has_value());
    CHECK_FALSE(split_method(".").has_value());
}

TEST_CASE("replies and errors are whole messages", "[varlink]")
{
    auto parameters = Json::object();
    parameters["x"] = "\"";
    CHECK(format_reply(Json::object()) == "{\"parameters\":{}}\0"s);
    CHECK(format_reply(parameters) == "{\"parameters\":{\"x\":\"\\\"\"}}\0"s);
    CHECK(format_reply(parameters, true) ==
          "{\"parameters\":{\"x\":\"\\\"\"},\"continues\":true}\0"s);
    CHECK(format_error("a.B", parameters) ==
          "{\"error\":\"a.B\",\"parameters\":{\"x\":\"\\\"\"}}\0"s);
}

TEST_CASE("what is not UTF-8 is replaced, and a NUL is escaped", "[varlink]")
{
    auto parameters = Json::object();
    parameters["x"] = "\xff\0"s;
    CHECK(format_reply(parameters) == "{\"parameters\":{\"x\":\"\xef\xbf\xbd\\u0000\"}}\0"s);
    CHECK(format_error("\xff", Json::object()) ==
          "{\"error\":\"\xef\xbf\xbd\",\"parameters\":{}}\0"s);
}

TEST_CASE("a log gets one line for each reason and ten seconds", "[varlink]")
{
    Throttle throttle;
    const auto line = [&](const std::string& reason, uint64_t second) {
        return throttle.line(reason, " (x)", second * 1'000'000).value_or("");
    };
    CHECK(line("a", 1) == "a (x)");
    CHECK(line("a", 1).empty());
    CHECK(line("b", 2) == "b (x)");
    CHECK(line("a", 10).empty());
    CHECK(line("a", 11) == "a (x), and 2 more before");
    CHECK(line("a", 20).empty());
    CHECK(line("a", 30) == "a (x), and 1 more before");
    CHECK(line("a", 40) == "a (x)");
}
