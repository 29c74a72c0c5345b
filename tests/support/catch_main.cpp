// SPDX-License-Identifier: LGPL-2.1-or-later

// GCC 12 sees uninitialised values in <regex> when it is built with sanitizers
#if defined __GNUC__ && !defined __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#define CATCH_CONFIG_MAIN
#include "tests/catch.hpp"
