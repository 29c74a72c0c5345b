// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/recovery/work.hpp"

#include "daemon/recovery/configfs.hpp"
#include "daemon/recovery/nvme_host.hpp"

namespace rdmad::recovery {

bool may_have_work(const std::string& root)
{
    return configfs::exists(root + "/sys/kernel/config/nvmet") ||
           configfs::exists(root + "/sys/kernel/config/target") ||
           configfs::exists(root + "/sys/module/nfsd") || connects_nvme(root);
}

} // namespace rdmad::recovery
