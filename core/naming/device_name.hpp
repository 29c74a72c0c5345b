// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Names of RDMA devices, rdmad.link(5). Names outlive reboots in other people's configuration, so
// the rules for them come in schemes: a scheme that was released never changes, a better rule makes
// a new one. Change the table of schemes in the man page together with this file.

namespace rdmad::naming {

enum class Scheme {
    rdma_core, ///< byte for byte what rdma-core 65's rdma_rename gives, with all its gaps
    v1         ///< rdmad 0.1
};

[[nodiscard]] std::optional<Scheme> parse_scheme(std::string_view text);
[[nodiscard]] std::string_view to_string(Scheme scheme);

enum class Policy { keep, kernel, netdev, onboard, slot, path, guid };

[[nodiscard]] std::optional<Policy> parse_policy(std::string_view text);
[[nodiscard]] std::string_view to_string(Policy policy);

struct PciAddress {
    uint32_t domain = 0;
    uint32_t bus = 0;
    uint32_t device = 0; ///< PCI's "slot"; not that of a hot-plug slot
    uint32_t function = 0;

    friend bool operator==(const PciAddress&, const PciAddress&) = default;
};

/// Parses "0000:c1:00.1" as sysfs has it; domains have four digits or more (VMD).
[[nodiscard]] std::optional<PciAddress> parse_pci_address(std::string_view text);
/// Parses "0000:c1:00" without a function, the address of a hot-plug slot.
[[nodiscard]] std::optional<PciAddress> parse_pci_slot_address(std::string_view text);

/// The place of a device on PCI. A virtual function has the place of its physical function.
struct PciPlace {
    PciAddress address;            ///< of the physical function
    bool has_ari = false;          ///< device and function are one number of eight bits
    bool is_multifunction = false; ///< bit 7 of the header type
    std::optional<uint32_t> virtual_function = {};
    std::optional<uint32_t> slot = {}; ///< number of the hot-plug slot that this very device is in
};

/// The facts that names are composed of.
struct Place {
    std::string prefix = {}; ///< nldev::Device::protocol, empty if the kernel has none
    std::optional<PciPlace> pci = {};
    /// Kind of the auxiliary device between the device and its PCI function: "sf" of
    /// "mlx5_core.sf.4".
    std::string auxiliary_kind = {};
    std::optional<uint32_t> sub_function = {};  ///< sfnum of the auxiliary device
    std::optional<uint32_t> onboard_index = {}; ///< acpi_index, or index, of the physical function
    bool onboard_index_is_of_parent = false;    ///< of the PF of a VF, the PCI function of an SF
    uint64_t node_guid = 0;
    uint32_t ports = 1;
    std::optional<std::string> netdev = {};     ///< of the only port
    std::optional<std::string> port_label = {}; ///< "p0": of the only port, by its netdev
};

/// A name, or why the policy gives none.
struct Composed {
    std::string name = {};
    std::string why_not = {};
};

/// Composes the name by a policy other than keep and kernel, which take the name that is there.
/// with_label: appends the physical port label (scheme v1).
[[nodiscard]] Composed compose(Policy policy, const Place& place, Scheme scheme, bool with_label);

/// Returns why a device may not have that name, empty if it may: 1 to 63 letters, digits, "_", "-"
/// and ".", but not ".", "..", a number, or a temporary name of ours. The kernel takes anything:
/// after a rename to "a/b" all of /sys/class/infiniband reads as empty.
[[nodiscard]] std::string refusal(std::string_view name);

/// The RDMA device and port that a network device over InfiniBand is on.
struct IpoibPlace {
    std::string_view device; ///< name of the RDMA device
    uint32_t ports = 1;      ///< of that device
    uint32_t port = 1;
};

/// Returns "ipo" and the device's name, and "pPORT" if that has several ports. Returns no name if
/// it is longer than the 15 bytes of a network device's name (IFNAMSIZ).
[[nodiscard]] Composed ipoib_name(const IpoibPlace& place);

/// Returns the name of a device while it swaps names with another.
[[nodiscard]] std::string temporary_name(uint32_t index);
[[nodiscard]] bool is_temporary(std::string_view name);

} // namespace rdmad::naming
