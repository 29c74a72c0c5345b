// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <chrono>
#include <thread>

namespace rdmad {

/// How often to ask again where a rename came between an answer of the kernel and a read of sysfs.
/// The kernel answers when a rename is over, and nobody renames a device that often.
constexpr int max_renames = 5;

/// How often to ask again where a rename comes between two reads of sysfs. The kernel changes the
/// names that it shows one after the other (device_rename(), drivers/base/core.c), and may be
/// interrupted between them: each time is waited twice as long as before, an eighth of a second in
/// all: a device that is in another network namespace is not found after that, either.
class RenameRetries {
public:
    /// Waits where need be. Returns false once it was asked often enough.
    bool next()
    {
        if (asked_ == most)
            return false;
        if (asked_ > 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(1 << (asked_ - 1)));
        asked_++;
        return true;
    }

private:
    static constexpr int most = 8;
    int asked_ = 0;
};

} // namespace rdmad
