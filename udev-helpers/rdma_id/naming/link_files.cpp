// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/naming/link_files.hpp"

namespace rdmad::rdma_id {

namespace {

const std::vector<std::string> folders = {"/etc/rdmad/link.d", "/run/rdmad/link.d",
                                          "/usr/local/lib/rdmad/link.d", "/usr/lib/rdmad/link.d"};

} // namespace

std::vector<config::LinkFile> read_link_files(const std::string& root)
{
    std::vector<config::LinkFile> files;
    for (const auto& file : config::read_files(root, folders, ".link"))
        files.push_back(config::parse_link(file));
    return files;
}

} // namespace rdmad::rdma_id
