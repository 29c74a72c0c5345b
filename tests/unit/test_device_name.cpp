// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/naming/device_name.hpp"
#include "tests/catch.hpp"

#include <vector>

using namespace rdmad::naming;

namespace {

constexpr PciAddress adapter = {.domain = 0, .bus = 193, .device = 0, .function = 0};

Place on_pci(const PciPlace& pci)
{
    return {.prefix = "ib", .pci = pci};
}

std::string name(Policy policy, const Place& place, Scheme scheme = Scheme::v1)
{
    return compose(policy, place, scheme, false).name;
}

std::string why_not(Policy policy, const Place& place, Scheme scheme = Scheme::v1)
{
    const auto composed = compose(policy, place, scheme, false);
    CHECK(composed.name.empty());
    return composed.why_not;
}

} // namespace

TEST_CASE("schemes and policies read as they are written", "[device_name]")
{
    for (const auto* scheme : {"rdma-core", "v1"})
        CHECK(to_string(parse_scheme(scheme).value()) == scheme);
    for (const auto* policy : {"keep", "kernel", "netdev", "onboard", "slot", "path", "guid"})
        CHECK(to_string(parse_policy(policy).value()) == policy);
    CHECK_FALSE(parse_scheme("V1").has_value());
    CHECK_FALSE(parse_scheme("").has_value());
    CHECK_FALSE(parse_policy("mac").has_value());
}

TEST_CASE("a PCI address is domain, bus, device and function", "[device_name]")
{
    CHECK(parse_pci_address("0000:c1:00.1") == PciAddress{0, 0xc1, 0, 1});
    CHECK(parse_pci_address("10000:01:1f.7") == PciAddress{0x10000, 1, 0x1f, 7});
    for (const auto* text :
         {"", "0000:c1:00", "0000:c1:00.", "0000:c1:00.8", "0000:c1:00.10", "0000:c1:20.0",
          "c1:00.0", "000:c1:00.0", "0000:c1:0.0", "0000:c1:00.g", "0000-c1:00.0", "0000:c1-00.0",
          "0000:g1:00.0", "000000001:c1:00.0", "x000:c1:00.0", "0000:c1:0g.0"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_pci_address(text).has_value());
    }
    CHECK(parse_pci_slot_address("0000:03:00") == PciAddress{0, 3, 0, 0});
    CHECK_FALSE(parse_pci_slot_address("0000:03").has_value());
}

// what rdma_rename of rdma-core 65 composes: kernel-boot/rdma_rename.c, by_pci()
TEST_CASE("scheme rdma-core composes paths as rdma_rename does", "[device_name]")
{
    const auto path = [](const PciPlace& pci) {
        return name(Policy::path, on_pci(pci), Scheme::rdma_core);
    };
    CHECK(path({.address = adapter}) == "ibp193s0");
    CHECK(path({.address = {0, 0, 12, 4}}) == "ibp0s12f4");
    CHECK(path({.address = adapter, .is_multifunction = true}) == "ibp193s0f0");
    CHECK(path({.address = {2, 193, 0, 1}}) == "ibP2p193s0f1");
    CHECK(path({.address = {0, 3, 1, 2}, .has_ari = true}) == "ibp3s1f10");
    CHECK(path({.address = {0, 3, 0, 1}, .virtual_function = 7}) == "ibp3s0f1v7");
    CHECK(path({.address = adapter, .is_multifunction = true, .virtual_function = 0}) ==
          "ibp193s0f0v0");
    // its gap: a virtual function of the only function is called as that
    CHECK(path({.address = adapter, .virtual_function = 3}) == "ibp193s0");
}

TEST_CASE("scheme rdma-core has sub-functions with a number only", "[device_name]")
{
    auto place = on_pci({.address = adapter, .is_multifunction = true, .virtual_function = 0});
    place.auxiliary_kind = "sf";
    CHECK(why_not(Policy::path, place, Scheme::rdma_core) ==
          "its parent is on the auxiliary bus and has no sfnum");
    place.sub_function = 99;
    CHECK(name(Policy::path, place, Scheme::rdma_core) == "ibp193s0f0v0S99");
}

TEST_CASE("scheme rdma-core takes the onboard index of the device itself", "[device_name]")
{
    auto place = on_pci({.address = adapter, .virtual_function = 2});
    place.onboard_index = 3;
    CHECK(name(Policy::onboard, place, Scheme::rdma_core) == "ibo3");
    place.onboard_index_is_of_parent = true;
    CHECK(why_not(Policy::onboard, place, Scheme::rdma_core) ==
          "only its parent has an onboard index");
}

TEST_CASE("scheme rdma-core has neither slots nor network devices", "[device_name]")
{
    auto place = on_pci({.address = adapter, .slot = 3});
    place.netdev = "ens4f0";
    CHECK(why_not(Policy::slot, place, Scheme::rdma_core) == "scheme rdma-core has no such names");
    CHECK(why_not(Policy::netdev, place, Scheme::rdma_core) ==
          "scheme rdma-core has no such names");
}

TEST_CASE("scheme v1 tells virtual functions apart whatever their physical one is", "[device_name]")
{
    CHECK(name(Policy::path, on_pci({.address = adapter})) == "ibp193s0");
    CHECK(name(Policy::path, on_pci({.address = adapter, .virtual_function = 3})) == "ibp193s0v3");
    CHECK(name(Policy::path, on_pci({.address = {0, 3, 0, 1}, .virtual_function = 7})) ==
          "ibp3s0f1v7");
    CHECK(name(Policy::path, on_pci({.address = {1, 3, 2, 1}, .has_ari = true})) == "ibP1p3s2f17");
}

TEST_CASE("scheme v1 tells auxiliary devices apart by number, or kind", "[device_name]")
{
    auto place = on_pci({.address = adapter, .virtual_function = 1});
    place.auxiliary_kind = "roce";
    CHECK(name(Policy::path, place) == "ibp193s0v1Aroce");
    place.sub_function = 88;
    CHECK(name(Policy::path, place) == "ibp193s0v1S88");
    place.onboard_index = 2;
    CHECK(name(Policy::onboard, place) == "ibo2v1S88");
}

TEST_CASE("scheme v1 names by slot, with the same parts behind", "[device_name]")
{
    CHECK(name(Policy::slot, on_pci({.address = adapter, .slot = 3})) == "ibs3");
    CHECK(
        name(Policy::slot, on_pci({.address = {2, 1, 0, 1}, .virtual_function = 0, .slot = 12})) ==
        "ibP2s12f1v0");
    CHECK(why_not(Policy::slot, on_pci({.address = adapter})) ==
          "it is in no hot-plug slot that has a number");
    CHECK(why_not(Policy::slot, {}) == "it is not on PCI");
}

TEST_CASE("onboard indexes end at 16383", "[device_name]")
{
    Place place{.prefix = "roce"};
    CHECK(why_not(Policy::onboard, place) == "the firmware gives it no onboard index");
    for (const uint32_t index : {0U, 1U, 16383U}) {
        place.onboard_index = index;
        CHECK(name(Policy::onboard, place) == "roceo" + std::to_string(index));
    }
    place.onboard_index = 16384;
    CHECK(why_not(Policy::onboard, place) == "onboard index 16384 is above 16383");
}

TEST_CASE("a GUID of zero names nothing", "[device_name]")
{
    Place place{.prefix = "opa"};
    CHECK(why_not(Policy::guid, place) == "its node GUID is not set");
    place.node_guid = 0x00117501017a2b3c;
    CHECK(name(Policy::guid, place) == "opax00117501017a2b3c");
    CHECK(name(Policy::guid, place, Scheme::rdma_core) == "opax00117501017a2b3c");
}

TEST_CASE("a device is called after the network device of its only port", "[device_name]")
{
    Place place{.prefix = "roce", .netdev = "ens4f0np0"};
    CHECK(name(Policy::netdev, place) == "roce-ens4f0np0");
    place.ports = 2;
    CHECK(why_not(Policy::netdev, place) == "it has 2 ports");
    place = {.prefix = "roce"};
    CHECK(why_not(Policy::netdev, place) == "its port has no network device");
    place.netdev = "e:0";
    CHECK(why_not(Policy::netdev, place) ==
          "'roce-e:0' is not allowed: only letters, digits, '_', '-' and '.' are allowed");
}

TEST_CASE("without a protocol the prefix is rdma", "[device_name]")
{
    CHECK(name(Policy::path, {.pci = PciPlace{.address = adapter}}) == "rdmap193s0");
}

TEST_CASE("without PCI there is no path", "[device_name]")
{
    for (const auto scheme : {Scheme::rdma_core, Scheme::v1})
        CHECK(why_not(Policy::path, {.prefix = "ib"}, scheme) == "it is not on PCI");
}

TEST_CASE("keep and kernel compose nothing", "[device_name]")
{
    for (const auto policy : {Policy::keep, Policy::kernel})
        CHECK(why_not(policy, on_pci({.address = adapter})) == "it composes no name");
}

TEST_CASE("a physical port label is appended where it is asked for and told", "[device_name]")
{
    Place place{.prefix = "roce", .pci = PciPlace{.address = adapter, .slot = 1}};
    place.netdev = "eth0";
    place.node_guid = 1;
    place.onboard_index = 5;
    const auto labelled = [&](Policy policy, Scheme scheme = Scheme::v1) {
        return compose(policy, place, scheme, true);
    };
    for (const auto policy : {Policy::path, Policy::slot, Policy::onboard})
        CHECK(labelled(policy).why_not ==
              "PortLabel= is on, but the driver has not reported a physical port label (yet)");
    place.port_label = "p0";
    CHECK(labelled(Policy::path).name == "rocep193s0np0");
    CHECK(labelled(Policy::slot).name == "roces1np0");
    CHECK(labelled(Policy::onboard).name == "roceo5np0");
    CHECK(labelled(Policy::netdev).name == "roce-eth0");
    CHECK(labelled(Policy::guid).name == "rocex0000000000000001");
    CHECK(labelled(Policy::path, Scheme::rdma_core).name == "rocep193s0");
}

TEST_CASE("names that tools could not take are refused", "[device_name]")
{
    for (const auto* good : {"mlx5_0", "ibp1s0f0", "a", "x.y-z_0", "0a"})
        CHECK(refusal(good).empty());
    CHECK(refusal(std::string(63, 'a')).empty());
    CHECK(refusal(std::string(64, 'a')) == "it has 64 bytes, and 63 fit");
    CHECK(refusal("") == "it is empty");
    CHECK(refusal(".") == "it is a directory");
    CHECK(refusal("..") == "it is a directory");
    CHECK(refusal("17") == "programs would take a number alone for a device index");
    for (const auto* bad : {"a/b", "a%d", "a b", "a\n", "a\x1b", "\xc3\xbc", "a:1"})
        CHECK(refusal(bad) == "only letters, digits, '_', '-' and '.' are allowed");
}

TEST_CASE("an IPoIB device is called after its RDMA device, and the port if there are several",
          "[device_name]")
{
    CHECK(ipoib_name({.device = "ibo1"}).name == "ipoibo1");
    CHECK(ipoib_name({.device = "ibo1", .ports = 2, .port = 1}).name == "ipoibo1p1");
    CHECK(ipoib_name({.device = "ibp193s0f0", .ports = 2, .port = 2}).name == "ipoibp193s0f0p2");
    CHECK(ipoib_name({.device = "ibp193s0f0v1", .ports = 2, .port = 2}).why_not ==
          "'ipoibp193s0f0v1p2' has 17 bytes, and a network device's name has at most 15");
    CHECK(ipoib_name({.device = "123456789012"}).name == "ipo123456789012");
    CHECK_FALSE(ipoib_name({.device = "1234567890123"}).why_not.empty());
    CHECK(ipoib_name({.device = "a/b"}).why_not ==
          "'ipoa/b' is not allowed: only letters, digits, '_', '-' and '.' are allowed");
}

TEST_CASE("nobody else may have the name for a swap", "[device_name]")
{
    CHECK(temporary_name(17) == "rdmad-swap-17");
    CHECK(refusal(temporary_name(17)) == "names that begin with 'rdmad-swap-' are for swaps");
}
