// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/device/index_hints.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace rdmad {

namespace {

/// Slot 0 holds the highest index, and no inode; the others the inode that hashes there. The file
/// is sparse.
struct Slot {
    uint64_t inode;
    uint32_t index;
    uint32_t check; ///< all zeroes must not look like an entry, nor a file of another kind
};

constexpr uint64_t slots = 8192;
constexpr uint64_t no_inode = ~UINT64_C(0);

uint32_t check_of(uint64_t inode, uint32_t index)
{
    return static_cast<uint32_t>(inode) ^ static_cast<uint32_t>(inode >> 32) ^ index ^ 0x72646d61U;
}

off_t slot_of(uint64_t inode)
{
    // kernfs numbers inodes upwards, several for each device: neighbours spread over the file by
    // multiplication
    const uint64_t slot =
        inode == no_inode ? 0 : 1 + (inode * UINT64_C(0x9e3779b97f4a7c15) >> 32) % (slots - 1);
    return static_cast<off_t>(slot * sizeof(Slot));
}

std::optional<uint32_t> read_slot(int file, uint64_t inode)
{
    std::array<char, sizeof(Slot)> bytes;
    const auto size = file < 0 ? -1 : pread(file, bytes.data(), bytes.size(), slot_of(inode));
    return size < 0 ? std::nullopt : parse_hint({bytes.data(), static_cast<size_t>(size)}, inode);
}

void write_slot(int file, uint64_t inode, uint32_t index)
{
    const Slot slot = {inode, index, check_of(inode, index)};
    // a hint that is not written costs time later, and nothing else
    [[maybe_unused]] const auto written = pwrite(file, &slot, sizeof slot, slot_of(inode));
}

} // namespace

int IndexHints::file()
{
    if (file_)
        return file_->get();
    const auto path = directory_ + "/index-hints";
    const int flags = O_CLOEXEC | O_NOFOLLOW | (writable_ ? O_RDWR | O_CREAT : O_RDONLY);
    file_.emplace(open(path.c_str(), flags, 0644));
    if (!*file_ && errno == ENOENT && writable_ && mkdir(directory_.c_str(), 0755) == 0)
        file_->reset(open(path.c_str(), flags, 0644));
    return file_->get();
}

std::optional<uint32_t> IndexHints::find(uint64_t inode)
{
    return read_slot(file(), inode);
}

std::optional<uint32_t> IndexHints::last()
{
    return read_slot(file(), no_inode);
}

std::optional<uint32_t> parse_hint(std::string_view bytes, uint64_t inode)
{
    Slot slot;
    if (bytes.size() != sizeof slot)
        return std::nullopt;
    memcpy(&slot, bytes.data(), sizeof slot);
    if (slot.inode != inode || slot.check != check_of(slot.inode, slot.index))
        return std::nullopt;
    return slot.index;
}

void IndexHints::remember(uint64_t inode, uint32_t index)
{
    if (!writable_ || file() < 0)
        return;
    write_slot(file(), inode, index);
    if (const auto highest = last(); !highest || *highest < index)
        write_slot(file(), no_inode, index);
}

} // namespace rdmad
