// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/index_hints.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <cstring>
#include <string>

// The input is the inode of a device, in 8 bytes, and what /run/rdmad/index-hints holds at its
// place.

namespace rdmad::fuzz {

void run_one(std::string_view input)
{
    uint64_t inode = 0;
    const auto size = std::min(input.size(), sizeof inode);
    memcpy(&inode, input.data(), size);
    const std::string bytes(input.substr(size));
    if (!parse_hint(bytes, inode))
        return;
    require(!parse_hint(bytes, inode + 1), "a hint is one inode's");
    require(!parse_hint(bytes.substr(1), inode), "half a hint is none");
    for (size_t bit = 0; bit < bytes.size() * 8; bit++) {
        auto changed = bytes;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
        require(!parse_hint(changed, inode), "a hint with a wrong bit is none");
    }
}

} // namespace rdmad::fuzz
