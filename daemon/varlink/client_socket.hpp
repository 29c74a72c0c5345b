// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/base/unique_fd.hpp"

#include <cstddef>
#include <sys/types.h>

// The socket of a client, which may pass descriptors along (SCM_RIGHTS). Nobody here takes any, but
// whoever drops the last reference closes it, and that is we, even if we never saw it. To close a
// TCP socket may take as long as its SO_LINGER says: its sender could hold us up at will. Only
// Linux 6.16 can refuse descriptors beforehand.

namespace rdmad::varlink {

/// Has the kernel refuse, with EPERM, what clients of a listening socket want to pass along. Does
/// nothing where the kernel cannot.
void refuse_descriptors(int listening);

struct Received {
    ssize_t size; ///< as recv(2) has it, with errno
    bool has_descriptors;
};
/// Receives without waiting, and closes the descriptors that come along.
[[nodiscard]] Received receive(int socket, char* buffer, size_t size);

/// Closes it, with all that was not received.
void hang_up(UniqueFd& socket);

} // namespace rdmad::varlink
