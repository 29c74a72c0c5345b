// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <memory>

namespace rdmad::test {

/// Work of which one allocation after the other fails, each time in a process of its own.
class Trial {
public:
    Trial() = default;
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;
    virtual ~Trial() = default;

    /// Does the work, of which an allocation fails.
    virtual void run() = 0;
    /// Returns true if the work came to its right end.
    virtual bool is_right() = 0;
    /// Returns true if what the work had done when it broke off hurts nobody: half of it was not
    /// told or recorded, and who starts anew brings it to its right end. Nothing of the work may be
    /// destroyed, nor is it whole.
    virtual bool is_harmless() = 0;
    /// Removes what is left in file systems, also in the middle of the work.
    virtual void clean() = 0;
};

/// Runs the work as often as it allocates with operator new, until no allocation is left to fail;
/// with AddressSanitizer, which makes processes slow, one of eight fails. Checks that each run
/// comes to its right end without that memory, or ends the process by std::terminate(), as
/// std::bad_alloc has no handler: that is as if the program had been killed at that moment, and
/// must be harmless. At least so many must end so, or the work hardly allocates.
void check_each_allocation(const std::function<std::unique_ptr<Trial>()>& prepare, unsigned least);

} // namespace rdmad::test
