// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <chrono>
#include <thread>

namespace rdmad {

/// The limit of retries if a rename comes between a reply of the kernel and a read of sysfs. The
/// kernel replies when a rename is over, and nobody renames a device that often.
constexpr int max_renames = 5;

/// Retries while the kernel changes something in more than one step. Each wait is twice as long as
/// the one before.
class Retries {
public:
    explicit Retries(std::chrono::milliseconds first_wait, int most = 8)
        : wait_(first_wait), most_(most)
    {
    }

    /// Waits before each try but the first. Returns false after the last one.
    bool next()
    {
        if (asked_ == most_)
            return false;
        if (asked_++ > 0) {
            std::this_thread::sleep_for(wait_);
            wait_ *= 2;
        }
        return true;
    }

private:
    std::chrono::milliseconds wait_;
    int most_;
    int asked_ = 0;
};

/// Retries if a rename comes between two reads of sysfs. The kernel changes the names that it shows
/// one after the other (device_rename(), drivers/base/core.c), and may be interrupted between them.
/// Waits an eighth of a second in all: a device that is in another network namespace is not found
/// after that, either.
class RenameRetries : public Retries {
public:
    RenameRetries() : Retries(std::chrono::milliseconds(1)) {}
};

/// Retries while a RoCE port has lost a GID that the address of its network device still makes. The
/// kernel removes the entry before it adds it again when an address is set, be it the same one
/// (netdevice_event(), drivers/infiniband/core/roce_gid_mgmt.c). Waits half a second in all: the
/// GID may be gone for good.
class GidRetries : public Retries {
public:
    GidRetries() : Retries(std::chrono::milliseconds(4)) {}
};

} // namespace rdmad
