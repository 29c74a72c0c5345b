// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/topology.hpp"

#include "core/base/text.hpp"
#include "core/device/path_id.hpp"
#include "core/naming/links.hpp"

#include <unistd.h>

namespace rdmad {

namespace {

using naming::PciAddress;
using naming::PciPlace;
using sysfs::Directory;

constexpr char slots[] = "bus/pci/slots";

std::optional<Directory> open(const Directory& directory, const std::string& path)
{
    auto opened = directory.open_below(path);
    return opened ? std::move(*opened) : std::nullopt;
}

std::optional<uint32_t> number(const Directory& directory, const std::string& attribute)
{
    return text::parse_u32(directory.read(attribute).text);
}

/// Returns what follows KEY= in a uevent attribute.
std::string uevent_value(const Directory& device, std::string_view key)
{
    const auto uevent = device.read("uevent");
    for (const auto line : text::split(uevent.text, '\n'))
        if (line.starts_with(key) && line.substr(key.size()).starts_with('='))
            return std::string(line.substr(key.size() + 1));
    return {};
}

std::optional<PciAddress> pci_address(const Directory& function)
{
    return naming::parse_pci_address(uevent_value(function, "PCI_SLOT_NAME"));
}

/// Returns bit 7 of the header type, byte 14 of the configuration space (PCI_HEADER_TYPE).
bool is_multifunction(const Directory& function)
{
    constexpr off_t header_type = 0x0e;
    const auto config = function.open_attribute("config");
    unsigned char byte = 0;
    return config && pread(config.get(), &byte, 1, header_type) == 1 && (byte & 0x80) != 0;
}

/// Returns the number that counts the functions of a device from its physical function on
/// (pci_iov_virtfn_bus(), pci_iov_virtfn_devfn(), drivers/pci/iov.c).
uint32_t routing_id(const PciAddress& address)
{
    return address.bus << 8 | address.device << 3 | address.function;
}

std::optional<uint32_t> virtual_number(const Directory& physical, const PciAddress& parent,
                                       const PciAddress& own)
{
    const auto offset = number(physical, "sriov_offset");
    const auto stride = number(physical, "sriov_stride");
    const uint32_t first = routing_id(parent) + offset.value_or(0);
    // both have 16 bits
    if (!offset || !stride || *offset > UINT16_MAX || *stride > UINT16_MAX ||
        routing_id(own) < first)
        return std::nullopt;
    const uint32_t distance = routing_id(own) - first;
    if (*stride == 0)
        return distance == 0 ? std::optional<uint32_t>(0) : std::nullopt;
    return distance % *stride == 0 ? std::optional(distance / *stride) : std::nullopt;
}

/// Returns the number of the first virtual function with the same device and function numbers, on
/// whatever bus it is, and 0 if there is none: so does rdma-core.
uint32_t virtual_number_of_rdma_core(const Directory& physical, const PciAddress& own)
{
    constexpr std::string_view prefix = "virtfn";
    for (const auto& name : physical.names(".")) {
        if (!name.starts_with(prefix) || name.size() == prefix.size())
            continue;
        const auto address =
            naming::parse_pci_address(physical.link_name(name).value_or(std::string()));
        if (address && address->device == own.device && address->function == own.function)
            return text::parse_u32(name.substr(prefix.size())).value_or(0);
    }
    return 0;
}

/// Returns the hot-plug slot with just this address: the slot of a bridge above it has other
/// devices, too.
std::optional<uint32_t> slot_of(const Directory& root, const PciPlace& pci)
{
    auto wanted = pci.address;
    wanted.function = 0;
    if (pci.has_ari)
        wanted.device = 0;
    for (const auto& name : root.names(slots)) {
        // "3-1" is how the kernel distinguishes two slots that both say 3
        const auto slot = text::parse_u32(name);
        if (!slot || *slot == 0)
            continue;
        const auto address = root.read(std::string(slots) + "/" + name + "/address");
        if (naming::parse_pci_slot_address(address.text) == wanted)
            return slot;
    }
    return std::nullopt;
}

/// Returns the index that the firmware gives: ACPI's comes before SMBIOS's.
std::optional<uint32_t> onboard_index(const Directory& function)
{
    for (const auto* attribute : {"acpi_index", "index"})
        if (const auto text = function.read(attribute); text)
            return text::parse_u32(text.text);
    return std::nullopt;
}

/// Returns the kind out of "module.kind.number" (auxiliary_device_add(), drivers/base/auxiliary.c).
std::string auxiliary_kind(std::string_view name)
{
    const auto parts = text::split(name, '.');
    return parts.size() < 3 ? "unknown" : std::string(parts[parts.size() - 2]);
}

class Reader {
public:
    Reader(const Directory& root, const TopologyOptions& options) : root_(root), options_(options)
    {
    }

    void on_pci(Directory function)
    {
        const auto own = pci_address(function);
        if (!own)
            return;
        PciPlace pci{.address = *own};
        place.onboard_index = onboard_index(function);
        if (auto physical = open(function, "physfn"); physical) {
            if (!enter(*physical, *own, pci))
                return;
            if (!place.onboard_index) {
                place.onboard_index = onboard_index(*physical);
                place.onboard_index_is_of_parent = true;
            }
            function = std::move(*physical);
        }
        pci.has_ari = number(function, "ari_enabled") == 1U;
        pci.is_multifunction = is_multifunction(function);
        if (options_.with_slot)
            pci.slot = slot_of(root_, pci);
        place.pci = pci;
    }

    /// Goes up to the PCI function that the auxiliary device belongs to.
    void on_auxiliary_bus(const Directory& auxiliary, std::string_view name)
    {
        place.auxiliary_kind = auxiliary_kind(name);
        place.sub_function = number(auxiliary, "sfnum");
        auto parent = open(auxiliary, "..");
        if (!parent || parent->link_name("subsystem") != "pci")
            return;
        on_pci(std::move(*parent));
        place.onboard_index_is_of_parent = true;
    }

    naming::Place place;

private:
    /// Puts a virtual function where its physical function is. Returns false if the physical one
    /// has no address, or the virtual one no number.
    bool enter(const Directory& physical, const PciAddress& own, PciPlace& pci)
    {
        const auto parent = pci_address(physical);
        if (!parent)
            return false;
        pci.address = *parent;
        pci.virtual_function = options_.scheme == naming::Scheme::rdma_core
                                   ? virtual_number_of_rdma_core(physical, own)
                                   : virtual_number(physical, *parent, own);
        return pci.virtual_function.has_value();
    }

    const Directory& root_;
    TopologyOptions options_;
};

} // namespace

naming::Place read_topology(const Directory& root, const Snapshot& snapshot,
                            const TopologyOptions& options)
{
    const auto& [target, info] = snapshot;
    const auto& device = target.device;
    Reader reader(root, options);
    if (auto parent = open(device.directory(), "device"); parent) {
        const auto subsystem = parent->link_name("subsystem").value_or("");
        if (subsystem == "pci")
            reader.on_pci(std::move(*parent));
        else if (subsystem == "auxiliary")
            reader.on_auxiliary_bus(*parent, device.parent().value_or(""));
    }
    auto& place = reader.place;
    place.prefix = info.device.protocol.value_or("");
    place.node_guid = info.device.node_guid;
    place.ports = info.device.port_count;
    if (info.ports.size() == 1 && info.ports[0].netdev) {
        place.netdev = info.ports[0].netdev;
        if (options.with_label && naming::is_safe_name(*place.netdev))
            if (auto label = root.read("class/net/" + *place.netdev + "/phys_port_name");
                label && !label.text.empty())
                place.port_label = std::move(label.text);
    }
    return std::move(place);
}

std::string read_path(const Directory& root, const sysfs::RdmaDevice& device)
{
    const auto parent = open(device.directory(), "device");
    return parent ? path_id(root, *parent) : "";
}

} // namespace rdmad
