// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/recovery/target.hpp"

namespace rdmad::recovery {

/// The recoveries that are on; rdmad.conf(5).
struct Settings {
    std::set<Kind> kinds = {Kind::nvmet, Kind::iser, Kind::srpt, Kind::nfs};
    bool nvme_host = true;
};

} // namespace rdmad::recovery
