// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/naming/link_files.hpp"

namespace rdmad::rdma_id {

namespace {

const std::vector<std::string> folders = {"/etc/rdmad/link.d", "/run/rdmad/link.d",
                                          "/usr/local/lib/rdmad/link.d", "/usr/lib/rdmad/link.d"};

} // namespace

LinkFiles::LinkFiles(const std::string& root)
{
    for (const auto& file : config::read_files(root, folders, ".link"))
        files_.push_back(config::parse_link(file));
}

const config::LinkFile* LinkFiles::find(const config::Facts& facts) const
{
    for (const auto& file : files_)
        if (file.is_match_sound && file.match.why_not(facts).empty())
            return &file;
    return nullptr;
}

} // namespace rdmad::rdma_id
