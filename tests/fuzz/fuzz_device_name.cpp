// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/naming/device_name.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <cstring>

// The input is taken apart into two places; what is left is the network device and the label.

namespace rdmad::fuzz {

namespace {

using namespace naming;

class Input {
public:
    explicit Input(std::string_view bytes) : bytes_(bytes) {}

    uint32_t number(uint32_t below)
    {
        uint32_t value = 0;
        const size_t size = std::min(bytes_.size(), sizeof value);
        memcpy(&value, bytes_.data(), size);
        bytes_.remove_prefix(size);
        return value % below;
    }
    std::optional<uint32_t> maybe(uint32_t below)
    {
        return number(2) == 1 ? std::optional(number(below)) : std::nullopt;
    }
    std::string text()
    {
        const size_t wanted = number(80);
        const size_t size = std::min(wanted, bytes_.size());
        const std::string text(bytes_.substr(0, size));
        bytes_.remove_prefix(size);
        return text;
    }

private:
    std::string_view bytes_;
};

Place place_of(Input& input)
{
    constexpr const char* prefixes[] = {"ib", "opa", "roce", "iw", "usnic", ""};
    Place place{.prefix = prefixes[input.number(6)]};
    if (input.number(4) != 0)
        place.pci = PciPlace{.address = {input.number(0x100000), input.number(256),
                                         input.number(32), input.number(8)},
                             .has_ari = input.number(2) == 1,
                             .is_multifunction = input.number(2) == 1,
                             .virtual_function = input.maybe(65536),
                             .slot = input.maybe(1000)};
    if (input.number(2) == 1)
        place.auxiliary_kind = "sf";
    place.sub_function = input.maybe(100000);
    place.onboard_index = input.maybe(20000);
    place.onboard_index_is_of_parent = input.number(2) == 1;
    place.node_guid = input.number(3);
    place.ports = input.number(3);
    if (input.number(2) == 1)
        place.netdev = input.text();
    if (input.number(2) == 1)
        place.port_label = input.text();
    return place;
}

/// What scheme v1 promises to tell apart by path: the physical function, VF, SF or kind.
bool is_same_place(const Place& a, const Place& b)
{
    const auto function = [](const PciPlace& pci) {
        return pci.address.function + (pci.has_ari ? pci.address.device * 8 : 0);
    };
    return a.pci->address.domain == b.pci->address.domain &&
           a.pci->address.bus == b.pci->address.bus &&
           a.pci->address.device == b.pci->address.device && function(*a.pci) == function(*b.pci) &&
           a.pci->virtual_function == b.pci->virtual_function && a.sub_function == b.sub_function &&
           (a.sub_function || a.auxiliary_kind == b.auxiliary_kind);
}

} // namespace

void run_one(std::string_view bytes)
{
    Input input(bytes);
    const auto a = place_of(input);
    const auto b = place_of(input);
    const bool with_label = input.number(2) == 1;
    for (const auto scheme : {Scheme::rdma_core, Scheme::v1})
        for (const auto policy : {Policy::keep, Policy::kernel, Policy::netdev, Policy::onboard,
                                  Policy::slot, Policy::path, Policy::guid}) {
            const auto composed = compose(policy, a, scheme, with_label);
            require(composed.name.empty() != composed.why_not.empty(),
                    "there is a name, or a reason why not");
            require(composed.name.empty() || refusal(composed.name).empty(),
                    "a composed name may be given");
        }
    const auto one = compose(Policy::path, a, Scheme::v1, false).name;
    const auto other = compose(Policy::path, b, Scheme::v1, false).name;
    if (!one.empty() && one == other)
        require(a.prefix == b.prefix && is_same_place(a, b),
                "by path, scheme v1 gives two places two names");
    const auto text = input.text();
    if (const auto address = parse_pci_address(text))
        require(address->device < 32 && address->function < 8 && address->bus < 256,
                "a PCI address is in its bounds");
}

} // namespace rdmad::fuzz
