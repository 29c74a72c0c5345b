// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/catch.hpp"
#include "tests/support/fixture_tree.hpp"
#include "udev-helpers/rdma_id/naming/host_facts.hpp"

using namespace rdmad;
using namespace rdmad::rdma_id;
using namespace rdmad::test;

TEST_CASE("what .link files ask about the machine is read below the root", "[host_facts]")
{
    const FixtureTree image;
    image.file("etc/machine-id", "c7b0b5c4a0b24a6a8c1b7e1f0e6a2b11\n");
    image.file("proc/cmdline", "ro quiet rdmad.naming_scheme=v1\n");
    const auto facts = host_facts(image.path());
    CHECK(facts.machine_id == "c7b0b5c4a0b24a6a8c1b7e1f0e6a2b11");
    CHECK(facts.kernel_command_line == "ro quiet rdmad.naming_scheme=v1");
}

TEST_CASE("a machine without these files has no such facts", "[host_facts]")
{
    const auto facts = host_facts(FixtureTree().path());
    CHECK(facts.machine_id.empty());
    CHECK(facts.kernel_command_line.empty());
}
