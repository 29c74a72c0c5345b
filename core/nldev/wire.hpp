// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/nldev/model.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// RDMA netlink as bytes. Pure and total: any bytes give a value or EBADMSG with the reason, nothing
// is read beyond them and no state is kept. Unknown attributes are skipped. Of an attribute that
// comes twice the last one counts. An attribute of the wrong length, a string without its NUL or
// bytes left over are errors.

namespace rdmad::nldev::wire {

using Bytes = std::span<const std::byte>;

/// One message of a datagram.
struct Message {
    uint16_t type = 0;
    uint16_t flags = 0;
    uint32_t sequence = 0;
    Bytes payload;
};

/// The content of NLMSG_ERROR or NLMSG_DONE: a positive errno value, 0 for success, and the
/// kernel's words if it had any.
struct Status {
    int error = 0;
    std::string text;
};

/// Takes the first message off the datagram.
[[nodiscard]] Result<Message> take_message(Bytes& datagram);

/// Parses a message of type NLMSG_ERROR or NLMSG_DONE. libnl 3.7 ignores the code inside
/// NLMSG_DONE, and knows no extended ACK.
[[nodiscard]] Result<Status> parse_status(const Message& message);

[[nodiscard]] Result<Device> parse_device(Bytes payload);
[[nodiscard]] Result<Port> parse_port(Bytes payload);
[[nodiscard]] Result<CharDevice> parse_char_device(Bytes payload);
/// Returns true if a reply to RDMA_NLDEV_CMD_SYS_GET says that there is a monitor.
[[nodiscard]] Result<bool> parse_monitor_mode(Bytes payload);
/// Returns how many contexts processes have of a device; 0 where the kernel does not count them.
[[nodiscard]] Result<uint64_t> parse_contexts(Bytes payload);
/// Parses all entries of one message of a dump. Returns those that a part of the kernel has: any
/// process can have any number.
[[nodiscard]] Result<std::vector<CmId>> parse_cm_ids(Bytes payload);
[[nodiscard]] Result<Notification> parse_notification(Bytes payload);

/// Returns the index of the network device that changed, or one of whose addresses did, by a
/// message of rtnetlink(7). Returns nullopt if that is about something else, or malformed.
[[nodiscard]] std::optional<uint32_t> parse_link_index(const Message& message);

/// A request and the device it is about; an empty field is not sent.
struct Request {
    uint16_t command = 0; ///< RDMA_NLDEV_CMD_*
    uint16_t flags = 0;   ///< beside NLM_F_REQUEST
    std::optional<uint32_t> device_index = {};
    std::optional<uint32_t> port = {};
    std::string_view char_device = {}; ///< "uverbs", "umad"; at most 31 bytes
    std::string_view name = {};        ///< of the device; at most 63 bytes
};

/// Returns the bytes to send.
[[nodiscard]] Result<std::string> build(const Request& request, uint32_t sequence);

} // namespace rdmad::nldev::wire
