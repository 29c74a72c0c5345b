// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/name_records.hpp"

#include "core/base/file.hpp"
#include "core/base/state_link.hpp"
#include "core/base/text.hpp"
#include "core/naming/links.hpp"
#include "core/sysfs/rdma_device.hpp"

#include <algorithm>
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
    // a name with a blank would read as two; the kernel gives no such name
    if (!naming::is_safe_name(record.original) ||
        (record.given && !naming::is_safe_name(*record.given)))
        return fail(EINVAL, path(device));
    const int error =
        replace_link(record.original + (record.given ? " " + *record.given : ""), path(device));
    return error == 0 ? Result<void>() : fail(error, path(device));
}

void NameRecords::forget_gone(const sysfs::Directory& root,
                              const std::function<bool(uint32_t index)>& may_be_gone) const
{
    for (const auto& entry : names_in(directory_)) {
        const auto numbers = text::split(entry, '-');
        const auto index = numbers.size() == 2 ? text::parse_u32(numbers[0]) : std::nullopt;
        const auto inode = index ? text::parse_u64(numbers[1]) : std::nullopt;
        if (!inode || !may_be_gone(*index))
            continue;
        const auto record = find({*index, *inode});
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
    if (words.empty() || words.size() > 2 ||
        !std::all_of(words.begin(), words.end(), naming::is_safe_name))
        return std::nullopt;
    NameRecord record{std::string(words[0])};
    if (words.size() == 2)
        record.given = words[1];
    return record;
}

} // namespace rdmad
