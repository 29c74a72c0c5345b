// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <span>

namespace rdmad::test {

/// A copy of bytes that ends where the memory ends: to read one byte too many is a crash, also
/// inside of a library that is built without a sanitizer.
class GuardedBytes {
public:
    explicit GuardedBytes(std::span<const std::byte> bytes);
    GuardedBytes(const GuardedBytes&) = delete;
    GuardedBytes& operator=(const GuardedBytes&) = delete;
    ~GuardedBytes();

    [[nodiscard]] std::span<const std::byte> bytes() const
    {
        return bytes_;
    }

private:
    void* map_;
    size_t map_size_;
    std::span<const std::byte> bytes_;
};

} // namespace rdmad::test
