// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/support/guarded_bytes.hpp"

#include <algorithm>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

namespace rdmad::test {

GuardedBytes::GuardedBytes(std::span<const std::byte> bytes)
{
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t readable = (bytes.size() + page - 1) / page * page;
    map_size_ = readable + page;
    map_ = mmap(nullptr, map_size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map_ == MAP_FAILED)
        throw std::runtime_error("mmap");
    auto* const guard = static_cast<std::byte*>(map_) + readable;
    if (mprotect(guard, page, PROT_NONE) < 0)
        throw std::runtime_error("mprotect");
    std::copy(bytes.begin(), bytes.end(), guard - bytes.size());
    bytes_ = {guard - bytes.size(), bytes.size()};
}

GuardedBytes::~GuardedBytes()
{
    munmap(map_, map_size_);
}

} // namespace rdmad::test
