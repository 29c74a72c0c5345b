// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Catch2 version 3 (Debian 13) and version 2 (Debian 12) differ in their headers. Tests use what
// both have: no matchers.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
