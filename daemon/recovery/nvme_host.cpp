// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/recovery/nvme_host.hpp"

#include "core/base/file.hpp"

#include <algorithm>
#include <array>
#include <unistd.h>

namespace rdmad::recovery {

namespace {

constexpr char unit[] = "nvmf-autoconnect.service";
constexpr size_t max_config = size_t{1} << 20U;

bool exists(const std::string& path)
{
    // a link that leads nowhere is one, too
    return faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

bool mentions_rdma(const std::string& path)
{
    return read_file(path, max_config).value_or("").find("rdma") != std::string::npos;
}

bool is_enabled(const std::string& root)
{
    const auto folder = root + "/etc/systemd/system";
    const auto wants = names_in(folder);
    return std::any_of(wants.begin(), wants.end(), [&](const std::string& name) {
        return name.ends_with(".wants") && exists(folder + "/" + name + "/" + unit);
    });
}

} // namespace

bool connects_nvme(const std::string& root)
{
    constexpr std::array owners = {"stafd", "stacd"};
    const bool is_owned = std::any_of(owners.begin(), owners.end(), [&](const std::string& name) {
        return exists(root + "/sys/fs/cgroup/system.slice/" + name + ".service");
    });
    return !is_owned && is_enabled(root) &&
           (mentions_rdma(root + "/etc/nvme/discovery.conf") ||
            mentions_rdma(root + "/etc/nvme/config.json"));
}

} // namespace rdmad::recovery
