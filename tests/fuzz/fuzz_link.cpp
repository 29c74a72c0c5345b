// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/fuzz.hpp"

namespace rdmad::fuzz {

void run_one(std::string_view) {}

} // namespace rdmad::fuzz
