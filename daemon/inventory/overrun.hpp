// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace rdmad {

/// Discards what is queued in a netlink socket that has lost messages. After the one ENOBUFS the
/// kernel goes on dropping messages without a word until the queue is empty (netlink_overrun() and
/// netlink_rcv_wake(), net/netlink/af_netlink.c), so only a look after that misses nothing. What
/// was queued is older than that look, and must not be applied after it.
void discard_queue(int fd);

} // namespace rdmad
