// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace rdmad::fuzz {

void require(bool holds, std::string_view promise, const char* file, int line)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: broken promise: %.*s\n", file, line, static_cast<int>(promise.size()),
            promise.data());
    abort();
}

} // namespace rdmad::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const std::unique_ptr<char[]> copy(new char[size]);
    std::copy_n(data, size, copy.get());
    rdmad::fuzz::run_one({copy.get(), size});
    return 0;
}
