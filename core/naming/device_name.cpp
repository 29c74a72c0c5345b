// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/naming/device_name.hpp"

#include "core/base/text.hpp"
#include "core/naming/links.hpp"

#include <array>
#include <net/if.h>

namespace rdmad::naming {

namespace {

constexpr std::array<std::string_view, 2> schemes = {"rdma-core", "v1"};
constexpr std::array<std::string_view, 7> policies = {"keep", "kernel", "netdev", "onboard",
                                                      "slot", "path",   "guid"};
constexpr std::string_view temporary_prefix = "rdmad-swap-";

// firmware numbers beyond that are known to be garbage (systemd's net_id has the same limit)
constexpr uint32_t max_onboard_index = 16 * 1024 - 1;

Composed none(std::string why_not)
{
    return {.why_not = std::move(why_not)};
}

std::string prefix_of(const Place& place)
{
    return place.prefix.empty() ? "rdma" : place.prefix;
}

/// Returns the part that tells the functions of one PCI device apart.
std::string function_part(const PciPlace& pci)
{
    const uint32_t function = pci.address.function + (pci.has_ari ? pci.address.device * 8 : 0);
    return function > 0 || pci.is_multifunction ? "f" + std::to_string(function) : "";
}

std::string virtual_part(const std::optional<uint32_t>& virtual_function)
{
    return virtual_function ? "v" + std::to_string(*virtual_function) : "";
}

/// Names an auxiliary device that is not a sub-function by its kind: a function has one of each
/// kind, and their numbers depend on the order in which drivers came.
std::string auxiliary_part(const Place& place)
{
    if (place.sub_function)
        return "S" + std::to_string(*place.sub_function);
    return place.auxiliary_kind.empty() ? "" : "A" + place.auxiliary_kind;
}

std::string domain_part(const PciPlace& pci)
{
    return pci.address.domain > 0 ? "P" + std::to_string(pci.address.domain) : "";
}

std::string path_part(const PciPlace& pci)
{
    return "p" + std::to_string(pci.address.bus) + "s" + std::to_string(pci.address.device);
}

/// Omits in scheme rdma-core the number of a virtual function whose physical function needs no "f".
std::string parts_behind(const Place& place, Scheme scheme)
{
    const auto function = function_part(*place.pci);
    const bool has_virtual = scheme != Scheme::rdma_core || !function.empty();
    return function + (has_virtual ? virtual_part(place.pci->virtual_function) : "") +
           auxiliary_part(place);
}

/// Ignores the parent's index in scheme rdma-core.
Composed by_onboard(const Place& place, Scheme scheme)
{
    if (!place.onboard_index)
        return none("the firmware gives it no onboard index");
    if (*place.onboard_index > max_onboard_index)
        return none("onboard index " + std::to_string(*place.onboard_index) + " is above " +
                    std::to_string(max_onboard_index));
    const auto name = prefix_of(place) + "o" + std::to_string(*place.onboard_index);
    if (scheme == Scheme::rdma_core) {
        if (place.onboard_index_is_of_parent)
            return none("only its parent has an onboard index");
        return {.name = name};
    }
    const auto virtual_function = place.pci ? place.pci->virtual_function : std::nullopt;
    return {.name = name + virtual_part(virtual_function) + auxiliary_part(place)};
}

Composed by_slot(const Place& place, Scheme scheme)
{
    if (scheme == Scheme::rdma_core)
        return none("scheme rdma-core has no such names");
    if (!place.pci)
        return none("it is not on PCI");
    if (!place.pci->slot)
        return none("it is in no hot-plug slot that has a number");
    return {.name = prefix_of(place) + domain_part(*place.pci) + "s" +
                    std::to_string(*place.pci->slot) + parts_behind(place, scheme)};
}

Composed by_path(const Place& place, Scheme scheme)
{
    if (!place.pci)
        return none("it is not on PCI");
    if (scheme == Scheme::rdma_core && !place.auxiliary_kind.empty() && !place.sub_function)
        return none("its parent is on the auxiliary bus and has no sfnum");
    return {.name = prefix_of(place) + domain_part(*place.pci) + path_part(*place.pci) +
                    parts_behind(place, scheme)};
}

Composed by_guid(const Place& place)
{
    if (place.node_guid == 0)
        return none("its node GUID is not set");
    return {.name = prefix_of(place) + "x" + text::format_guid(place.node_guid)};
}

Composed by_netdev(const Place& place, Scheme scheme)
{
    if (scheme == Scheme::rdma_core)
        return none("scheme rdma-core has no such names");
    if (place.ports != 1)
        return none("it has " + std::to_string(place.ports) + " ports");
    if (!place.netdev)
        return none("its port has no network device");
    return {.name = prefix_of(place) + "-" + *place.netdev};
}

Composed by_policy(Policy policy, const Place& place, Scheme scheme)
{
    switch (policy) {
    case Policy::netdev:
        return by_netdev(place, scheme);
    case Policy::onboard:
        return by_onboard(place, scheme);
    case Policy::slot:
        return by_slot(place, scheme);
    case Policy::path:
        return by_path(place, scheme);
    case Policy::guid:
        return by_guid(place);
    case Policy::keep:
    case Policy::kernel:
        break;
    }
    return none("it composes no name");
}

/// Returns true if the policy can append a label: a network device's name has it already, a node
/// GUID is one adapter's alone.
bool takes_label(Policy policy, Scheme scheme)
{
    return scheme != Scheme::rdma_core &&
           (policy == Policy::onboard || policy == Policy::slot || policy == Policy::path);
}

} // namespace

std::optional<Scheme> parse_scheme(std::string_view text)
{
    return text::find_name<Scheme>(schemes, text);
}

std::string_view to_string(Scheme scheme)
{
    return schemes[static_cast<size_t>(scheme)];
}

std::optional<Policy> parse_policy(std::string_view text)
{
    return text::find_name<Policy>(policies, text);
}

std::string_view to_string(Policy policy)
{
    return policies[static_cast<size_t>(policy)];
}

std::optional<PciAddress> parse_pci_address(std::string_view text)
{
    const auto dot = text.rfind('.');
    if (dot == std::string_view::npos)
        return std::nullopt;
    const auto slot = parse_pci_slot_address(text.substr(0, dot));
    const auto function = text::parse_hex_u64(text.substr(dot + 1));
    if (!slot || !function || text.size() - dot != 2 || *function > 7)
        return std::nullopt;
    auto address = *slot;
    address.function = static_cast<uint32_t>(*function);
    return address;
}

std::optional<PciAddress> parse_pci_slot_address(std::string_view text)
{
    const auto bus_at = text.find(':');
    if (bus_at < 4 || bus_at > 8 || text.size() != bus_at + 6 || text[bus_at + 3] != ':')
        return std::nullopt;
    const auto domain = text::parse_hex_u64(text.substr(0, bus_at));
    const auto bus = text::parse_hex_u64(text.substr(bus_at + 1, 2));
    const auto device = text::parse_hex_u64(text.substr(bus_at + 4));
    if (!domain || !bus || !device || *device > 31)
        return std::nullopt;
    return PciAddress{static_cast<uint32_t>(*domain), static_cast<uint32_t>(*bus),
                      static_cast<uint32_t>(*device), 0};
}

Composed compose(Policy policy, const Place& place, Scheme scheme, bool with_label)
{
    auto composed = by_policy(policy, place, scheme);
    if (composed.name.empty())
        return composed;
    if (with_label && takes_label(policy, scheme)) {
        if (!place.port_label)
            return none(
                "PortLabel= is on, but the driver has not reported a physical port label (yet)");
        composed.name += "n" + *place.port_label;
    }
    if (const auto why_not = refusal(composed.name); !why_not.empty())
        return none("'" + text::escape_terminal(composed.name) + "' is not allowed: " + why_not);
    return composed;
}

std::string refusal(std::string_view name)
{
    if (name.empty())
        return "it is empty";
    if (name.size() > 63)
        return "it has " + std::to_string(name.size()) + " bytes, and 63 fit";
    if (name == "." || name == "..")
        return "it is a directory";
    if (!is_safe_name(name))
        return "only letters, digits, '_', '-' and '.' are allowed";
    if (name.find_first_not_of("0123456789") == std::string_view::npos)
        return "programs would take a number alone for a device index";
    if (is_temporary(name))
        return "names that begin with '" + std::string(temporary_prefix) + "' are for swaps";
    return {};
}

Composed ipoib_name(const IpoibPlace& place)
{
    std::string name = "ipo" + std::string(place.device);
    if (place.ports > 1)
        name += "p" + std::to_string(place.port);
    if (const auto why_not = refusal(name); !why_not.empty())
        return none("'" + text::escape_terminal(name) + "' is not allowed: " + why_not);
    if (name.size() >= IFNAMSIZ)
        return none("'" + name + "' has " + std::to_string(name.size()) +
                    " bytes, and a network device's name has at most 15");
    return {.name = std::move(name)};
}

bool is_temporary(std::string_view name)
{
    return name.starts_with(temporary_prefix);
}

std::string temporary_name(uint32_t index)
{
    return std::string(temporary_prefix) + std::to_string(index);
}

} // namespace rdmad::naming
