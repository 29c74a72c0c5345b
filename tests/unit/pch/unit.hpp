// SPDX-License-Identifier: LGPL-2.1-or-later
// What all unit tests include, compiled once for each area: Catch2 is most of the time that they
// take to build.
#include "tests/catch.hpp"
