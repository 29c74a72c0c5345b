// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/nldev/client.hpp"

#include "core/nldev/uapi.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <linux/netlink.h>

namespace rdmad::nldev {

namespace {

tl::unexpected<Error> refused(const wire::Status& status)
{
    if (status.error == 0)
        return fail(ENODATA, "the kernel sent an empty reply over RDMA netlink");
    std::string context = "the kernel refused";
    if (!status.text.empty())
        context += " (" + status.text + ")";
    return fail(status.error, std::move(context));
}

bool contains(std::initializer_list<int> errors, int error)
{
    return std::find(errors.begin(), errors.end(), error) != errors.end();
}

} // namespace

Result<uint32_t> Client::ask(const wire::Request& request)
{
    // 0 is the kernel's own number, for events
    if (++sequence_ == 0)
        ++sequence_;
    const auto message = wire::build(request, sequence_);
    if (!message)
        return tl::unexpected<Error>(message.error());
    if (auto sent = transport_.send(*message); !sent)
        return tl::unexpected<Error>(std::move(sent).error());
    return sequence_;
}

/// Returns the next datagram of the kernel. Skips what other processes send to our port ID.
Result<wire::Bytes> Client::receive()
{
    for (;;) {
        const auto datagram = transport_.receive();
        if (!datagram)
            return tl::unexpected<Error>(datagram.error());
        if (datagram->sender != 0)
            continue;
        if (datagram->truncated)
            return fail(EMSGSIZE, "the reply of RDMA netlink is longer than expected");
        return datagram->bytes;
    }
}

template <typename Take>
Result<std::optional<wire::Status>> Client::collect(const wire::Request& request, Take take)
{
    const auto sequence = ask(request);
    if (!sequence)
        return tl::unexpected<Error>(sequence.error());
    for (;;) {
        auto datagram = receive();
        if (!datagram)
            return tl::unexpected<Error>(std::move(datagram).error());
        while (!datagram->empty()) {
            const auto message = wire::take_message(*datagram);
            if (!message)
                return tl::unexpected<Error>(message.error());
            // the rest of an earlier reply that was abandoned
            if (message->sequence != *sequence)
                continue;
            if (message->type == NLMSG_ERROR || message->type == NLMSG_DONE)
                return wire::parse_status(*message).map(
                    [](wire::Status&& status) { return std::optional(std::move(status)); });
            // the type is not compared with the request's: the reply to PORT_GET has type GET
            if (take(message->payload))
                return std::optional<wire::Status>();
        }
    }
}

template <typename T>
Result<std::optional<T>> Client::get(const wire::Request& request, Parser<T> parse,
                                     std::initializer_list<int> absent)
{
    Result<T> answer;
    auto closed = collect(request, [&](wire::Bytes payload) {
        answer = parse(payload);
        return true;
    });
    if (!closed)
        return tl::unexpected<Error>(std::move(closed).error());
    if (!*closed)
        return std::move(answer).map([](T&& value) { return std::optional<T>(std::move(value)); });
    return contains(absent, (*closed)->error) ? Result<std::optional<T>>() : refused(**closed);
}

template <typename Take>
Result<void> Client::dump(wire::Request request, std::initializer_list<int> absent, Take take)
{
    request.flags = NLM_F_DUMP;
    Result<void> outcome;
    auto closed = collect(request, [&](wire::Bytes payload) {
        // what is left unread would come before the reply to the next request
        if (auto taken = take(payload); !taken && outcome)
            outcome = std::move(taken);
        return false;
    });
    if (!closed)
        return tl::unexpected<Error>(std::move(closed).error());
    const auto error = (*closed)->error;
    return error == 0 || contains(absent, error) ? std::move(outcome) : refused(**closed);
}

// These requests have no NLM_F_ACK: the kernel replies with the object or an error, just once.

Result<std::optional<Device>> Client::device(uint32_t index)
{
    return get<Device>({.command = RDMA_NLDEV_CMD_GET, .device_index = index}, wire::parse_device,
                       {EINVAL, ENODEV});
}

Result<std::optional<Port>> Client::port(uint32_t index, uint32_t port)
{
    return get<Port>({.command = RDMA_NLDEV_CMD_PORT_GET, .device_index = index, .port = port},
                     wire::parse_port, {EINVAL, ENODEV});
}

Result<std::optional<CharDevice>> Client::char_device(std::string_view type, uint32_t index,
                                                      std::optional<uint32_t> port)
{
    return get<CharDevice>({.command = RDMA_NLDEV_CMD_GET_CHARDEV,
                            .device_index = index,
                            .port = port,
                            .char_device = type},
                           wire::parse_char_device, {EOPNOTSUPP, ENODEV, EINVAL});
}

Result<uint64_t> Client::contexts(uint32_t index)
{
    return get<uint64_t>({.command = RDMA_NLDEV_CMD_RES_GET, .device_index = index},
                         wire::parse_contexts, {EINVAL, ENODEV})
        .map([](const auto& contexts) { return contexts.value_or(0); });
}

Result<std::map<uint32_t, Device>> Client::devices()
{
    std::map<uint32_t, Device> devices;
    auto outcome = dump({.command = RDMA_NLDEV_CMD_GET}, {}, [&](wire::Bytes payload) {
        return wire::parse_device(payload).map([&](Device&& device) {
            const auto index = device.index;
            devices.insert_or_assign(index, std::move(device));
        });
    });
    return std::move(outcome).map([&] { return std::move(devices); });
}

Result<std::vector<CmId>> Client::cm_ids(uint32_t index)
{
    std::vector<CmId> ids;
    auto outcome = dump({.command = RDMA_NLDEV_CMD_RES_CM_ID_GET, .device_index = index},
                        {EINVAL, ENODEV}, [&](wire::Bytes payload) {
                            return wire::parse_cm_ids(payload).map([&](std::vector<CmId>&& some) {
                                std::move(some.begin(), some.end(), std::back_inserter(ids));
                            });
                        });
    return std::move(outcome).map([&] { return std::move(ids); });
}

Result<bool> Client::has_monitor()
{
    return get<bool>({.command = RDMA_NLDEV_CMD_SYS_GET}, wire::parse_monitor_mode, {})
        .map([](const auto& answer) { return *answer; });
}

Result<void> Client::rename(uint32_t index, std::string_view name)
{
    // without NLM_F_ACK the kernel reports only failures
    auto closed = collect(
        {.command = RDMA_NLDEV_CMD_SET, .flags = NLM_F_ACK, .device_index = index, .name = name},
        [](wire::Bytes) { return false; });
    if (!closed)
        return tl::unexpected<Error>(std::move(closed).error());
    if ((*closed)->error != 0)
        return refused(**closed);
    return {};
}

} // namespace rdmad::nldev
