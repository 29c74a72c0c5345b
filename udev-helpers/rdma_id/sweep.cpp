// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/sweep.hpp"

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/device/name_records.hpp"
#include "udev-helpers/rdma_id/link_owners.hpp"

#include <set>

namespace rdmad::rdma_id {

namespace {

/// Indexes of which there are name records.
std::set<uint32_t> named_indexes(const std::string& directory)
{
    std::set<uint32_t> indexes;
    for (const auto& name : names_in(directory + "/names"))
        if (const auto index = text::parse_u32(name.substr(0, name.find('-'))); index)
            indexes.insert(*index);
    return indexes;
}

bool is_gone(nldev::Client* client, uint32_t index)
{
    if (!client)
        return true;
    const auto device = client->device(index);
    return device && !*device;
}

} // namespace

void sweep(nldev::Client* client, const sysfs::Directory& root, const std::string& directory)
{
    LinkOwners(client, root, directory).sweep();
    for (const auto index : named_indexes(directory))
        if (is_gone(client, index))
            NameRecords(directory).forget_gone(index, root);
}

} // namespace rdmad::rdma_id
