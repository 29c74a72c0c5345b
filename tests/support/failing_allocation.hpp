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
    /// Removes what is left in file systems, also in the middle of the work.
    virtual void clean() = 0;
};

/// How often a run ended in which way.
struct TrialCounts {
    unsigned ended = 0;    ///< by std::terminate(), as std::bad_alloc has no handler
    unsigned unharmed = 0; ///< somebody went on without, and the end was right
    unsigned wrong = 0;    ///< in any other way; the first such run is the last
};

/// Runs the work as often as it allocates with operator new, until no allocation is left to fail;
/// with AddressSanitizer, which makes processes slow, one of eight fails. A run that ends the
/// process is as if the program had been killed at that moment.
TrialCounts fail_each_allocation(const std::function<std::unique_ptr<Trial>()>& prepare);

} // namespace rdmad::test
