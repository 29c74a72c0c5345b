// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/support/replay_transport.hpp"

#include <algorithm>
#include <cerrno>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdexcept>
#include <utility>

namespace rdmad::test {

namespace {

constexpr size_t sequence_offset = 8; // of nlmsg_seq in struct nlmsghdr

void number(Octets& datagram, uint32_t sequence)
{
    for (size_t at = 0; at + header_size <= datagram.size();) {
        put_u32(datagram, at + sequence_offset, sequence);
        const size_t length = get_u32(datagram, at);
        if (length < header_size)
            return;
        at += (length + 3) / 4 * 4;
    }
}

} // namespace

void ReplayTransport::answer(std::vector<Reply> replies)
{
    script_.push_back(std::move(replies));
}

void ReplayTransport::answer(const std::vector<Octets>& datagrams)
{
    std::vector<Reply> replies;
    for (const auto& bytes : datagrams)
        replies.push_back({.bytes = bytes});
    answer(std::move(replies));
}

void ReplayTransport::answer(const Octets& datagram)
{
    answer(std::vector<Octets>{datagram});
}

void ReplayTransport::fail_next_send(int error, unsigned after)
{
    send_error_ = error;
    sends_before_error_ = after;
}

SentRequest ReplayTransport::decode(std::string_view message)
{
    const auto bytes = octets(message);
    if (bytes.size() < header_size || get_u32(bytes, 0) != bytes.size())
        throw std::runtime_error("a request that the kernel would not read");
    const uint16_t type = get_u16(bytes, 4);
    if (type >> 10 != RDMA_NL_NLDEV)
        throw std::runtime_error("a request for another client of RDMA netlink");
    SentRequest request;
    request.command = type & 0x3ff;
    request.flags = get_u16(bytes, 6);
    request.sequence = get_u32(bytes, sequence_offset);
    for (size_t at = header_size; at < bytes.size(); at += (get_u16(bytes, at) + 3U) / 4 * 4) {
        const uint16_t kind = get_u16(bytes, at + 2);
        if (kind == RDMA_NLDEV_ATTR_DEV_INDEX)
            request.index = get_u32(bytes, at + 4);
        else if (kind == RDMA_NLDEV_ATTR_PORT_INDEX)
            request.port = get_u32(bytes, at + 4);
        else if (kind == RDMA_NLDEV_ATTR_CHARDEV_TYPE)
            request.char_device = std::string(message.substr(at + 4, get_u16(bytes, at) - 5U));
        else if (kind == RDMA_NLDEV_ATTR_DEV_NAME)
            request.name = std::string(message.substr(at + 4, get_u16(bytes, at) - 5U));
        else
            throw std::runtime_error("a request with an unexpected attribute");
    }
    return request;
}

Result<void> ReplayTransport::send(std::string_view message)
{
    if (fails_next_send())
        return fail(std::exchange(send_error_, 0), "scripted");
    if (sends_before_error_ > 0)
        sends_before_error_--;
    sent_.push_back(decode(message));
    if (script_.empty())
        return {};
    for (auto& reply : script_.front()) {
        number(reply.bytes, reply.sequence.value_or(sent_.back().sequence));
        pending_.push_back(std::move(reply));
    }
    script_.pop_front();
    return {};
}

Result<nldev::Datagram> ReplayTransport::receive()
{
    if (pending_.empty())
        return fail(ENODATA, "end of the script");
    const Reply reply = std::move(pending_.front());
    pending_.pop_front();
    if (reply.error != 0)
        return fail(reply.error, "scripted");
    current_ = reply.bytes;
    current_.shrink_to_fit();
    return nldev::Datagram{current_, reply.sender, reply.truncated};
}

void CapturedKernel::remove(uint32_t index)
{
    removed_.insert(index);
}

void CapturedKernel::leave(uint32_t index)
{
    leaving_.insert(index);
}

void CapturedKernel::return_as(uint32_t index, uint32_t new_index)
{
    removed_.insert(index);
    copy(index, new_index);
}

void CapturedKernel::copy(uint32_t index, uint32_t new_index)
{
    returned_[new_index] = index;
}

std::vector<Octets> CapturedKernel::dump() const
{
    std::vector<Octets> datagrams;
    for (const auto& datagram : capture_.datagrams("dump")) {
        if (get_u16(datagram, 4) == NLMSG_DONE) {
            datagrams.push_back(datagram);
            continue;
        }
        const auto index =
            get_u32(datagram, find_attribute(datagram, RDMA_NLDEV_ATTR_DEV_INDEX) + 4);
        if (!removed_.contains(index) && !leaving_.contains(index))
            datagrams.push_back(datagram);
        for (const auto& [new_index, captured] : returned_) {
            if (captured != index || removed_.contains(new_index) || leaving_.contains(new_index))
                continue;
            Octets value(4);
            put_u32(value, 0, new_index);
            datagrams.push_back(datagram);
            append_attribute(datagrams.back(), RDMA_NLDEV_ATTR_DEV_INDEX, value);
        }
    }
    return datagrams;
}

std::string CapturedKernel::label_of(const SentRequest& request, bool is_returned) const
{
    if (request.command == RDMA_NLDEV_CMD_SYS_GET)
        return "system";
    const bool is_gone = request.index && removed_.contains(*request.index) && !is_returned;
    const std::string index = request.index && !is_gone ? std::to_string(*request.index) : "99";
    const std::string port = request.port ? "/" + std::to_string(*request.port) : "";
    switch (request.command) {
    case RDMA_NLDEV_CMD_GET:
        return capture_.has("device " + index) ? "device " + index : "device 99";
    case RDMA_NLDEV_CMD_PORT_GET:
        if (refused_ports_.contains({request.index.value_or(0), request.port.value_or(0)}))
            return "port 0/9";
        return capture_.has("port " + index + port) ? "port " + index + port : "port 0/9";
    case RDMA_NLDEV_CMD_GET_CHARDEV: {
        const auto label = request.char_device + " " + index + port;
        return capture_.has(label) ? label : "issm 0/1";
    }
    case RDMA_NLDEV_CMD_RES_CM_ID_GET:
        return "device 99";
    default:
        throw std::runtime_error("a command that was not captured");
    }
}

std::string CapturedKernel::name_of(uint32_t index) const
{
    if (const auto given = names_.find(index); given != names_.end())
        return given->second;
    const auto label = "device " + std::to_string(index);
    if (removed_.contains(index) || !capture_.has(label))
        return {};
    const auto& datagram = capture_.datagram(label);
    const size_t at = find_attribute(datagram, RDMA_NLDEV_ATTR_DEV_NAME);
    return {reinterpret_cast<const char*>(datagram.data()) + at + 4};
}

/// The question whose answer fits.
std::string CapturedKernel::rename(const SentRequest& request)
{
    constexpr uint32_t devices = 4;
    if (!request.index || name_of(*request.index).empty())
        return "rename 99";
    for (uint32_t other = 0; other < devices; other++)
        if (other != *request.index && name_of(other) == request.name)
            return "rename 3 to the name of device 1";
    names_[*request.index] = request.name;
    return "rename 3";
}

/// Of an attribute that comes twice the last one counts.
std::vector<Octets> CapturedKernel::renamed(std::vector<Octets> datagrams) const
{
    for (auto& datagram : datagrams) {
        if (get_u16(datagram, 4) < NLMSG_MIN_TYPE)
            continue;
        for (const auto& [index, name] : names_)
            if (get_u32(datagram, find_attribute(datagram, RDMA_NLDEV_ATTR_DEV_INDEX) + 4) == index)
                append_attribute(datagram, RDMA_NLDEV_ATTR_DEV_NAME,
                                 octets(name + std::string(1, '\0')));
    }
    return datagrams;
}

/// The kernel leaves out what it writes last of a port (fill_port_info(),
/// drivers/infiniband/core/nldev.c).
std::vector<Octets> CapturedKernel::answers(const SentRequest& request) const
{
    auto datagrams = capture_.datagrams(label_of(request));
    if (request.command == RDMA_NLDEV_CMD_PORT_GET &&
        hidden_netdevs_.contains({request.index.value_or(0), request.port.value_or(0)})) {
        auto& port = datagrams.at(0);
        port.resize(find_attribute(port, RDMA_NLDEV_ATTR_NDEV_INDEX));
        put_u32(port, 0, static_cast<uint32_t>(port.size()));
    }
    return datagrams;
}

/// The answer of the appearance that was captured, with the new index.
std::vector<Octets> CapturedKernel::returned(SentRequest request) const
{
    Octets index(4);
    put_u32(index, 0, *request.index);
    request.index = returned_.at(*request.index);
    auto datagrams = renamed(capture_.datagrams(label_of(request, true)));
    if (request.command != RDMA_NLDEV_CMD_GET_CHARDEV)
        for (auto& datagram : datagrams)
            if (get_u16(datagram, 4) >= NLMSG_MIN_TYPE)
                append_attribute(datagram, RDMA_NLDEV_ATTR_DEV_INDEX, index);
    return datagrams;
}

Result<void> CapturedKernel::send(std::string_view message)
{
    // a request that does not get there has no answer
    if (fails_next_send())
        return ReplayTransport::send(message);
    const auto request = decode(message);
    const bool is_dump =
        request.command == RDMA_NLDEV_CMD_GET && (request.flags & NLM_F_DUMP) == NLM_F_DUMP;
    if (request.index && returned_.contains(*request.index) && !removed_.contains(*request.index))
        answer(returned(request));
    else if (request.command == RDMA_NLDEV_CMD_SET)
        answer(capture_.datagrams(rename(request)));
    else if (request.command == RDMA_NLDEV_CMD_GET_CHARDEV)
        answer(capture_.datagrams(label_of(request))); // which names no device
    else
        answer(renamed(is_dump ? dump() : answers(request)));
    return ReplayTransport::send(message);
}

size_t CapturedKernel::count(uint16_t command) const
{
    return static_cast<size_t>(
        std::count_if(sent().begin(), sent().end(),
                      [&](const SentRequest& request) { return request.command == command; }));
}

size_t CapturedKernel::dumps() const
{
    return static_cast<size_t>(
        std::count_if(sent().begin(), sent().end(), [](const SentRequest& request) {
            return (request.flags & NLM_F_DUMP) == NLM_F_DUMP;
        }));
}

} // namespace rdmad::test
