// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string_view>

// What the fuzzers share. Each fuzz_PARSER.cpp defines run_one(); entry.cpp calls it for libFuzzer
// and for replay_main.cpp.

namespace rdmad::fuzz {

/// Gives any bytes to a parser and checks what it promises. The input is a heap block of just that
/// size, so that AddressSanitizer sees a read beyond it.
void run_one(std::string_view input);

/// Aborts if a promise does not hold. Unlike assert() it stays in builds with NDEBUG.
void require(bool holds, std::string_view promise, const char* file = __builtin_FILE(),
             int line = __builtin_LINE());

} // namespace rdmad::fuzz
