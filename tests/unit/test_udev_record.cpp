// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/udev_record.hpp"
#include "tests/catch.hpp"
#include "tests/support/fixture_tree.hpp"

using namespace rdmad;
using namespace rdmad::test;

TEST_CASE("a record tells properties, and what it mentions", "[udev_record]")
{
    const FixtureTree run;
    run.file("data/n7", "E:FIRST=1\nI:17\nE:ID_NET_NAME=ens3=a\nS:infiniband/x\nG:systemd\n");
    const auto record = UdevRecord::read(run.path(), "n7");
    REQUIRE(record.has_value());
    CHECK(record->property("FIRST") == "1");
    CHECK(record->property("ID_NET_NAME") == "ens3=a");
    CHECK_FALSE(record->property("ID_NET").has_value());
    CHECK_FALSE(record->property("infiniband").has_value());
    CHECK(record->mentions("infiniband/x"));
    CHECK_FALSE(record->mentions("infiniband/y"));
}

TEST_CASE("a record of many links is read whole", "[udev_record]")
{
    const FixtureTree run;
    run.file("data/c231:192", std::string(20000, 'x') + "\nE:ID_RDMA_NAME=ibp1s0\n");
    CHECK(UdevRecord::read(run.path(), "c231:192")->property("ID_RDMA_NAME") == "ibp1s0");
}

TEST_CASE("a device that udev has not seen has no record", "[udev_record]")
{
    CHECK_FALSE(UdevRecord::read(FixtureTree().path(), "n8").has_value());
}
