// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/udev_record.hpp"

#include "core/base/file.hpp"
#include "core/base/text.hpp"

#include <algorithm>

namespace rdmad {

std::optional<UdevRecord> UdevRecord::read(const std::string& udev_run, const std::string& id)
{
    auto text = read_file(udev_run + "/data/" + id);
    return text ? std::optional(UdevRecord(std::move(*text))) : std::nullopt;
}

std::optional<UdevRecord> UdevRecord::read_node(const std::string& udev_run,
                                                const sysfs::Directory& root, Node node,
                                                const std::string& sysname)
{
    return read(udev_run, "c" + root.read(class_path(node, sysname) + "/dev").text);
}

std::optional<std::string> UdevRecord::property(const std::string& key) const
{
    const auto wanted = "E:" + key + "=";
    for (const auto line : text::split(text_, '\n'))
        if (line.starts_with(wanted))
            return std::string(line.substr(wanted.size()));
    return std::nullopt;
}

bool UdevRecord::mentions(std::string_view old_name, std::string_view present_name) const
{
    for (auto at = text_.find(old_name); at != std::string::npos;
         at = text_.find(old_name, at + 1)) {
        const auto end = at + old_name.size();
        // the first place at which a present name around this old one could begin
        const auto first = end - std::min(end, present_name.size());
        if (text_.find(present_name, first) > at)
            return true;
    }
    return false;
}

} // namespace rdmad
