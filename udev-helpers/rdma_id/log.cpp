// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/log.hpp"

#include "core/base/text.hpp"

#include <cstdio>
#include <syslog.h>
#include <unistd.h>

namespace rdmad::rdma_id {

namespace {

bool is_journal = false;

} // namespace

void log_to_journal()
{
    is_journal = true;
}

bool is_log_read(const std::string& socket)
{
    return access(socket.c_str(), F_OK) == 0;
}

void warn(std::string_view message)
{
    const auto text = text::escape_terminal(message);
    fprintf(stderr, "rdma_id: %s\n", text.c_str());
    if (!is_journal)
        return;
    openlog("rdma_id", LOG_PID, LOG_DAEMON);
    syslog(LOG_WARNING, "%s", text.c_str());
}

} // namespace rdmad::rdma_id
