// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace rdmad::rdma_id {

/// rdma_id(8) documents them.
enum ExitCode {
    exit_found = 0,
    exit_not_found = 1,
    exit_usage = 2,
    exit_refused = 3,
    exit_in_the_way = 4,
};

} // namespace rdmad::rdma_id
