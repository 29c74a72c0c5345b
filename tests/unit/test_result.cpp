// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/base/result.hpp"
#include "tests/catch.hpp"

#include <cerrno>

using namespace rdmad;

namespace {

template <typename T>
Result<T> outcome_without(const Result<std::optional<int>>& found)
{
    return missing(found);
}

} // namespace

TEST_CASE("what a lookup did not find leaves its caller with nothing", "[result]")
{
    const Result<std::optional<int>> nothing;
    CHECK(outcome_without<std::string>(nothing).value().empty());
    CHECK_FALSE(outcome_without<std::optional<int>>(nothing).value().has_value());
    CHECK(outcome_without<void>(nothing).has_value());
}

TEST_CASE("why a lookup failed is why its caller does", "[result]")
{
    const Result<std::optional<int>> failed = fail(EPERM, "lookup");
    CHECK(outcome_without<std::string>(failed).error().code == EPERM);
    CHECK(outcome_without<void>(failed).error().context == "lookup");
}
