// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/nldev/devlink.hpp"
#include "core/nldev/uapi.hpp"
#include "core/nldev/wire.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <linux/genetlink.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

// The input is one datagram. Every parser gets every payload, whatever its type: who answers what
// is the kernel's promise, not ours.

namespace rdmad::fuzz {

namespace {

using namespace nldev;
using wire::Bytes;

constexpr size_t header_size = sizeof(nlattr);

/// A second reading of the attributes: the value of the last one of a type, which is the one that
/// counts.
std::optional<Bytes> last_value(Bytes payload, uint16_t type)
{
    std::optional<Bytes> found;
    while (payload.size() >= header_size) {
        nlattr header;
        memcpy(&header, payload.data(), sizeof header);
        require(header.nla_len >= header_size && header.nla_len <= payload.size(),
                "attributes that do not fit are refused");
        if ((header.nla_type & NLA_TYPE_MASK) == type)
            found = payload.subspan(header_size, header.nla_len - header_size);
        payload = payload.subspan(std::min<size_t>(NLA_ALIGN(header.nla_len), payload.size()));
    }
    require(payload.empty(), "bytes left over are refused");
    return found;
}

template <typename T>
void require_number(T number, Bytes payload, uint16_t type)
{
    const auto value = last_value(payload, type);
    require(value && value->size() == sizeof number, "a number has its attribute, and its size");
    require(memcmp(value->data(), &number, sizeof number) == 0, "a number is the attribute's");
}

template <typename T>
void require_optional(const std::optional<T>& number, Bytes payload, uint16_t type)
{
    require(number.has_value() == last_value(payload, type).has_value(), "none means no attribute");
    if (number)
        require_number(*number, payload, type);
}

void require_text(const std::string& text, Bytes payload, uint16_t type)
{
    require(text.find('\0') == std::string::npos, "a text holds no NUL");
    const auto value = last_value(payload, type);
    require(value && value->size() == text.size() + 1 &&
                memcmp(value->data(), text.c_str(), text.size() + 1) == 0,
            "a text is the attribute's, without its NUL");
}

void require_optional(const std::optional<std::string>& text, Bytes payload, uint16_t type)
{
    require(text.has_value() == last_value(payload, type).has_value(), "none means no attribute");
    if (text)
        require_text(*text, payload, type);
}

void require_reason(const Error& error)
{
    require(error.code == EBADMSG && !error.context.empty(), "what is refused has a reason");
}

void check_device(Bytes payload)
{
    const auto device = wire::parse_device(payload);
    if (!device)
        return require_reason(device.error());
    require_number(device->index, payload, RDMA_NLDEV_ATTR_DEV_INDEX);
    require(!device->name.empty(), "a device has a name");
    require_text(device->name, payload, RDMA_NLDEV_ATTR_DEV_NAME);
    if (device->node_guid != 0)
        require_number(device->node_guid, payload, RDMA_NLDEV_ATTR_NODE_GUID);
    require_optional(device->node_type, payload, RDMA_NLDEV_ATTR_DEV_NODE_TYPE);
    require_optional(device->protocol, payload, RDMA_NLDEV_ATTR_DEV_PROTOCOL);
    require_optional(device->fw_version, payload, RDMA_NLDEV_ATTR_FW_VERSION);
    require_optional(device->parent_name, payload, uapi::attr_parent_name);
}

void check_port(Bytes payload)
{
    const auto port = wire::parse_port(payload);
    if (!port)
        return require_reason(port.error());
    require_number(port->port, payload, RDMA_NLDEV_ATTR_PORT_INDEX);
    require_optional(port->state, payload, RDMA_NLDEV_ATTR_PORT_STATE);
    require_optional(port->lid, payload, RDMA_NLDEV_ATTR_LID);
    require_optional(port->netdev, payload, RDMA_NLDEV_ATTR_NDEV_NAME);
    require_optional(port->netdev_index, payload, RDMA_NLDEV_ATTR_NDEV_INDEX);
}

void check_devlink(Bytes payload)
{
    const auto notice = nldev::parse_devlink(payload);
    if (!notice)
        return require_reason(notice.error());
    const auto* name = reinterpret_cast<const char*>(payload.data());
    require(payload.size() >= sizeof(genlmsghdr), "a header is whole");
    require(notice->device.empty() ||
                std::string_view(name, payload.size()).find(notice->device) != std::string::npos,
            "a device is one that was named");
    const bool is_of_all = notice->reloads && (notice->is_healthy || notice->is_gone);
    require(!notice->device.empty() && !is_of_all, "what is told is of a device, and one thing");
}

void check_contexts(Bytes payload)
{
    const auto contexts = wire::parse_contexts(payload);
    if (!contexts)
        return require_reason(contexts.error());
    require(*contexts == 0 || last_value(payload, RDMA_NLDEV_ATTR_RES_SUMMARY),
            "without a table there is none");
}

void check_cm_ids(Bytes payload)
{
    const auto ids = wire::parse_cm_ids(payload);
    if (!ids)
        return require_reason(ids.error());
    const auto table = last_value(payload, RDMA_NLDEV_ATTR_RES_CM_ID);
    require(ids->empty() || table, "without a table there is none");
    require(!table || ids->size() * header_size <= table->size(), "each has an attribute");
    for (const auto& id : *ids)
        require(id.kernel_user.find('\0') == std::string::npos, "a text holds no NUL");
}

void check_char_device(Bytes payload)
{
    const auto device = wire::parse_char_device(payload);
    if (!device)
        return require_reason(device.error());
    require(!device->name.empty(), "a node has a name");
    require_text(device->name, payload, RDMA_NLDEV_ATTR_CHARDEV_NAME);
    require_optional(device->driver_id, payload, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID);
}

void check_monitor_mode(Bytes payload)
{
    const auto has_monitor = wire::parse_monitor_mode(payload);
    if (!has_monitor)
        return require_reason(has_monitor.error());
    require(!*has_monitor || last_value(payload, uapi::attr_monitor_mode),
            "a kernel that tells nothing has no monitor");
}

void check_notification(Bytes payload)
{
    const auto notification = wire::parse_notification(payload);
    if (!notification)
        return require_reason(notification.error());
    require_optional(notification->device_index, payload, RDMA_NLDEV_ATTR_DEV_INDEX);
}

void check_status(wire::Message message)
{
    for (const uint16_t type : {uint16_t{NLMSG_ERROR}, uint16_t{NLMSG_DONE}}) {
        message.type = type;
        const auto status = wire::parse_status(message);
        if (!status) {
            require_reason(status.error());
            continue;
        }
        require(status->error >= 0 && status->error <= 4095, "an error is an errno value");
        require(status->text.find('\0') == std::string::npos, "a text holds no NUL");
        require(status->text.size() <= message.payload.size(), "the words are the message's");
    }
}

void check_link(wire::Message message)
{
    for (const uint16_t type : {RTM_NEWLINK, RTM_DELLINK, RTM_NEWADDR, RTM_DELADDR}) {
        message.type = type;
        // both headers have the index behind four bytes
        uint32_t wanted = 0;
        const size_t size = type < RTM_NEWADDR ? sizeof(ifinfomsg) : sizeof(ifaddrmsg);
        const auto index = wire::parse_link_index(message);
        require(index.has_value() == (message.payload.size() >= size), "a header is whole or none");
        if (index)
            memcpy(&wanted, message.payload.data() + 4, sizeof wanted);
        require(index.value_or(0) == wanted, "an index is the header's");
    }
}

} // namespace

void run_one(std::string_view input)
{
    const Bytes all(reinterpret_cast<const std::byte*>(input.data()), input.size());
    Bytes left = all;
    while (!left.empty()) {
        const Bytes before = left;
        const auto message = wire::take_message(left);
        if (!message) {
            require_reason(message.error());
            require(left.size() == before.size(), "what is refused is not taken");
            return;
        }
        require(left.size() < before.size() && left.data() == all.data() + all.size() - left.size(),
                "each message takes bytes off the front");
        require(message->payload.data() == before.data() + NLMSG_HDRLEN &&
                    message->payload.size() + NLMSG_HDRLEN <= before.size() - left.size(),
                "a payload lies in its message");
        check_status(*message);
        check_device(message->payload);
        check_contexts(message->payload);
        check_cm_ids(message->payload);
        check_port(message->payload);
        check_char_device(message->payload);
        check_monitor_mode(message->payload);
        check_notification(message->payload);
        check_link(*message);
        check_devlink(message->payload);
    }
}

} // namespace rdmad::fuzz
