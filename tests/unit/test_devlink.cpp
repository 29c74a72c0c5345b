// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/nldev/devlink.hpp"
#include "daemon/inventory/event_socket.hpp"
#include "tests/catch.hpp"
#include "tests/support/captures.hpp"
#include "tests/support/guarded_bytes.hpp"

#include <cerrno>
#include <linux/devlink.h>
#include <linux/netlink.h>
#include <set>

using namespace rdmad;
using namespace rdmad::test;
using List = std::vector<std::string>;

namespace {

/// What a kernel told of the adapter in slot 1 after something had been done to it.
std::vector<nldev::DevlinkNotice> notices_of(const Capture& capture, const std::string& label)
{
    std::vector<nldev::DevlinkNotice> all;
    for (const auto& datagram : capture.datagrams(label)) {
        const GuardedBytes guarded(datagram);
        const auto notices = devlink_notices_in(guarded.bytes());
        all.insert(all.end(), notices.begin(), notices.end());
    }
    return all;
}

std::string text_of(const nldev::DevlinkNotice& notice)
{
    std::string text;
    if (notice.reloads)
        text += std::to_string(*notice.reloads) + " reloads";
    if (notice.has_failed_to_reload)
        text += ", failed";
    if (notice.is_healthy)
        text += *notice.is_healthy ? "healthy" : "error";
    if (notice.is_gone)
        text += "gone";
    return text;
}

/// Without those that tell nothing.
List texts_of(const Capture& capture, const std::string& label)
{
    List texts;
    for (const auto& notice : notices_of(capture, label)) {
        CHECK(notice.device == "0000:01:00.0");
        if (auto text = text_of(notice); !text.empty())
            texts.push_back(std::move(text));
    }
    return texts;
}

Octets first_of(const Capture& capture, const std::string& label)
{
    return capture.datagrams(label).at(0);
}

/// Returns the length of the attribute at that offset with what fills up to the next one.
size_t aligned_length(const Octets& datagram, size_t at)
{
    return static_cast<size_t>(NLA_ALIGN(get_u16(datagram, at)));
}

/// The innermost attribute of that type, which is one in another.
size_t find_nested(const Octets& datagram, const std::vector<uint16_t>& types)
{
    size_t begin = header_size + 4;
    size_t end = datagram.size();
    for (const auto type : types) {
        size_t at = begin;
        while (at < end && (get_u16(datagram, at + 2) & NLA_TYPE_MASK) != type)
            at += aligned_length(datagram, at);
        REQUIRE(at < end);
        end = at + get_u16(datagram, at);
        begin = at + 4;
    }
    return begin - 4;
}

const std::vector<uint16_t> count_path = {
    DEVLINK_ATTR_DEV_STATS,          DEVLINK_ATTR_RELOAD_STATS,
    DEVLINK_ATTR_RELOAD_ACTION_INFO, DEVLINK_ATTR_RELOAD_ACTION_STATS,
    DEVLINK_ATTR_RELOAD_STATS_ENTRY, DEVLINK_ATTR_RELOAD_STATS_VALUE};

} // namespace

TEST_CASE("three kernels tell of reloads and errors", "[devlink]")
{
    const auto kernel = GENERATE(from_range(kernels()));
    INFO(kernel);
    const Capture capture(kernel);
    CHECK(texts_of(capture, "devlink") == List{"0 reloads"});
    CHECK(texts_of(capture, "devlink reload") == List{"1 reloads"});
    CHECK(texts_of(capture, "devlink error") == List{"error", "healthy"});
    CHECK(texts_of(capture, "devlink failing reload") == List{"1 reloads, failed"});
    CHECK(texts_of(capture, "devlink reload after that").back() == "2 reloads");
    CHECK(texts_of(capture, "devlink unbind") == List{"gone"});
    CHECK(texts_of(capture, "devlink bind") == List{"0 reloads"});
}

TEST_CASE("what a reporter of one port tells is not of the function", "[devlink]")
{
    auto datagram = first_of(Capture(GENERATE(from_range(kernels()))), "devlink error");
    append_attribute(datagram, DEVLINK_ATTR_PORT_INDEX, Octets(4, std::byte{1}));
    const auto notices = devlink_notices_in(datagram);
    REQUIRE(notices.size() == 1);
    CHECK_FALSE(notices[0].is_healthy.has_value());
}

TEST_CASE("a reload that leaves everything as it is does not count", "[devlink]")
{
    auto datagram = first_of(Capture(GENERATE(from_range(kernels()))), "devlink reload");
    auto path = count_path;
    path.back() = DEVLINK_ATTR_RELOAD_STATS_LIMIT;
    datagram[find_nested(datagram, path) + 4] = std::byte{DEVLINK_RELOAD_LIMIT_NO_RESET};
    CHECK(devlink_notices_in(datagram).at(0).reloads == uint64_t{0});
}

TEST_CASE("large counts are told as they are", "[devlink]")
{
    auto datagram = first_of(Capture("7.2"), "devlink reload");
    put_u32(datagram, find_nested(datagram, count_path) + 4, 0xffffffff);
    CHECK(devlink_notices_in(datagram).at(0).reloads == uint64_t{0xffffffff});
}

TEST_CASE("any beginning of what devlink tells is refused, or ends between attributes", "[devlink]")
{
    const Capture capture(GENERATE(from_range(kernels())));
    const auto label = GENERATE("devlink reload", "devlink error", "devlink unbind");
    const auto datagram = first_of(capture, label);
    std::set<size_t> ends;
    for (size_t at = header_size + 4; at < datagram.size(); at += aligned_length(datagram, at))
        // or in what fills up to the next
        for (size_t end = get_u16(datagram, at); end <= aligned_length(datagram, at); end++)
            ends.insert(at + end);
    for (size_t size = header_size; size < datagram.size(); size++) {
        INFO(label << ", " << size << " bytes");
        const GuardedBytes guarded(Octets(datagram.begin() + header_size,
                                          datagram.begin() + static_cast<std::ptrdiff_t>(size)));
        const auto notice = nldev::parse_devlink(guarded.bytes());
        if (!ends.contains(size)) {
            REQUIRE_FALSE(notice.has_value());
            CHECK(notice.error().code == EBADMSG);
        } else if (notice) {
            CHECK(notice->device == "0000:01:00.0");
        }
    }
}

TEST_CASE("values of a wrong size are refused", "[devlink]")
{
    const Capture capture("7.2");
    auto datagram = first_of(capture, "devlink error");
    SECTION("a port")
    {
        append_attribute(datagram, DEVLINK_ATTR_PORT_INDEX, Octets(3));
    }
    SECTION("a name")
    {
        append_attribute(datagram, DEVLINK_ATTR_DEV_NAME, octets("without its NUL"));
    }
    SECTION("a reporter's state")
    {
        const auto at = find_nested(
            datagram, {DEVLINK_ATTR_HEALTH_REPORTER, DEVLINK_ATTR_HEALTH_REPORTER_STATE});
        put_u16(datagram, at, 4);
    }
    SECTION("a count")
    {
        datagram = first_of(capture, "devlink reload");
        put_u16(datagram, find_nested(datagram, count_path), 6);
    }
    SECTION("a nest that is longer than what it is in")
    {
        datagram = first_of(capture, "devlink reload");
        const auto at = find_nested(datagram, {DEVLINK_ATTR_DEV_STATS, DEVLINK_ATTR_RELOAD_STATS});
        put_u16(datagram, at, 0xfff0);
    }
    const auto notice = nldev::parse_devlink(std::span(datagram).subspan(header_size));
    REQUIRE_FALSE(notice.has_value());
    CHECK(notice.error().code == EBADMSG);
}
