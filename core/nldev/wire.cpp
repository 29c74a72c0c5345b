// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/nldev/wire.hpp"

#include "core/base/c_ptr.hpp"
#include "core/nldev/attributes.hpp"
#include "core/nldev/uapi.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>

namespace rdmad::nldev::wire {

namespace {

/// Returns the text of an extended ACK, which follows the error code, the request's header and, if
/// not capped, its payload (netlink_ack(), net/netlink/af_netlink.c).
std::string extended_ack(const Message& message)
{
    constexpr uint16_t capped = 0x100;     // NLM_F_CAPPED
    constexpr uint16_t has_tlvs = 0x200;   // NLM_F_ACK_TLVS
    constexpr uint16_t text_attribute = 1; // NLMSGERR_ATTR_MSG
    if (!(message.flags & has_tlvs))
        return {};
    size_t skip = sizeof(int);
    if (message.type == NLMSG_ERROR) {
        nlmsgerr header;
        if (message.payload.size() < sizeof header)
            return {};
        memcpy(&header, message.payload.data(), sizeof header);
        skip = sizeof header;
        if (!(message.flags & capped) && header.msg.nlmsg_len > sizeof header.msg)
            skip += NLMSG_ALIGN(static_cast<size_t>(header.msg.nlmsg_len) - sizeof header.msg);
    }
    if (skip > message.payload.size())
        return {};
    std::optional<std::string> text;
    // the words are a courtesy: if they are broken the code still counts
    if (!parse_attributes(message.payload.subspan(skip), {{text_attribute, &text}}))
        return {};
    return text.value_or("");
}

} // namespace

Result<Message> take_message(Bytes& datagram)
{
    nlmsghdr header;
    if (datagram.size() < sizeof header)
        return malformed("netlink datagram ends in " + std::to_string(datagram.size()) +
                         " bytes, shorter than a header");
    memcpy(&header, datagram.data(), sizeof header);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > datagram.size())
        return malformed("netlink message claims " + std::to_string(header.nlmsg_len) +
                         " bytes of " + std::to_string(datagram.size()));
    const Message message{header.nlmsg_type, header.nlmsg_flags, header.nlmsg_seq,
                          datagram.subspan(sizeof header, header.nlmsg_len - sizeof header)};
    // the last message of a datagram may lack its padding
    datagram = datagram.subspan(std::min<size_t>(NLMSG_ALIGN(header.nlmsg_len), datagram.size()));
    return message;
}

Result<Status> parse_status(const Message& message)
{
    int code;
    if (message.payload.size() < sizeof code) {
        // NLMSG_DONE of some senders is empty; RDMA's never is, but then there is no error in it
        if (message.type == NLMSG_DONE && message.payload.empty())
            return Status{};
        return malformed("netlink status of " + std::to_string(message.payload.size()) + " bytes");
    }
    memcpy(&code, message.payload.data(), sizeof code);
    if (code > 0 && message.type == NLMSG_ERROR)
        return malformed("netlink error code " + std::to_string(code) + " is positive");
    if (code < -4095)
        return malformed("netlink error code " + std::to_string(code) + " is no errno");
    // a dump may end in a positive count: that is success
    return Status{code < 0 ? -code : 0, extended_ack(message)};
}

Result<Device> parse_device(Bytes payload)
{
    Device device;
    std::optional<uint32_t> index;
    auto outcome =
        parse_attributes(payload, {{RDMA_NLDEV_ATTR_DEV_INDEX, &index},
                                   {RDMA_NLDEV_ATTR_DEV_NAME, &device.name},
                                   {RDMA_NLDEV_ATTR_PORT_INDEX, &device.port_count},
                                   {RDMA_NLDEV_ATTR_NODE_GUID, &device.node_guid},
                                   {RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, &device.sys_image_guid},
                                   {RDMA_NLDEV_ATTR_DEV_NODE_TYPE, &device.node_type},
                                   {RDMA_NLDEV_ATTR_DEV_PROTOCOL, &device.protocol},
                                   {RDMA_NLDEV_ATTR_FW_VERSION, &device.fw_version},
                                   {uapi::attr_dev_type, &device.device_type},
                                   {uapi::attr_parent_name, &device.parent_name},
                                   {uapi::attr_name_assign_type, &device.name_assign_type}});
    if (outcome && (!index || device.name.empty()))
        return malformed("netlink device without an index or a name");
    device.index = index.value_or(0);
    return parsed(std::move(device), std::move(outcome));
}

Result<Port> parse_port(Bytes payload)
{
    Port port;
    std::optional<uint32_t> number;
    auto outcome = parse_attributes(payload, {{RDMA_NLDEV_ATTR_PORT_INDEX, &number},
                                              {RDMA_NLDEV_ATTR_PORT_STATE, &port.state},
                                              {RDMA_NLDEV_ATTR_LID, &port.lid},
                                              {RDMA_NLDEV_ATTR_NDEV_INDEX, &port.netdev_index},
                                              {RDMA_NLDEV_ATTR_NDEV_NAME, &port.netdev}});
    if (outcome && !number)
        return malformed("netlink port without a number");
    port.port = number.value_or(0);
    return parsed(std::move(port), std::move(outcome));
}

Result<CharDevice> parse_char_device(Bytes payload)
{
    CharDevice device;
    auto outcome =
        parse_attributes(payload, {{RDMA_NLDEV_ATTR_CHARDEV_NAME, &device.name},
                                   {RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, &device.driver_id}});
    if (outcome && device.name.empty())
        return malformed("netlink character device without a name");
    return parsed(std::move(device), std::move(outcome));
}

Result<bool> parse_monitor_mode(Bytes payload)
{
    std::optional<uint8_t> mode;
    auto outcome = parse_attributes(payload, {{uapi::attr_monitor_mode, &mode}});
    return parsed(mode.value_or(0) != 0, std::move(outcome));
}

Result<uint64_t> parse_contexts(Bytes payload)
{
    Bytes table;
    uint64_t contexts = 0;
    auto outcome = parse_attributes(payload, {{RDMA_NLDEV_ATTR_RES_SUMMARY, &table}});
    if (outcome)
        outcome = walk_attributes(table, [&](uint16_t type, Bytes entry) -> Result<void> {
            if (type != RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY)
                return {};
            std::string kind;
            std::optional<uint64_t> count;
            auto parsed_entry =
                parse_attributes(entry, {{RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, &kind},
                                         {RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, &count}});
            if (kind == "ctx")
                contexts = count.value_or(0);
            return parsed_entry;
        });
    return parsed(contexts, std::move(outcome));
}

Result<std::vector<CmId>> parse_cm_ids(Bytes payload)
{
    Bytes table;
    std::vector<CmId> ids;
    auto outcome = parse_attributes(payload, {{RDMA_NLDEV_ATTR_RES_CM_ID, &table}});
    if (outcome)
        outcome = walk_attributes(table, [&](uint16_t type, Bytes entry) -> Result<void> {
            if (type != RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY)
                return {};
            CmId id;
            Bytes source;
            std::optional<std::string> user;
            auto parsed_entry = parse_attributes(entry, {{RDMA_NLDEV_ATTR_RES_STATE, &id.state},
                                                         {RDMA_NLDEV_ATTR_RES_SRC_ADDR, &source},
                                                         {RDMA_NLDEV_ATTR_RES_KERN_NAME, &user}});
            id.source = socket_address_of(source);
            id.kernel_user = user.value_or("");
            if (user)
                ids.push_back(std::move(id));
            return parsed_entry;
        });
    return parsed(std::move(ids), std::move(outcome));
}

Result<Notification> parse_notification(Bytes payload)
{
    Notification notification;
    auto outcome =
        parse_attributes(payload, {{RDMA_NLDEV_ATTR_DEV_INDEX, &notification.device_index}});
    return parsed(notification, std::move(outcome));
}

std::optional<uint32_t> parse_link_index(const Message& message)
{
    const auto read = [&](auto header) {
        const bool is_whole = message.payload.size() >= sizeof header;
        if (is_whole)
            memcpy(&header, message.payload.data(), sizeof header);
        return is_whole ? std::optional(header) : std::nullopt;
    };
    if (message.type == RTM_NEWLINK || message.type == RTM_DELLINK) {
        const auto header = read(ifinfomsg());
        return header ? std::optional(static_cast<uint32_t>(header->ifi_index)) : std::nullopt;
    }
    if (message.type == RTM_NEWADDR || message.type == RTM_DELADDR) {
        const auto header = read(ifaddrmsg());
        return header ? std::optional(header->ifa_index) : std::nullopt;
    }
    return std::nullopt;
}

Result<std::string> build(const Request& request, uint32_t sequence)
{
    const CPtr<nl_msg, nlmsg_free> message(nlmsg_alloc_size(256));
    if (!message)
        return fail(ENOMEM, "netlink request");
    const auto type = uapi::message_type(request.command);
    const nlmsghdr* header =
        nlmsg_put(message.get(), NL_AUTO_PORT, sequence, type, 0, NLM_F_REQUEST | request.flags);
    bool fits = header != nullptr;
    if (request.device_index)
        fits = fits &&
               nla_put_u32(message.get(), RDMA_NLDEV_ATTR_DEV_INDEX, *request.device_index) == 0;
    if (request.port)
        fits = fits && nla_put_u32(message.get(), RDMA_NLDEV_ATTR_PORT_INDEX, *request.port) == 0;
    if (!request.char_device.empty())
        fits = fits && nla_put_string(message.get(), RDMA_NLDEV_ATTR_CHARDEV_TYPE,
                                      std::string(request.char_device).c_str()) == 0;
    if (!request.name.empty())
        fits = fits && nla_put_string(message.get(), RDMA_NLDEV_ATTR_DEV_NAME,
                                      std::string(request.name).c_str()) == 0;
    if (!fits)
        return fail(EMSGSIZE, "netlink request");
    return std::string(reinterpret_cast<const char*>(header), header->nlmsg_len);
}

} // namespace rdmad::nldev::wire
