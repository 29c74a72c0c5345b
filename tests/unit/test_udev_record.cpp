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
    CHECK(record->mentions("infiniband/x", "mlx5_0"));
    CHECK_FALSE(record->mentions("infiniband/y", "mlx5_0"));
}

TEST_CASE("a record does not mention an old name by the present one that is made of it",
          "[udev_record]")
{
    const UdevRecord record("E:ID_RDMA_NAME=hca-a-a\nS:by-ibdev/uverbs-hca-a-a\n");
    CHECK_FALSE(record.mentions("a", "hca-a-a"));
    CHECK_FALSE(record.mentions("hca-a-a", "hca-a-a"));
    CHECK(record.mentions("a", "hca-a"));
    CHECK(record.mentions("a", "a-hca"));
    CHECK(record.mentions("hca-a-a", "a"));
    CHECK(record.mentions("hca-a-a", ""));
    CHECK(UdevRecord("S:hca-mlx5_0 mlx5_0").mentions("mlx5_0", "hca-mlx5_0"));
    CHECK(UdevRecord("S:mlx5_0 hca-mlx5_0").mentions("mlx5_0", "hca-mlx5_0"));
    CHECK_FALSE(UdevRecord("mlx5_10").mentions("mlx5_1", "mlx5_10"));
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
