// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/catch.hpp"
#include "tests/support/fixture_tree.hpp"
#include "udev-helpers/rdma_id/naming/host_facts.hpp"

#include <map>

using namespace rdmad;
using namespace rdmad::rdma_id;
using namespace rdmad::test;

namespace {

EventProperties event_of(std::map<std::string, std::string> properties)
{
    return [properties = std::move(properties)](const std::string& key) {
        const auto found = properties.find(key);
        return found == properties.end() ? std::nullopt : std::optional(found->second);
    };
}

} // namespace

TEST_CASE("what .link files ask about the machine is read below the root", "[host_facts]")
{
    const FixtureTree image;
    image.file("etc/machine-id", "c7b0b5c4a0b24a6a8c1b7e1f0e6a2b11\n");
    image.file("proc/cmdline", "ro quiet rdmad.naming_scheme=v1\n");
    const auto facts = host_facts(event_of({}), image.path());
    CHECK(facts.machine_id == "c7b0b5c4a0b24a6a8c1b7e1f0e6a2b11");
    CHECK(facts.kernel_command_line == "ro quiet rdmad.naming_scheme=v1");
}

TEST_CASE("a machine without these files has no such facts", "[host_facts]")
{
    const auto facts = host_facts(event_of({}), FixtureTree().path());
    CHECK(facts.machine_id.empty());
    CHECK(facts.kernel_command_line.empty());
}

TEST_CASE("only events of RDMA devices and their nodes have properties to match", "[host_facts]")
{
    const FixtureTree image;
    const auto has_properties = [&](const std::string& subsystem) {
        const auto facts =
            host_facts(event_of({{"SUBSYSTEM", subsystem}, {"ROLE", "storage"}}), image.path());
        return facts.property && facts.property("ROLE") == "storage" &&
               !facts.property("OTHER").has_value();
    };
    CHECK(has_properties("infiniband"));
    CHECK(has_properties("infiniband_verbs"));
    CHECK(has_properties("infiniband_mad"));
    CHECK_FALSE(has_properties("net"));
    CHECK_FALSE(static_cast<bool>(host_facts(event_of({}), image.path()).property));
}
