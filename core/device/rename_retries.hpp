// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <chrono>
#include <thread>

namespace rdmad {

/// The limit of retries if a rename comes between a reply of the kernel and a read of sysfs. The
/// kernel replies when a rename is over, and nobody renames a device that often.
constexpr int max_renames = 5;

/// Retries if a rename comes between two reads of sysfs. The kernel changes the names that it shows
/// one after the other (device_rename(), drivers/base/core.c), and may be interrupted between them.
/// Each wait is twice as long as the one before, an eighth of a second in all: a device that is in
/// another network namespace is not found after that, either.
class RenameRetries {
public:
    /// Waits before each try but the first. Returns false after the last one.
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
