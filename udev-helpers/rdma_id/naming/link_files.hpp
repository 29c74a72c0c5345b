// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/config/link_file.hpp"

namespace rdmad::rdma_id {

/// All .link files of the system, in the order in which they are asked, read once.
class LinkFiles {
public:
    /// root goes before the folders: empty, or the root of an image.
    explicit LinkFiles(const std::string& root = {});

    [[nodiscard]] const std::vector<config::LinkFile>& all() const
    {
        return files_;
    }
    /// The first one that matches; none. One with problems counts if its [Match] is sound.
    [[nodiscard]] const config::LinkFile* find(const config::Facts& facts) const;

private:
    std::vector<config::LinkFile> files_;
};

} // namespace rdmad::rdma_id
