// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/name_records.hpp"

#include "core/base/file.hpp"
#include "core/base/state_link.hpp"
#include "core/base/text.hpp"
#include "core/naming/links.hpp"
#include "core/sysfs/rdma_device.hpp"

#include <cerrno>
#include <unistd.h>

namespace rdmad {

std::string NameRecords::path(const DeviceId& device) const
{
    return directory_ + "/" + std::to_string(device.index) + "-" + std::to_string(device.inode);
}

std::optional<NameRecord> NameRecords::find(const DeviceId& device) const
{
    const auto text = read_link(path(device));
    return text ? parse_name_record(*text) : std::nullopt;
}

Result<void> NameRecords::write(const DeviceId& device, const NameRecord& record) const
{
    // a name with a blank could not be told from two; the kernel gives no such name
    if (!naming::is_safe_name(record.original) ||
        (record.given && !naming::is_safe_name(*record.given)))
        return fail(EINVAL, path(device));
    const int error =
        replace_link(record.original + (record.given ? " " + *record.given : ""), path(device));
    return error == 0 ? Result<void>() : fail(error, path(device));
}

void NameRecords::forget_gone(uint32_t index, const sysfs::Directory& root) const
{
    const auto prefix = std::to_string(index) + "-";
    for (const auto& entry : names_in(directory_)) {
        const auto inode =
            entry.starts_with(prefix) ? text::parse_u64(entry.substr(prefix.size())) : std::nullopt;
        if (!inode)
            continue;
        const auto record = find({index, *inode});
        const auto is_called = [&](const std::string& name) {
            return sysfs::RdmaDevice::inode(root, name) == inode;
        };
        if (!record ||
            (!is_called(record->given.value_or(record->original)) && !is_called(record->original)))
            unlink((directory_ + "/" + entry).c_str());
    }
}

std::optional<NameRecord> parse_name_record(std::string_view text)
{
    const auto words = text::split(text, ' ');
    if (words.empty() || words.size() > 2 || !naming::is_safe_name(words[0]))
        return std::nullopt;
    NameRecord record{std::string(words[0])};
    if (words.size() == 1)
        return record;
    if (!naming::is_safe_name(words[1]))
        return std::nullopt;
    record.given = words[1];
    return record;
}

} // namespace rdmad
