// SPDX-License-Identifier: LGPL-2.1-or-later
#include "udev-helpers/rdma_id/modules.hpp"

#include "core/base/text.hpp"

#include <algorithm>

namespace rdmad::rdma_id {

namespace {

/// Compares as modprobe does, which takes "-" for "_".
bool is_same_module(std::string_view a, std::string_view b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return (x == '-' ? '_' : x) == (y == '-' ? '_' : y); });
}

class Lists {
public:
    Lists(Load load, const std::string& directory)
    {
        if (load == Load::listed)
            if (auto opened = sysfs::Directory::open(directory))
                directory_ = std::move(*opened);
    }

    /// Returns true if a list names the module, or there are no lists: rdma.conf counts for every
    /// device, infiniband.conf and so on for those of the type.
    [[nodiscard]] bool allow(std::string_view module, const DeviceInfo& info) const
    {
        if (!directory_ || names("rdma", module))
            return true;
        return std::any_of(info.ports.begin(), info.ports.end(), [&](const PortInfo& port) {
            return names(naming::to_string(port.link_type), module);
        });
    }

private:
    [[nodiscard]] bool names(std::string_view list, std::string_view module) const
    {
        const auto text = directory_->read(std::string(list) + ".conf");
        // a list too long to read may name anything
        return text.state == sysfs::Attribute::State::too_long || lists_module(text.text, module);
    }

    std::optional<sysfs::Directory> directory_;
};

} // namespace

bool lists_module(std::string_view list, std::string_view module)
{
    const auto lines = text::split(list, '\n');
    return std::any_of(lines.begin(), lines.end(), [&](std::string_view line) {
        return is_same_module(text::trim(line), module);
    });
}

Result<void> load_modules(nldev::Client& client, const sysfs::Directory& root,
                          const DeviceInfo& info, Load load, const std::string& lists)
{
    if (load == Load::nothing)
        return {};
    const Lists allowed(load, lists);
    // a request for a node that no module serves makes the kernel load rdma-client-uverbs,
    // rdma-client-umad
    if (!sysfs::is_uverbs_loaded(root) && allowed.allow("ib_uverbs", info))
        if (auto node = client.char_device("uverbs", info.device.index); !node)
            return tl::unexpected<Error>(std::move(node).error());
    const auto managed =
        std::find_if(info.ports.begin(), info.ports.end(),
                     [](const PortInfo& port) { return naming::is_managed(port.link_type); });
    if (managed != info.ports.end() && !sysfs::is_umad_loaded(root) &&
        allowed.allow("ib_umad", info))
        if (auto node = client.char_device("umad", info.device.index, managed->port); !node)
            return tl::unexpected<Error>(std::move(node).error());
    return {};
}

} // namespace rdmad::rdma_id
